// SPDX-License-Identifier: MPL-2.0

/// The samples of a rendition that are not written yet, in decoding order, and the changes of
/// format among them.
struct PendingSamples<Payload: Sendable>: Sendable {
  typealias Sample = PackagedSample<Payload>

  private(set) var samples: [Sample] = []
  /// Each with the index of the first sample it applies to, in order.
  private var changes: [(position: Int, rendition: Rendition)] = []
  /// Whether the samples after the last change are the first ones after a silence: they are written
  /// from the next discontinuity on.
  private var isBack = false

  var count: Int { samples.count }
  var isEmpty: Bool { samples.isEmpty }
  var first: Sample? { samples.first }
  /// Total size in bytes.
  var size: UInt64 { samples.reduce(0) { $0 + UInt64($1.size) } }

  subscript(index: Int) -> Sample { samples[index] }

  mutating func append(_ sample: Sample) { samples.append(sample) }

  /// Removes samples that have been written.
  mutating func removeFirst(_ count: Int) {
    samples.removeFirst(count)
    for index in changes.indices { changes[index].position -= count }
  }

  // MARK: Changes

  /// Whether the next sample is the first one in a new format.
  var changesNext: Bool { changes.last?.position == count }

  /// The format of the next sample, if it is not that of the open segment.
  var nextFormat: Rendition? { changes.last?.rendition }

  /// Number of samples in the format of the open segment.
  var unchangedCount: Int { changes.first?.position ?? count }

  /// Changes the format from the next sample on.
  mutating func change(to rendition: Rendition) {
    if changesNext { changes.removeLast() }
    changes.append((count, rendition))
  }

  /// Returns the format that the first sample changes to, and forgets the change; nil if it changes
  /// nothing.
  mutating func takeChange() -> Rendition? {
    guard let next = changes.first, next.position == 0 else { return nil }
    changes.removeFirst()
    return next.rendition
  }

  // MARK: Segments

  /// Returns the index of the first sample of the segment that starts at `start`; nil if it has not
  /// arrived.
  ///
  /// - Parameters:
  ///   - isVideo: Whether it must be a keyframe.
  ///   - slack: The time in nanoseconds by which it may come earlier.
  func cut(before start: SegmentStart, isVideo: Bool, slack: Int64) -> Int? {
    // A new format starts at a discontinuity. Its first sample must have arrived to give the
    // duration of the last one before it.
    if start.startsDiscontinuity, let change = changes.first {
      return change.position < count ? change.position : nil
    }
    let cut = samples.firstIndex {
      isVideo
        ? $0.isSync && $0.presentationTime >= start.time &- slack
        : $0.presentationTime >= start.time
    }
    return cut.map { min($0, unchangedCount) }
  }

  // MARK: Silence

  /// Notes that no more samples come at present.
  mutating func fallSilent() { isBack = false }

  /// Notes that the next sample is the first one after a silence.
  mutating func comeBack() { isBack = true }

  /// Drops the samples after a silence that no player could show, as they come before the
  /// discontinuity at `time` or the keyframe after it.
  mutating func dropBeforeReturn(at time: Int64, slack: Int64) {
    guard isBack, changes.count == 1, let first = changes.first?.position else { return }
    let early = samples.dropFirst(first).prefix {
      !$0.isSync || $0.presentationTime < time &- slack
    }
    samples.removeSubrange(first..<first + early.count)
    isBack = count == first
  }

  /// Drops the samples from the first one on that is shown at a time or later, or that has another
  /// format. The last format stays that of the next sample.
  mutating func drop(from time: Int64) {
    let rest = samples.prefix(unchangedCount).prefix { $0.presentationTime < time }.count
    samples.removeSubrange(rest...)
    if let last = changes.last { changes = [(rest, last.rendition)] }
  }

  /// Returns the decode time at which the last one of the first `count` samples ends: that of the
  /// next one or, if that comes later than the `end` up to which it may last, its end.
  func nextDecodeTime(after count: Int, until end: Int64?, slack: Int64) -> Int64 {
    let (last, next) = (samples[count - 1], samples[count])
    guard let end else { return next.decodeTime }
    let own = last.decodeTime &+ Int64(clamping: last.duration)
    let limit = max(end &- (next.presentationTime &- next.decodeTime), own)
    return next.decodeTime &- limit > slack ? limit : next.decodeTime
  }

  /// Shows the last one of the first `count` pictures until `end`.
  mutating func holdLast(of count: Int, until end: Int64) {
    guard count > 0 else { return }
    let shown = samples.prefix(count).map { $0.presentationTime &+ Int64(clamping: $0.duration) }
    let rest = end &- (shown.max() ?? end)
    samples[count - 1].duration &+= UInt64(clamping: rest)
  }

  // MARK: Chunks

  /// Returns the number of samples in the next chunk: a whole part, or fewer up to a keyframe. With
  /// an I-frame playlist, a keyframe has a chunk of its own.
  ///
  /// - Parameters:
  ///   - limit: Number of samples in a part.
  ///   - count: Number of samples that may be in it.
  ///   - part: The length that parts have to have.
  ///   - isSplitAtKeyframes: Whether there is an I-frame playlist.
  func chunkLength(
    _ limit: Int, of count: Int, _ part: PartLength, isSplitAtKeyframes: Bool
  ) -> Int {
    let limit = longEnough(min(limit, count), of: count, part)
    guard isSplitAtKeyframes, limit > 1 else { return limit }
    if first?.isSync ?? false { return 1 }
    let next = samples.prefix(limit).dropFirst().firstIndex { $0.isSync }
    // No part but the last one of a segment may be much shorter than the others
    // (draft-pantos-hls-rfc8216bis 4.4.4.9): such a keyframe is not in the I-frame playlist.
    guard let next, part.allows(span(next)) else { return limit }
    return next
  }

  /// Returns a number of samples of at most `count` that lasts as long as a part has to. Where
  /// times are mended, samples can be much shorter than frames; where a source stops for a moment,
  /// a part ends.
  private func longEnough(_ limit: Int, of count: Int, _ part: PartLength) -> Int {
    if let long = (0..<limit).first(where: { part.exceeds(span($0 + 1)) }) {
      return long > 0 && part.allows(span(long)) ? long : long + 1
    }
    var length = limit
    while length > 0, length < count, !part.allows(span(length)) {
      guard span(length + 1) <= part.target else { break }
      length += 1
    }
    return length
  }

  /// Returns how long the first samples last, in nanoseconds.
  private func span(_ number: Int) -> UInt64 {
    guard let first, number > 0, number <= count else { return 0 }
    let last = samples[number - 1]
    let end =
      number < count
      ? samples[number].decodeTime : last.decodeTime &+ Int64(clamping: last.duration)
    return UInt64(clamping: end &- first.decodeTime)
  }
}
