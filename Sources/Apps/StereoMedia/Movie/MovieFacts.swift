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
