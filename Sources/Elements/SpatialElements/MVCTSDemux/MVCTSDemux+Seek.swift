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
    let isDone = seek(reading: sink, shared.current.pads, event, isFlushing: isFlushing) {
      [self] streaming in
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
    }
    if isDone { shared.withLock { $0.followedSeek = event.sequenceNumber } }
    return isDone
  }

  /// Returns the segment that a seek leads to; nil if it is not possible.
  private func plan(_ request: SeekRequest) -> PlaybackSegment? {
    let now = shared.current
    guard now.span != nil else { return nil }
    return now.segment.applying(request)
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
}
