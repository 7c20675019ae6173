// SPDX-License-Identifier: LGPL-2.1-or-later

internal import HEVC
internal import ISOBMFF
internal import StereoVideo

/// What `gst-spatial info` says of a movie.
struct MovieFacts {
  enum Stereo: Equatable {
    /// A layer for each eye: MV-HEVC.
    case layered
    /// Both eyes in each frame.
    case packed(PackingLayout)
    case no
  }

  let reader: MovieReader
  /// The first video track.
  let video: Track?
  let entry: VisualSampleEntry?
  let layers: LayeredStreamInformation?
  /// The stream says which view is for which eye.
  let hasReferenceDisplays: Bool
  /// The file without a container that the movie was copied from; nil for an ordinary movie.
  var byteStream: String?

  init(_ reader: MovieReader) {
    self.reader = reader
    video = reader.movie.tracks.first { $0.handlerType == "vide" }
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

  var stereo: Stereo {
    if layers?.isStereo == true, entry?.lhvC != nil { return .layered }
    return entry?.packing.map { .packed($0) } ?? .no
  }

  var metadata: SpatialMetadata {
    var metadata = entry?.spatialMetadata ?? SpatialMetadata()
    metadata.projection = metadata.projection ?? entry?.sphericalVideo?.kind
    return metadata
  }

  /// The eye that the base layer shows; nil where the movie is not layered.
  var baseEye: Eye? { stereo == .layered ? layers?.baseEye : nil }

  /// Frames a second, on average; nil where the movie does not say.
  var frameRate: Double? {
    guard let video, let seconds = video.seconds, seconds > 0 else { return nil }
    return Double(video.samples.count) / seconds
  }

  /// When each frame is shown, in seconds from the movie's start, in that order.
  var frameTimes: [Double] {
    guard let video else { return [] }
    let start = video.edits.first { $0.mediaTime != nil }?.mediaTime ?? 0
    // There are no more frames than bytes, whatever the tables say.
    let count = min(video.samples.count, Int(clamping: reader.size))
    return (0..<count).compactMap { video.samples.sample(at: $0)?.presentationTime }
      .sorted().map { (Double($0) - Double(start)) / Double(video.timescale) }
  }
}

extension Track {
  /// Of its media; nil where it is not known.
  var seconds: Double? {
    let timescale = description.timescale
    guard timescale > 0 else { return nil }
    if let mediaDuration, mediaDuration > 0 { return Double(mediaDuration) / Double(timescale) }
    let end = samples.endDecodeTime
    return end > 0 ? Double(end) / Double(timescale) : nil
  }
}

extension Movie {
  var seconds: Double? {
    let known = duration.flatMap { $0 > 0 ? $0 : nil } ?? fragmentedDuration
    guard let known, timescale > 0 else { return tracks.compactMap(\.seconds).max() }
    return Double(known) / Double(timescale)
  }
}

extension SphericalVideo {
  /// The whole sphere, or the front half of it; nil for other parts and other projections.
  fileprivate var kind: ProjectionKind? {
    guard case .equirectangular(0, 0, let left, let right) = projection else { return nil }
    switch (left, right) {
    case (0, 0): return .equirectangular
    // A quarter of the width.
    case (0x4000_0000, 0x4000_0000): return .halfEquirectangular
    default: return nil
    }
  }
}
