// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile
import StereoVideo

/// The progress of a run.
public struct RunProgress: Sendable, Equatable {
  /// Time since the start.
  public var elapsed = Duration.zero
  /// Position in the stream; nil if no buffer had a timestamp yet.
  public var position: Duration?
  /// Duration of the whole stream; nil if unknown.
  public var duration: Duration?
  /// Number of video frames so far; nil without video.
  public var frames: Int?
  /// Number of frames that have to be encoded before the stream ends; nil before it is to end,
  /// or if unknown.
  public var framesLeft: Int?
  /// Number of bytes written to files so far.
  public var bytes = 0

  /// Position relative to the duration, 0 to 1; nil if unknown.
  public var fraction: Double? {
    guard let position, let duration, duration > .zero else { return nil }
    return min(1, max(0, position / duration))
  }

  /// Seconds of the stream processed per second.
  public var speed: Double? {
    guard let position, elapsed > .zero else { return nil }
    return position / elapsed
  }

  /// Video frames processed per second.
  public var framesPerSecond: Double? {
    guard let frames, elapsed > .zero else { return nil }
    return Double(frames) / elapsed.seconds
  }

  /// Estimated time until the end, at the average speed so far.
  public var timeLeft: Duration? {
    guard let position, let duration, let speed, speed > 0 else { return nil }
    return max(.zero, duration - position) / speed
  }
}

/// Determines the progress of a running graph from its links.
struct ProgressMeter {
  private let depths: [Int]
  private let start = ContinuousClock.now
  private var duration: ClockTime?
  private var written: Written?

  /// The output of an encoder or a muxer, as it has reported.
  private struct Written {
    let frames: Int
    /// Time of the last frame.
    let time: Duration

    /// Time of the end, if each frame lasts equally long.
    var end: Duration { frames > 1 ? time * (Double(frames) / Double(frames - 1)) : time }
  }

  init(of graph: ResolvedGraph) {
    depths = Self.depths(of: graph)
  }

  mutating func progress(_ meters: [LinkMeter], bytes: Int) -> RunProgress {
    var progress = RunProgress()
    progress.elapsed = start.duration(to: .now)
    progress.bytes = bytes
    guard let meter = bestMeter(meters), let position = meter.position else { return progress }
    progress.position = position.duration
    if duration == nil { duration = meter.pad.duration }
    progress.duration = duration.map(\.duration)
    if meter.carriesFrames { progress.frames = meter.buffers }
    return progress
  }

  /// Records an element message, if it is the progress report of an encoder or a muxer, such as
  /// `mvhevcmux-progress`.
  mutating func note(_ message: StructureView) {
    guard message.name.hasSuffix("-progress"), let frames = message.int("frames"), frames > 0,
      let time = message.int("running-time")
    else { return }
    written = Written(frames: frames, time: .nanoseconds(time))
  }

  /// Adds what the stream's end has to wait for.
  func addRest(to progress: inout RunProgress) {
    guard let written, let frames = progress.frames else { return }
    progress.framesLeft = max(0, frames - written.frames)
  }

  /// Replaces what has been read by what has been written, if that is known.
  func setWritten(in progress: inout RunProgress) {
    guard let written else { return }
    (progress.frames, progress.position) = (written.frames, written.end)
  }

  /// Returns the link nearest to the end of the graph among those whose buffers have timestamps;
  /// video takes precedence over audio.
  private func bestMeter(_ meters: [LinkMeter]) -> LinkMeter? {
    meters.filter { $0.position != nil }.max { one, other in
      (one.carriesFrames ? 1 : 0, depths[one.link]) < (
        other.carriesFrames ? 1 : 0, depths[other.link]
      )
    }
  }

  /// Returns the number of links upstream of each link, on the longest path.
  private static func depths(of graph: ResolvedGraph) -> [Int] {
    var depth = [Int](repeating: 0, count: graph.elements.count)
    // Each round settles one more link of the longest path; graphs of elements have no cycles.
    for _ in 0..<min(graph.links.count, 64) {
      var isSettled = true
      for link in graph.links where depth[link.sink.element] <= depth[link.source.element] {
        depth[link.sink.element] = depth[link.source.element] + 1
        isSettled = false
      }
      if isSettled { break }
    }
    return graph.links.map { depth[$0.source.element] }
  }
}
