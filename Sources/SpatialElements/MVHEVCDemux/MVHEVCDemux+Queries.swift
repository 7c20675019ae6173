import CGStreamer
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
    if query.isCustom(Self.outputQuestion) { return true }
    switch query.type {
    case GST_QUERY_POSITION:
      guard query.format == GST_FORMAT_TIME else { return pad.forward(query) }
      query.answerPosition(now.position)
      return true
    case GST_QUERY_DURATION:
      guard query.format == GST_FORMAT_TIME, let duration = now.duration else {
        return pad.forward(query)
      }
      query.answerDuration(duration)
      return true
    case GST_QUERY_SEEKING:
      if now.isSoughtUpstream { return pad.forward(query) }
      guard query.format == GST_FORMAT_TIME else {
        query.answerSeeking(query.format, isSeekable: false, end: nil)
        return true
      }
      query.answerSeeking(query.format, isSeekable: now.seekMap != nil, end: now.duration)
      return true
    case GST_QUERY_SEGMENT:
      guard now.duration != nil else { return pad.forward(query) }
      var segment = now.segment
      segment.duration = now.duration
      query.answerSegment(Segment(segment))
      return true
    case GST_QUERY_CONVERT:
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
    _ conversion: (from: GstFormat, value: Int64, to: GstFormat), for pad: Pad
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
    case (GST_FORMAT_TIME, GST_FORMAT_DEFAULT):
      return Int64(clamping: scale(value, rate.units, rate.seconds * .second))
    case (GST_FORMAT_DEFAULT, GST_FORMAT_TIME):
      return Int64(clamping: scale(value, rate.seconds * .second, rate.units))
    default: return nil
    }
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
