// SPDX-License-Identifier: MPL-2.0

/// How long the segments and gaps of a rendition may last.
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

  /// Returns the time at which a gap before the next segment's start ends.
  func gapEnd(at next: Int64) -> Int64 {
    guard rendition.isVideo, !startsDiscontinuity, pending.unchangedCount > 0,
      let sample = pending.first
    else { return next }
    return min(max(sample.presentationTime, next), next &+ settings.target)
  }
}
