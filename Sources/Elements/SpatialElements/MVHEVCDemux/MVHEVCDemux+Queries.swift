// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

extension MVHEVCDemux {
  /// What a demuxer asks upstream to know whether the stream comes from one already.
  private static let outputQuestion = "GstMVHEVCDemuxOutput"

  /// Answers what may be linked. Autopluggers would give this element its own streams again, and
  /// plain H.265, for which it has no use.
  func answerUpstream(_ pad: Pad, _ query: borrowing Query) -> Bool {
    guard let caps = query.acceptCaps, caps.mediaType == "video/x-h265" else {
      return pad.forward(query)
    }
    let question = Query.custom(Self.outputQuestion)
    query.answerAcceptCaps(!caps.isSingleLayerH265 && !pad.queryPeer(question))
    return true
  }

  /// Answers what applications and sinks ask of a stream.
  func answer(_ pad: Pad, _ query: borrowing Query) -> Bool {
    let now = facts.current
    switch query.kind {
    case .custom(let name) where name == Self.outputQuestion: return true
    case .position(.time):
      query.answerPosition(now.position)
      return true
    case .duration(.time):
      // Where upstream says what plays when, it knows better.
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

  /// Between time on the stream and the number of a frame (video) or of an audio frame, which is
  /// what the default format means.
  private func converted(
    _ conversion: (from: Format, value: Int64, to: Format), for pad: Pad
  ) -> Int64? {
    if conversion.from == conversion.to { return conversion.value }
    guard let value = UInt64(exactly: conversion.value), let caps = pad.currentCaps?.first else {
      return conversion.value == -1 ? -1 : nil
    }
    let rate: (units: UInt64, seconds: UInt64)
    if let fraction = caps.fraction("framerate"), let units = UInt64(exactly: fraction.numerator),
      let seconds = UInt64(exactly: fraction.denominator), units > 0, seconds > 0
    {
      rate = (units, seconds)
    } else if let hertz = caps.int("rate").flatMap({ UInt64(exactly: $0) }), hertz > 0 {
      rate = (hertz, 1)
    } else {
      return nil
    }
    switch (conversion.from, conversion.to) {
    case (.time, .stream):
      return Int64(clamping: scale(value, rate.units, rate.seconds * .second))
    case (.stream, .time):
      return Int64(clamping: scale(value, rate.seconds * .second, rate.units))
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
  /// Whether they alone say that a stream has one layer only.
  fileprivate var isSingleLayerH265: Bool {
    guard first?.buffer(LayeredCaps.layeredCodecData) == nil,
      let source = try? ElementaryStreamSource(self)
    else { return false }
    return source.isSingleLayer
  }
}
