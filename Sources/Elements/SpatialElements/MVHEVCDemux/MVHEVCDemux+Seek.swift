// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

/// Seeks and queries, from threads of the application and of sinks.
extension MVHEVCDemux {
  func handleFromDownstream(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.kind {
    case .seek: return shared.current.isSoughtUpstream ? pad.forward(event) : seek(event)
    // Links are polled regularly instead.
    case .reconfigure: return true
    default: return pad.forward(event)
    }
  }

  private func seek(_ event: Event) -> Bool {
    guard let request = event.seek.flatMap({ SeekRequest($0) }) else { return false }
    // A pipeline sends one seek to each of its sinks; all of them arrive here.
    guard shared.current.followedSeek != event.sequenceNumber else { return true }
    // An impossible seek is refused before anything is flushed for it.
    guard let plan = plan(request) else {
      log.debug(self, "refusing an impossible seek")
      return false
    }
    log.debug(self, "seeking to \(plan.segment.start.nanoseconds) ns, byte \(plan.offset)")
    let isDone =
      sink.mode == .pull ? pullSeek(request, plan, event) : pushSeek(plan, event)
    guard isDone else { return false }
    shared.withLock { $0.followedSeek = event.sequenceNumber }
    return true
  }

  /// Plans a seek from the current state; nil if it is not possible.
  private func plan(_ request: SeekRequest) -> SeekPlan? {
    let now = shared.current
    var segment = now.segment
    (segment.position, segment.duration) = (now.position, now.duration)
    let taken = now.pads.indices.filter { now.pads[$0].isLinked }.map { StreamID(rawValue: $0) }
    return now.seekMap?.plan(request, from: segment, selected: Set(taken))
  }

  /// - Parameter plan: the plan made when the seek arrived.
  private func pullSeek(_ request: SeekRequest, _ plan: SeekPlan, _ event: Event) -> Bool {
    let isFlushing = request.flags.contains(.reset)
    return seek(reading: sink, shared.current.pads, event, isFlushing: isFlushing) {
      [self] streaming in
      // Without a flush, the new segment follows everything played so far.
      let plan = isFlushing ? plan : self.plan(request) ?? plan
      streaming.begin(plan, event)
      if request.flags.contains(.endsWithSegmentDone) {
        postSegmentStart(at: plan.segment.start, following: event)
      }
    }
  }

  private func pushSeek(_ plan: SeekPlan, _ event: Event) -> Bool {
    // Not under the stream lock: the streaming thread may be waiting for this very seek.
    shared.withLock { $0.pendingSeek = (plan, event) }
    let isDone = sink.push(Event.byteSeek(to: plan.offset).following(event))
    if !isDone { shared.withLock { $0.pendingSeek = nil } }
    return isDone
  }
}

extension MVHEVCDemux.Streaming {
  /// Continues with the planned segment.
  mutating func begin(_ plan: SeekPlan, _ event: Event) {
    combiner.reset()
    for output in outputs { output.hasEnded = false }
    cause = event
    player?.begin(plan)
    let position = player?.position ?? 0
    element.shared.withLock {
      $0.segment = plan.segment
      $0.position = position
    }
  }
}

extension MVHEVCDemux {
  /// Name of the custom query by which a demuxer finds out whether its input comes from another
  /// one.
  private static let outputQueryName = "GstMVHEVCDemuxOutput"

  /// Refuses input that autopluggers should not link: this element's own output, and plain H.265.
  func answerUpstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard let caps = query.acceptCaps, caps.mediaType == "video/x-h265" else {
      return pad.forward(query)
    }
    let question = Query.custom(Self.outputQueryName)
    query.answerAcceptCaps(!caps.isSingleLayerH265 && !pad.queryPeer(question))
    return true
  }

  /// Answers queries of applications and sinks about a stream.
  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let now = shared.current
    switch query.kind {
    case .custom(let name) where name == Self.outputQueryName: return true
    case .position(.time):
      query.answerPosition(now.position)
      return true
    case .duration(.time):
      // Upstream's answer takes precedence if upstream handles seeks.
      if now.isSoughtUpstream, pad.forward(query) { return true }
      guard let duration = now.duration else { return pad.forward(query) }
      query.answerDuration(duration)
      return true
    case .seeking(let format):
      if now.isSoughtUpstream { return pad.forward(query) }
      let isSeekable = format == .time && now.seekMap != nil
      query.answerSeeking(
        format, isSeekable: isSeekable, end: format == .time ? now.duration : nil)
      return true
    case .segment:
      guard now.duration != nil else { return pad.forward(query) }
      var segment = now.segment
      segment.duration = now.duration
      query.answerSegment(Segment(segment))
      return true
    case .latency:
      guard pad.forward(query) else { return false }
      let number = now.pads.firstIndex(of: pad)
      query.addLatency(number.flatMap { now.latencies.element(at: $0) } ?? 0)
      return true
    case .convert:
      guard let result = converted(query.conversion, for: pad) else { return pad.forward(query) }
      query.answerConversion(result)
      return true
    default:
      return pad.forward(query)
    }
  }

  /// Converts between time and GStreamer's default format, the number of a video or audio frame.
  private func converted(
    _ conversion: (from: Format, value: Int64, to: Format), for pad: Pad
  ) -> Int64? {
    if conversion.from == conversion.to { return conversion.value }
    guard let value = UInt64(exactly: conversion.value), let caps = pad.currentCaps?.first else {
      return conversion.value == -1 ? -1 : nil
    }
    let rate: (units: Int, seconds: Int32)
    if let fraction = caps.fraction("framerate"), fraction.numerator > 0, fraction.denominator > 0 {
      rate = (Int(fraction.numerator), fraction.denominator)
    } else if let hertz = caps.int("rate"), hertz > 0 {
      rate = (hertz, 1)
    } else {
      return nil
    }
    switch (conversion.from, conversion.to) {
    case (.time, .stream):
      let time = ClockTime(nanoseconds: value)
      return Int64(clamping: time.units(perSecond: rate.units, over: rate.seconds))
    case (.stream, .time):
      let time = ClockTime(value, perSecond: rate.units, over: rate.seconds)
      return RunningTime(clamping: time).nanoseconds
    default: return nil
    }
  }
}

extension [ClockTime] {
  fileprivate func element(at index: Int) -> ClockTime? {
    indices.contains(index) ? self[index] : nil
  }
}

extension Caps {
  /// Whether the caps prove that the stream has only one layer.
  fileprivate var isSingleLayerH265: Bool {
    guard first?.buffer(LayeredCaps.layeredCodecData) == nil,
      let source = try? ElementaryStreamSource(self)
    else { return false }
    return source.isSingleLayer
  }
}

// Conversion of segments and seeks between GStreamer and the player.

extension PlaybackSegment {
  init(_ segment: Segment) {
    self.init()
    flags = Flags(segment.flags)
    (rate, appliedRate) = (segment.rate, segment.appliedRate)
    (start, stop) = (segment.start, segment.stop)
    // Without a stream time, the segment's start is used.
    time = segment.time ?? segment.start
    (base, offset) = (segment.base, segment.offset)
    (position, duration) = (segment.position ?? segment.start, segment.duration)
  }
}

extension Segment {
  init(_ other: PlaybackSegment) {
    self.init(.time)
    flags = other.flags.segmentFlags
    (rate, appliedRate) = (other.rate, other.appliedRate)
    (start, stop, time) = (other.start, other.stop, other.time)
    (base, offset) = (other.base, other.offset)
    (position, duration) = (other.position, other.duration)
  }
}

extension PlaybackSegment.Flags {
  private static let table: [(Self, SegmentFlags)] = [
    (.reset, .reset), (.trickMode, .trickMode), (.endsWithSegmentDone, .segment),
    (.keyUnitsOnly, .trickModeKeyUnits), (.forwardPredicted, .trickModeForwardPredicted),
    (.withoutAudio, .trickModeNoAudio),
  ]

  fileprivate init(_ flags: SegmentFlags) {
    self = []
    for (flag, other) in Self.table where flags.contains(other) { insert(flag) }
  }

  fileprivate var segmentFlags: SegmentFlags {
    Self.table.reduce(into: []) { if contains($1.0) { $0.insert($1.1) } }
  }
}

extension SeekRequest {
  /// Returns nil for seeks in other formats than time.
  init?(_ seek: Seek) {
    guard seek.format == .time, !seek.flags.contains(.instantRateChange) else { return nil }
    self.init(rate: seek.rate, start: Bound(seek.start), stop: Bound(seek.stop))
    flags = PlaybackSegment.Flags(SegmentFlags(seek.flags))
    guard seek.flags.contains(.keyUnit), !seek.flags.contains(.accurate) else { return }
    precision = .keyUnit(
      seek.flags.contains(.snapNearest)
        ? .nearest : seek.flags.contains(.snapAfter) ? .after : .before)
  }
}

extension SeekRequest.Bound {
  fileprivate init(_ bound: Seek.Bound) {
    self =
      switch bound {
      case .set(let value): .at(ClockTime(exactly: value))
      case .end(let value): .fromEnd(RunningTime(nanoseconds: value))
      case .unchanged: .unchanged
      }
  }
}
