// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

/// Subtitles as a rendition: their segments are WebVTT files in HLS and movie fragments (`wvtt`) in
/// DASH, and have no samples of their own. A segment that shows nothing is written as well, as
/// players load one after the other.
extension RenditionTrack {
  /// Whether the cues up to a time are known, or are not waited for.
  func hasCues(before time: Int64) -> Bool {
    guard let subtitles = rendition.subtitles else { return true }
    return subtitles.isLive || hasEnded || cues.reached >= time
  }

  /// Cuts the rest of the open segment, up to its end.
  ///
  /// - Parameters:
  ///   - end: In nanoseconds.
  ///   - start: Start of the segment in nanoseconds.
  ///   - date: Wall-clock time of presentation time 0, in nanoseconds since 1970-01-01 00:00 UTC.
  mutating func cutText(
    until end: Int64, from start: Int64, date: Int64?, to outputs: inout [Output]
  ) throws {
    guard rendition.subtitles != nil else { return }
    // Those that have not come would come too late.
    try cutTextParts(before: end, from: start, isWaiting: false, date: date, to: &outputs)
    try cutTextChunk(until: end, from: start, date: date, to: &outputs)
  }

  /// Cuts all complete parts of the open segment, which have exactly the intended duration.
  ///
  /// - Parameters:
  ///   - frontier: The time that the leading rendition has reached, in nanoseconds.
  ///   - isWaiting: Whether parts whose cues may still come are left.
  mutating func cutTextParts(
    before frontier: Int64, from start: Int64, isWaiting: Bool = true, date: Int64?,
    to outputs: inout [Output]
  ) throws {
    let length = Int64(clamping: settings.partDuration)
    guard rendition.subtitles != nil, length > 0 else { return }
    while true {
      let (end, isOver) = (chunks.last?.end ?? start).addingReportingOverflow(length)
      guard !isOver, end <= frontier, !isWaiting || hasCues(before: end) else { return }
      try cutTextChunk(until: end, from: start, date: date, to: &outputs)
    }
  }

  private mutating func cutTextChunk(
    until end: Int64, from start: Int64, date: Int64?, to outputs: inout [Output]
  ) throws {
    let start = chunks.last?.end ?? start
    let length = UInt32(clamping: clock.units(end) &- clock.units(start))
    guard end > start, length > 0 else { return }
    let states = cues.states(from: start, to: end)
    var content: [Output.Block] = []
    for (index, state) in states.enumerated() {
      let sample = WebVTTTrack.sample(
        state.cues.map {
          WebVTTTrack.Cue(source: $0.number, settings: $0.cue.settings, text: $0.cue.text)
        })
      content.append(.bytes(sample))
      let next = index + 1 < states.count ? states[index + 1].time : end
      let time = clock.units(state.time)
      try format.writer.append(
        SampleDescription(
          size: UInt32(clamping: sample.count), decodeTime: time,
          duration: UInt32(clamping: clock.units(next) &- time)),
        to: format.id)
    }
    if settings.names.manifest != nil { try writeInitialization(to: &outputs) }
    var options = FragmentOptions()
    options.startsSegment = chunks.isEmpty
    options.continuesFragment = !chunks.isEmpty
    let next = [format.id: clock.units(end)]
    guard let fragment = try format.writer.finishFragment(options, nextDecodeTimes: next) else {
      return
    }
    let chunk = Chunk(
      fragment: fragment, content: content, time: start,
      duration: clock.nanoseconds(fragment.parts.first?.duration ?? 0), earliest: start, end: end)
    let text = WebVTT.segment(cues.shown(from: start, to: end), at: start)
    add(chunk, as: [.bytes(text)], date: date, to: &outputs)
  }
}
