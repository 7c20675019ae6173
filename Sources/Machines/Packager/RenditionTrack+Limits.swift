// SPDX-License-Identifier: MPL-2.0

/// How long the segments of a rendition, their last samples and gaps may last.
extension RenditionTrack {
  /// Times of renditions from one source may differ by rounding.
  var slack: Int64 { Int64(clamping: rendition.frameDuration ?? 0) / 2 }

  /// Whether the rendition has come so far that its open segment would last longer than one may,
  /// up to the keyframe that the next one begins with.
  ///
  /// - Parameters:
  ///   - start: Start of the open segment.
  ///   - next: Start of the next segment.
  ///   - cut: Index of the first pending sample of the next segment; nil if it has not arrived.
  func lacksKeyframe(from start: SegmentStart, to next: SegmentStart, cut: Int?) -> Bool {
    // A finished presentation may have long segments: no client waits for them.
    guard rendition.isVideo, settings.kind != .onDemand, !next.startsDiscontinuity else {
      return false
    }
    let sample = cut.map { pending[min($0, pending.count - 1)] } ?? pending.samples.last
    let limit = max(settings.target, next.time &- start.time) &+ 500_000_000
    return sample.map { $0.presentationTime &- start.time >= limit } ?? false
  }

  /// Returns the time up to which the last one of the first `count` samples may last: that of the
  /// next sample, so that nothing is missing between two segments of a source that stopped for a
  /// moment; the end of the segment, if a gap or a discontinuity follows, or if the segment would
  /// become longer than promised.
  func sampleLimit(
    after count: Int, until end: SegmentStart, following: SegmentStart?
  ) -> Int64 {
    guard !isSilent, !end.startsDiscontinuity, count < pending.unchangedCount else {
      return end.time
    }
    let next = pending[count].presentationTime
    // The next segment is to have samples, and may be as short as is wished.
    guard next < following?.time ?? (end.time &+ settings.segment), !isTooLong(until: next) else {
      return end.time
    }
    return max(end.time, next)
  }

  /// Whether nothing comes after the first `count` samples for so long that the open segment would
  /// become longer than promised with it: its end has to be waited for.
  func hasLongHole(after count: Int) -> Bool {
    let last = pending[count - 1]
    return isTooLong(until: pending[count].presentationTime)
      && !isTooLong(until: last.presentationTime &+ Int64(clamping: last.duration) &+ 2 * slack)
  }

  /// Whether the open segment is longer than promised if it lasts up to a time.
  private func isTooLong(until time: Int64) -> Bool {
    let first = chunks.first?.time ?? pending.first?.presentationTime ?? time
    return time &- first >= promisedDuration
  }

  /// Returns the time at which a gap before the next segment ends: where its first sample is,
  /// unless a discontinuity begins it, or the gap would become longer than promised.
  func gapEnd(from first: Int64, until next: SegmentStart, following: SegmentStart?) -> Int64 {
    guard !next.startsDiscontinuity, pending.unchangedCount > 0, let sample = pending.first,
      sample.presentationTime < following?.time ?? (next.time &+ settings.segment),
      sample.presentationTime &- first < promisedDuration
    else { return next.time }
    return max(sample.presentationTime, next.time)
  }

  /// How long segments last at most after rounding to seconds, in nanoseconds.
  private var promisedDuration: Int64 {
    Int64(playlist.targetDuration) * 1_000_000_000 + 500_000_000
  }
}
