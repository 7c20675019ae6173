// SPDX-License-Identifier: MPL-2.0

internal import AVC
package import HEVC
package import ISOBMFF
package import StereoVideo

/// The content of a movie's index and of its first parameter sets.
package struct MovieFacts: Sendable {
  package enum Stereo: Equatable, Sendable {
    /// Each eye has a layer of its own: MV-HEVC.
    case layered
    /// Each eye has a view of its own: H.264 MVC.
    case twoViews
    /// Both eyes share each frame.
    case packed(PackingLayout)
    case no
  }

  package let reader: MovieReader
  /// The first video track.
  package let video: Track?
  package let entry: VisualSampleEntry?
  package let layers: LayeredStreamInformation?
  /// Whether the stream assigns the views to eyes (3D reference displays information SEI message).
  package let hasReferenceDisplays: Bool
  /// The format of the file that was copied into a movie; nil for an ordinary movie.
  package var copiedFrom: CopiedFormat?
  /// The assumptions that had to be made to copy it, one line each.
  var assumptions: [String] = []
  /// The tracks of the file that are not in the copy of it.
  package internal(set) var otherTracks: [UncopiedTrack] = []
  /// The frames of the first video track.
  package let frames: FrameIndex
  /// The recognized layout of a movie that is not layered, or the reason that none was recognized;
  /// nil to take the layout that the movie signals.
  package var recognition: Result<RecognizedLayout, RecognizedLayout.Refusal>?

  package init(_ reader: MovieReader) {
    self.reader = reader
    let first = reader.movie.tracks.firstIndex { $0.handlerType == "vide" }
    let video = first.map { reader.movie.withDependentView($0) }
    self.video = video
    // The file size bounds the number of frames, whatever the sample tables claim.
    frames = FrameIndex(
      video, movieTimescale: reader.movie.timescale, limit: Int(clamping: reader.size))
    var entry = video?.sampleEntries.lazy.compactMap {
      if case .video(let entry) = $0 { entry } else { nil }
    }.first
    if let found = video.flatMap({ Self.secondView(of: $0, entry, reader) }) {
      entry?.configuration.append(OpaqueBox("mvcC", payload: found))
    }
    self.entry = entry
    let record = entry?.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }
    let dependent = entry?.lhvC.flatMap { try? LHEVCDecoderConfigurationRecord(bytes: $0) }
    let displays = ThreeDReferenceDisplaysInformation(
      nalUnits: (record?.nalUnits ?? []) + (dependent?.nalUnits ?? []))
    hasReferenceDisplays = displays != nil
    layers = record?.arrays.first { $0.type == .videoParameterSet }?.nalUnits.first
      .flatMap { try? VideoParameterSet(nalUnit: $0) }
      .map { LayeredStreamInformation($0, displays: displays) }
  }

  /// The record of the second view of H.264 MVC whose sample entry does not name it; nil if there
  /// is none.
  private static func secondView(
    of track: Track, _ entry: VisualSampleEntry?, _ reader: MovieReader
  ) -> [UInt8]? {
    guard let entry, entry.mvcC == nil, ["avc1", "avc2", "avc3", "avc4"].contains(entry.codec),
      let avcC = entry.configuration.first(where: { $0.type == "avcC" }),
      var probe = SecondViewProbe(avcC: avcC.payload)
    else { return nil }
    reader.readFirstSamples(of: track, count: SecondViewProbe.sampleCount) { sample in
      probe.add(sample.span.bytes)
      return probe.mvcC == nil
    }
    return probe.mvcC
  }

  package var stereo: Stereo {
    if layers?.isStereo == true, entry?.lhvC != nil { return .layered }
    if entry?.mvcC != nil { return .twoViews }
    if case .success(let layout) = recognition {
      return if case .packed(let packing) = layout.eyes { .packed(packing) } else { .no }
    }
    return entry?.packing.map { .packed($0) } ?? .no
  }

  package var metadata: SpatialMetadata {
    var metadata = entry?.spatialMetadata ?? SpatialMetadata()
    metadata.projection = metadata.projection ?? video?.immersiveMetadata?.projection.kind
    if case .success(let layout) = recognition {
      switch layout.projection {
      // A movie need not signal that it is flat.
      case .flat where metadata.projection == nil: break
      case .flat: metadata.projection = .rectilinear
      case .kind(let kind): metadata.projection = kind
      case .fisheye: metadata.projection = .fisheye
      }
    }
    return metadata
  }

  /// The recognized projection, as a nick of `sphericalview projection`; nil if there is none or if
  /// the pictures are flat.
  var recognizedProjection: String? {
    guard case .success(let layout) = recognition, layout.projection != .flat else { return nil }
    return metadata.projection?.rawValue
  }

  /// Whether each eye has a layer or a view of its own, so that there is nothing to recognize.
  package var hasEyesOfTheirOwn: Bool { stereo == .layered || stereo == .twoViews }

  /// The eye that the base layer or base view shows; nil if the movie has none, or does not say it.
  package var baseEye: Eye? {
    switch stereo {
    case .layered: layers?.baseEye
    case .twoViews: entry?.spatialMetadata.heroEye
    case .packed, .no: nil
    }
  }

  /// Average frame rate in frames per second; nil if it is unknown.
  package var frameRate: Double? {
    guard let video, let seconds = video.seconds, seconds > 0 else { return nil }
    return Double(video.samples.count) / seconds
  }
}

extension Track {
  /// Duration of the media, in seconds; nil if it is unknown.
  package var seconds: Double? {
    let timescale = description.timescale
    guard timescale > 0 else { return nil }
    if let mediaDuration, mediaDuration > 0 { return Double(mediaDuration) / Double(timescale) }
    let end = samples.endDecodeTime
    return end > 0 ? Double(end) / Double(timescale) : nil
  }
}

extension Movie {
  package var seconds: Double? {
    let known = duration.flatMap { $0 > 0 ? $0 : nil } ?? fragmentedDuration
    guard let known, timescale > 0 else { return tracks.compactMap(\.seconds).max() }
    return Double(known) / Double(timescale)
  }
}

extension MovieFacts {
  /// Defects of the file and assumptions that had to be made, one line each.
  package var warnings: [String] {
    assumptions + (layers?.warning.map { [$0] } ?? []) + (separateView.map { [$0] } ?? [])
      + reader.movie.issues.map { "\($0)" }
  }

  /// A remark on a second eye in a track of its own that cannot be joined to the base view's; nil
  /// if there is none. Such tracks are not read.
  var separateView: String? {
    let joined = reader.movie.dependentViews
    for (index, track) in reader.movie.tracks.enumerated()
    where track.id != video?.id && !joined.contains(index) {
      guard case .video(let entry)? = track.sampleEntries.first,
        ["mvc1", "mvc2", "mvc3", "mvc4", "lhv1", "lhe1"].contains(entry.codec)
      else { continue }
      return
        "its second eye is in a track of its own (track \(track.id.rawValue), '\(entry.codec)'), "
        + "which has no reference 'sbas' to the first eye's, and is not read"
    }
    return nil
  }
}

/// Whether Apple devices show a movie as spatial, that is, as stereo with known geometry.
///
/// They require an MV-HEVC track with a field of view, a baseline and a disparity adjustment, which
/// may be 0. Immersive movies need a projection in place of the baseline and the disparity
/// adjustment. Recommended fields are listed as ``advice``.
public struct SpatialVerdict: Equatable, Sendable {
  /// The required boxes and fields that are missing, with their purpose, one line each.
  public private(set) var missing: [String] = []
  /// Recommended fields that are missing, one line each.
  public private(set) var advice: [String] = []
  /// Whether the movie is immersive, mono or stereo: the Apple Projected Media Profile.
  public private(set) var isImmersive = false

  /// Whether all required fields are present.
  public var isSpatial: Bool { missing.isEmpty }

  package init(_ facts: MovieFacts) {
    let projection = facts.entry?.extendedUsage?.projectionKind
    let hasLenses = facts.entry?.extendedUsage?.lensCollection != nil
    isImmersive = ["equi", "hequ"].contains(projection) || projection == "prim" && hasLenses
    if !isImmersive, facts.video?.immersiveMetadata != nil {
      advice.append(
        "'vexu/proj/prji': the projection (180 or 360 degrees, or measured lenses)")
    }
    guard facts.stereo == .layered, let entry = facts.entry else {
      missing.append(Self.reasonAgainst(facts))
      return
    }
    if facts.copiedFrom != nil {
      missing.append("a QuickTime container, which stores the stereo geometry")
      return
    }
    if entry.codec != "hvc1" {
      missing.append("sample entry 'hvc1' (the movie has '\(entry.codec)')")
    }
    if !facts.hasReferenceDisplays {
      missing.append("the SEI message in 'hvcC' that assigns the views to eyes")
    }
    let usage = entry.extendedUsage
    if usage?.views?.isSuperset(of: [.leftEye, .rightEye]) != true {
      missing.append("'vexu/eyes/stri' with both eyes")
    }
    if entry.horizontalFieldOfView == nil { missing.append("'hfov': the horizontal field of view") }
    let baseline = "'vexu/eyes/cams/blin': the distance between the lenses"
    if isImmersive {
      if usage?.baseline == nil { advice.append(baseline) }
      return
    }
    if usage?.baseline == nil { missing.append(baseline) }
    if usage?.disparityAdjustment == nil {
      missing.append("'vexu/eyes/cmfy/dadj': the disparity adjustment, which may be 0")
    }
    if usage?.projectionKind == nil, advice.isEmpty {
      advice.append("'vexu/proj/prji': the projection, which newer systems expect")
    }
  }

  private static func reasonAgainst(_ facts: MovieFacts) -> String {
    guard let entry = facts.entry else { return "a video track" }
    if case .packed = facts.stereo {
      return "a layer for each eye (MV-HEVC): both eyes share each frame"
    }
    if facts.stereo == .twoViews {
      return "a layer for each eye (MV-HEVC): the eyes are views of H.264 MVC"
    }
    if entry.lhvC != nil {
      return "a VPS with two views: \(facts.layers?.warning ?? "'hvcC' cannot be read")"
    }
    return "a second eye: there is one picture in each frame ('\(entry.codec)' without 'lhvC')"
  }
}
