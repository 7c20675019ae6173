// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF
internal import StereoMedia

/// The parts of a movie that a conversion loses before its pipeline sees them, because GStreamer's
/// demuxers do not read them.
enum ConversionLosses {
  /// Returns a warning for each.
  ///
  /// - Parameters:
  ///   - facts: the movie if its pictures are encoded again; nil for other containers, and if the
  ///     video is copied.
  static func warnings(
    _ input: String, _ container: ContainerFacts, _ facts: MovieFacts?
  ) -> [String] {
    var warnings: [String] = []
    if facts?.entry?.dolbyVisionProfile != nil {
      warnings.append(
        "the Dolby Vision metadata of '\(input)' are not kept; the pictures are encoded as players "
          + "without Dolby Vision show them")
    }
    if case .matroska(let video) = container, !video.flaggedTracks.isEmpty {
      warnings.append(
        "flags of tracks in '\(input)' are not kept: "
          + video.flaggedTracks.joined(separator: ", "))
    }
    guard CopiedFormat(path: input) == .transportStream,
      let programs = TransportStreamPrograms(path: input)
    else { return warnings }
    if programs.withVideo.count > 1 {
      warnings.append(
        "'\(input)' has \(programs.withVideo.count) programs with video, "
          + "\(programs.withVideo.map(String.init).joined(separator: ", ")); only one of them is "
          + "converted")
    }
    if !programs.ignoredAudio.isEmpty {
      warnings.append(
        "audio of '\(input)' (\(programs.ignoredAudio.joined(separator: ", "))) is left out: "
          + "GStreamer does not read it in this kind of transport stream")
    }
    return warnings
  }
}
