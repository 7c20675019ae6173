// SPDX-License-Identifier: MPL-2.0

package import HEVC
package import ISOBMFF
package import StereoVideo

/// What a movie's index and its first parameter sets say.
package struct MovieFacts: Sendable {
  package enum Stereo: Equatable, Sendable {
    /// A layer for each eye: MV-HEVC.
    case layered
    /// Both eyes in each frame.
    case packed(PackingLayout)
    case no
  }

  package let reader: MovieReader
  /// The first video track.
  package let video: Track?
  package let entry: VisualSampleEntry?
  package let layers: LayeredStreamInformation?
  /// The stream says which view is for which eye.
  package let hasReferenceDisplays: Bool
  /// The file without a container that the movie was copied from; nil for an ordinary movie.
  package var byteStream: String?
  /// Those of the first video track.
  package let frames: FrameIndex

  package init(_ reader: MovieReader) {
    self.reader = reader
    video = reader.movie.tracks.first { $0.handlerType == "vide" }
    // There are no more frames than bytes, whatever the tables say.
    frames = FrameIndex(
      video, movieTimescale: reader.movie.timescale, limit: Int(clamping: reader.size))
    entry =
      video?.sampleEntries.lazy.compactMap {
        if case .video(let entry) = $0 { entry } else { nil }
      }.first
    let record = entry?.hvcC.flatMap { try? HEVCDecoderConfigurationRecord(bytes: $0) }
    let dependent = entry?.lhvC.flatMap { try? LHEVCDecoderConfigurationRecord(bytes: $0) }
    let displays = ThreeDReferenceDisplaysInformation(
      nalUnits: (record?.nalUnits ?? []) + (dependent?.nalUnits ?? []))
    hasReferenceDisplays = displays != nil
    layers = record?.arrays.first { $0.type == .videoParameterSet }?.nalUnits.first
      .flatMap { try? VideoParameterSet(nalUnit: $0) }
      .map { LayeredStreamInformation($0, displays: displays) }
  }

  package var stereo: Stereo {
    if layers?.isStereo == true, entry?.lhvC != nil { return .layered }
    return entry?.packing.map { .packed($0) } ?? .no
  }

  package var metadata: SpatialMetadata {
    var metadata = entry?.spatialMetadata ?? SpatialMetadata()
    metadata.projection = metadata.projection ?? video?.immersiveMetadata?.projection.kind
    return metadata
  }

  /// The eye that the base layer shows; nil where the movie is not layered.
  package var baseEye: Eye? { stereo == .layered ? layers?.baseEye : nil }

  /// Frames a second, on average; nil where the movie does not say.
  package var frameRate: Double? {
    guard let video, let seconds = video.seconds, seconds > 0 else { return nil }
    return Double(video.samples.count) / seconds
  }
}

extension Track {
  /// Of its media; nil where it is not known.
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
  /// What is wrong with the file or has to be guessed, for people.
  package var warnings: [String] {
    (layers?.warning.map { [$0] } ?? []) + reader.movie.issues.map { "\($0)" }
  }
}

/// Whether Apple's devices show a movie as spatial: as a stereo movie whose geometry they know.
///
/// They want one track of MV-HEVC with a field of view, a baseline and a disparity adjustment,
/// even one of 0; of pictures that surround the viewer, a projection in the place of the latter two.
/// What is only advisable is told, too.
public struct SpatialVerdict: Equatable, Sendable {
  /// Boxes and fields that are missing, and what they are for: a line each, for people.
  public private(set) var missing: [String] = []
  /// What newer systems may want: a line each, for people.
  public private(set) var advice: [String] = []
  /// Whether they show it around the viewer, with one eye or two: what they know as the Apple
  /// Projected Media Profile.
  public private(set) var isImmersive = false

  /// Whether nothing is missing.
  public var isSpatial: Bool { missing.isEmpty }

  package init(_ facts: MovieFacts) {
    let projection = facts.entry?.extendedUsage?.projectionKind
    let hasLenses = facts.entry?.extendedUsage?.lensCollection != nil
    isImmersive = ["equi", "hequ"].contains(projection) || projection == "prim" && hasLenses
    if !isImmersive, facts.video?.immersiveMetadata != nil {
      advice.append(
        "'vexu/proj/prji', the projection, for which there are 180 and 360 degrees and lenses")
    }
    guard facts.stereo == .layered, let entry = facts.entry else {
      missing.append(Self.reasonAgainst(facts))
      return
    }
    if facts.byteStream != nil {
      missing.append("a movie around the stream (QuickTime), which says how the pair was shot")
      return
    }
    if entry.codec != "hvc1" {
      missing.append("the sample entry 'hvc1' (it is '\(entry.codec)')")
    }
    if !facts.hasReferenceDisplays {
      missing.append("the SEI message that says which view is for which eye, in 'hvcC'")
    }
    let usage = entry.extendedUsage
    if usage?.views?.isSuperset(of: [.leftEye, .rightEye]) != true {
      missing.append("'vexu/eyes/stri' with both eyes")
    }
    if entry.horizontalFieldOfView == nil { missing.append("'hfov': the horizontal field of view") }
    let baseline = "'vexu/eyes/cams/blin': the distance of the lenses"
    if isImmersive {
      if usage?.baseline == nil { advice.append(baseline) }
      return
    }
    if usage?.baseline == nil { missing.append(baseline) }
    if usage?.disparityAdjustment == nil {
      missing.append("'vexu/eyes/cmfy/dadj': the disparity adjustment, even if it is 0")
    }
    if usage?.projectionKind == nil, advice.isEmpty {
      advice.append("'vexu/proj/prji', the projection: newer systems look for it")
    }
  }

  private static func reasonAgainst(_ facts: MovieFacts) -> String {
    guard let entry = facts.entry else { return "a video track" }
    if case .packed = facts.stereo {
      return "a layer for each eye (MV-HEVC): both eyes share each frame"
    }
    if entry.lhvC != nil {
      return "a VPS with two views: \(facts.layers?.warning ?? "'hvcC' cannot be read")"
    }
    return "a second eye: the video is plain '\(entry.codec)' without 'lhvC'"
  }
}
