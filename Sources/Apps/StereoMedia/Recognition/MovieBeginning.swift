// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
package import StereoVideo

/// When a movie begins, for pairing the pictures of two files.
package struct MovieBeginning: Sendable {
  /// Time on the file's own time line at which GStreamer's running time begins; nil if the file has
  /// no such time line: the clock of a transport stream may begin anywhere.
  package let start: RunningTime?
  /// Running time of the first picture.
  package let firstPicture: RunningTime
  /// Duration of the movie; nil if it is not known.
  package let duration: ClockTime?

  private static let patience = Duration.seconds(20)

  /// Decodes the first picture of a movie; nil if that fails.
  package init?(path: String, _ container: ContainerFacts) async {
    guard
      let pipeline = try? Pipeline(
        parsing: "filesrc name=source ! decodebin caps=video/x-raw "
          + "! fakesink name=sink sync=false num-buffers=1"),
      (try? pipeline.element(named: "source")?.set("location", parsing: path)) != nil,
      let pad = pipeline.element(named: "sink")?.staticPad("sink")
    else { return nil }
    // A sink is ready with a gap, too, which is how some movies begin.
    let found = Locked<(first: RunningTime, segmentStart: ClockTime, duration: ClockTime?)?>(nil)
    pad.watchBuffers { [weak pad] picture in
      guard let pad, let pts = picture.pts, let segment = pad.currentSegment,
        let first = segment.signedRunningTime(pts)
      else { return true }
      let duration = pad.peer?.duration
      found.withLock { $0 = (first, segment.start, duration) }
      return false
    }
    let running = Task { try await pipeline.run() }
    let timer = Task {
      try await Task.sleep(for: Self.patience)
      running.cancel()
    }
    _ = try? await running.value
    timer.cancel()
    pipeline.end()
    withExtendedLifetime(pad) {}
    guard let found = found.withLock({ $0 }) else { return nil }
    firstPicture = found.first
    duration = found.duration
    start =
      switch container {
      case .movie: 0
      // `matroskademux` begins at the first timestamp of the file.
      case .matroska: RunningTime(clamping: found.segmentStart)
      case .multiview, .other: found.segmentStart == 0 ? 0 : nil
      }
  }
}

/// Which pictures of two files, one for each eye, belong together.
package enum EyeAlignment: String, CaseIterable, Sendable {
  /// Those of the same time in their files.
  case times
  /// The first pictures, and so on.
  case beginnings

  /// Returns the time by which to delay the right eye on GStreamer's running time.
  ///
  /// - Returns: nil if the files have no times to compare.
  package func offset(left: MovieBeginning, right: MovieBeginning) -> RunningTime? {
    switch self {
    case .beginnings: return left.firstPicture - right.firstPicture
    case .times:
      guard let left = left.start, let right = right.start else { return nil }
      return right - left
    }
  }
}
