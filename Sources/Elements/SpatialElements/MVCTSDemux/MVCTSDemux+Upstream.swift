// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer
import StereoVideo
import TransportStream

/// Input that a task of the sink pad reads, from sources with random access.
extension MVCTSDemux {
  /// The body of the task.
  func pull(_ streaming: inout Streaming) throws { try streaming.pull() }

  func finish(_ flow: FlowReturn, _ streaming: inout Streaming) { streaming.finish(flow) }
}

extension MVCTSDemux.Streaming {
  /// The number of bytes that are read at once.
  private static let chunk = 1 << 16

  fileprivate mutating func pull() throws {
    if place == 0, element.shared.current.span == nil, !hasData { try measure() }
    guard let buffer = try pulled(place..<place + Self.chunk) else { throw FlowReturn.eos }
    place += buffer.size
    try buffer.withBytes { try receive($0.bytes) }
  }

  /// Returns bytes of the input; fewer at its end.
  func read(_ range: Range<Int>) throws(FlowReturn) -> [UInt8] {
    try pulled(range)?.bytes ?? []
  }

  /// Returns a range of the input, shorter at its end; nil after it.
  private func pulled(_ range: Range<Int>) throws(FlowReturn) -> Buffer? {
    do {
      let buffer = try element.sink.pullRange(
        offset: UInt64(clamping: range.lowerBound), size: UInt32(clamping: range.count))
      return buffer.size > 0 ? buffer : nil
    } catch {
      guard error == .eos else { throw error }
      return nil
    }
  }

  /// Finds out how long the input is.
  private func measure() throws(FlowReturn) {
    let query = Query.duration(.bytes)
    guard element.sink.queryPeer(query), let size = query.duration.flatMap(Int.init(exactly:)),
      let span = try TransportStreamSpan(byteCount: size, program: element.program, read: read),
      span.duration > 0
    else { return }
    element.shared.withLock { $0.span = span }
  }

  /// Tells downstream and the application why the stream ends.
  fileprivate mutating func finish(_ flow: FlowReturn) {
    guard flow != .flushing else { return }
    let end = Event.endOfStream
    let ending = cause.map { end.following($0) } ?? end
    if flow == .eos, element.run({ try self.end(ending) }) == .ok { return }
    if !element.hasFailed {
      element.post(
        ElementError(
          .failedStream,
          flow == .notLinked
            ? "None of the available pads is linked." : "Internal data stream error.",
          debug: "streaming stopped, reason \(flow) (\(flow.rawValue))"))
    }
    for output in outputs { output.pad.push(ending) }
  }
}
