// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer
import StereoVideo
import TransportStream

/// Seeks and queries, from threads of the application and of sinks.
extension MVCTSDemux {
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.kind {
    case .seek: return seek(event)
    default: return pad.forward(event)
    }
  }

  /// Seeks in time, if the input has random access. Those in bytes, which parsers send, would
  /// restart the stream.
  private func seek(_ event: Event) -> Bool {
    guard let request = event.seek.flatMap({ SeekRequest($0) }), request.rate > 0,
      sink.mode == .pull, plan(request) != nil
    else { return false }
    guard shared.current.followedSeek != event.sequenceNumber else { return true }
    let isFlushing = request.flags.contains(.reset)
    if isFlushing {
      sink.push(Event.flushStart.following(event))
      pushToAllPads(Event.flushStart.following(event))
    } else {
      sink.pauseTask()
    }
    return withStreaming(sink) { [self] streaming in
      sink.pauseTask()
      if isFlushing {
        sink.push(Event.flushStop().following(event))
        pushToAllPads(Event.flushStop().following(event))
      }
      // Without a flush, the new segment follows all that has been played so far.
      if let segment = plan(request) {
        streaming.begin(segment, precision: request.precision, event)
        if segment.flags.contains(.endsWithSegmentDone) {
          postSegmentStart(at: segment.start, following: event)
        }
      } else {
        // The timestamps have jumped since; the stream continues where it is.
        streaming.flush()
      }
      shared.withLock { $0.followedSeek = event.sequenceNumber }
      sink.resumeTask()
    }
  }

  /// Returns the segment that a seek leads to; nil if it is not possible.
  private func plan(_ request: SeekRequest) -> PlaybackSegment? {
    let now = shared.current
    guard now.span != nil else { return nil }
    return now.segment.applying(request)
  }

  private func pushToAllPads(_ event: Event) {
    for pad in shared.current.pads { pad.push(event) }
  }

  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let now = shared.current
    switch query.kind {
    case .seeking(let format):
      let isSeekable = format == .time && now.span != nil
      query.answerSeeking(
        format, isSeekable: isSeekable, end: isSeekable ? now.segment.duration : nil)
    case .position(.time): query.answerPosition(now.segment.position)
    case .duration(.time):
      guard let duration = now.segment.duration else { return pad.forward(query) }
      query.answerDuration(duration)
    case .segment: query.answerSegment(Segment(now.segment))
    default: return pad.forward(query)
    }
    return true
  }
}

extension MVCTSDemux.Streaming {
  /// Continues at the start of a segment, given in stream time.
  mutating func begin(
    _ segment: PlaybackSegment, precision: SeekRequest.Precision, _ event: Event
  ) {
    var segment = segment
    cause = event
    flush()
    let now = element.shared.current
    guard let span = now.span else { return }
    let time = now.origin + Int64(segment.start.units(perSecond: 90_000))
    let place = try? span.place(of: time, read: read)
    // A failed read shows itself again where it is read.
    move(to: place?.position ?? 0, near: place?.time ?? time)
    if case .keyUnit = precision, let keyframe = place?.time {
      let start = ClockTime(ticks: max(keyframe - now.origin, 0))
      (segment.start, segment.time, segment.position) = (start, start, start)
    }
    element.shared.withLock { $0.segment = segment }
  }

  /// Returns bytes of the input; fewer at its end.
  func read(_ range: Range<Int>) throws(FlowReturn) -> [UInt8] {
    do {
      let buffer = try element.sink.pullRange(
        offset: UInt64(clamping: range.lowerBound), size: UInt32(clamping: range.count))
      return buffer.bytes
    } catch {
      guard error == .eos else { throw error }
      return []
    }
  }
}

/// The body of the sink pad's task.
extension MVCTSDemux {
  func pull(_ streaming: inout Streaming) throws { try streaming.pull() }

  func finish(_ flow: FlowReturn, _ streaming: inout Streaming) { streaming.finish(flow) }
}

extension MVCTSDemux.Streaming {
  /// The number of bytes that are read at once.
  private static let chunk = 1 << 16

  fileprivate mutating func pull() throws {
    if place == 0, element.shared.current.span == nil, !hasData { try measure() }
    let bytes = try read(place..<place + Self.chunk)
    guard !bytes.isEmpty else { throw FlowReturn.eos }
    place += bytes.count
    try receive(bytes.span.bytes)
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
