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

  /// The end of the video that is missing, if this is the progress of a whole run: demuxers play
  /// damaged and truncated files up to some point and end the stream without an error. A tenth of
  /// the duration and a second are tolerated, because some containers only allow an estimate; nil
  /// if no more is missing, or if there is no video.
  public var missingEnd: Duration? {
    guard frames != nil, let position, let duration else { return nil }
    let missing = duration - position
    return missing > max(.seconds(1), duration / 10) ? missing : nil
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
  /// The link on which the duration was measured.
  private var measured: Int?
  /// The reports of encoders and muxers, by element index.
  private var reports: [Int: Report] = [:]
  private let graph: ResolvedGraph

  /// The output of an encoder or a muxer so far.
  private struct Report {
    let frames: Int
    /// Time of the last frame.
    let time: Duration
    let bytes: Int

    /// Time of the end, if each frame lasts equally long.
    var end: Duration { frames > 1 ? time * (Double(frames) / Double(frames - 1)) : time }
  }

  init(of graph: ResolvedGraph) {
    self.graph = graph
    depths = Self.depths(of: graph)
  }

  mutating func progress(_ meters: [LinkMeter], bytes: Int) -> RunProgress {
    var progress = RunProgress()
    progress.elapsed = start.duration(to: .now)
    progress.bytes = bytes
    guard let meter = bestMeter(meters), let position = meter.position else { return progress }
    progress.position = position.duration
    // An element between two links may pass only a part.
    if duration == nil || measured != meter.link {
      duration = meter.pad.duration ?? duration
      measured = meter.link
    }
    progress.duration = duration.map(\.duration)
    if meter.carriesFrames { progress.frames = meter.buffers }
    return progress
  }

  /// Records an element message, if it is the report of an encoder or a muxer, such as
  /// `mvhevcmux-progress`.
  mutating func note(_ message: StructureView, from element: String?) {
    guard message.name.hasSuffix("-progress"), let frames = message.int("frames"),
      let time = message.int("running-time"), let bytes = message.int("bytes"),
      let index = graph.elements.firstIndex(where: { $0.name == element })
    else { return }
    reports[index] = Report(frames: frames, time: .nanoseconds(time), bytes: bytes)
  }

  /// Returns whether an encoder or a muxer has reported pictures, or any bytes if it gets none.
  func hasOutput(_ meters: [LinkMeter]) -> Bool {
    reports.contains { element, report in
      report.frames > 0 || report.bytes > 0 && framesTaken(by: element, meters) == nil
    }
  }

  /// Number of frames that an element has received, of each eye if it gets both; nil if its streams
  /// carry none.
  private func framesTaken(by element: Int, _ meters: [LinkMeter]) -> Int? {
    meters.filter { graph.links[$0.link].sink.element == element && $0.carriesFrames }
      .map(\.buffers).max()
  }

  /// Adds the number of frames that are inside the elements that report, for which the end of the
  /// stream has to wait.
  func addRest(to progress: inout RunProgress, _ meters: [LinkMeter]) {
    guard !reports.isEmpty else { return }
    progress.framesLeft = reports.reduce(0) { rest, report in
      rest + max(0, (framesTaken(by: report.key, meters) ?? 0) - report.value.frames)
    }
  }

  /// Replaces what has been read by what has been written, if the last encoder or muxer reports it.
  func setWritten(in progress: inout RunProgress) {
    let last = reports.max { depth(of: $0.key) < depth(of: $1.key) }?.value
    guard let last, last.frames > 0 else { return }
    (progress.frames, progress.position) = (last.frames, last.end)
  }

  private func depth(of element: Int) -> Int {
    zip(graph.links, depths).filter { $0.0.sink.element == element }.map(\.1).max() ?? 0
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
