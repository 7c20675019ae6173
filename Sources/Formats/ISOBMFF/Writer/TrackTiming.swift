// SPDX-License-Identifier: MPL-2.0

/// How a track lies on the movie's time line.
struct TrackTiming {
  /// In units of the movie's timescale.
  var emptyDuration: UInt64
  var editDuration: UInt64
  /// In units of the track's timescale: what the edit begins with.
  var mediaTime: UInt64
  /// What has to be taken off each composition offset, so that the first picture is at 0.
  var compositionShift: Int64
  /// Whether there is anything to say in an edit list.
  var hasEdits = true

  /// Of a track whose samples are in fragments, as many as will come.
  ///
  /// - Parameter mediaTime: what it begins with.
  init(fragmentedFrom mediaTime: Int64) {
    (emptyDuration, editDuration, compositionShift) = (0, 0, 0)
    self.mediaTime = UInt64(clamping: mediaTime)
    hasEdits = mediaTime > 0
  }

  init(_ tables: TrackTables, timescale: UInt32, movieTimescale: UInt32) {
    let start = max(0, tables.presentationStart)
    compositionShift = tables.presentationStart - tables.firstDecodeTime
    mediaTime = UInt64(clamping: start - tables.presentationStart)
    emptyDuration = rescale(
      UInt64(clamping: start), from: timescale, to: movieTimescale, .toNearestOrAwayFromZero)
    // Rounded up: a reader drops a last frame that is not wholly inside.
    editDuration = rescale(
      UInt64(clamping: tables.presentationEnd - start), from: timescale, to: movieTimescale, .up)
  }

  var duration: UInt64 {
    let (sum, overflow) = emptyDuration.addingReportingOverflow(editDuration)
    return overflow ? .max : sum
  }
}

/// A time in another timescale; the largest value where it does not fit.
func rescale(
  _ time: UInt64, from timescale: UInt32, to newTimescale: UInt32,
  _ rounding: FloatingPointRoundingRule
) -> UInt64 {
  let product = time.multipliedFullWidth(by: UInt64(newTimescale))
  guard timescale > 0, product.high < UInt64(timescale) else { return .max }
  let (quotient, remainder) = UInt64(timescale).dividingFullWidth(product)
  let roundsUp = rounding == .up ? remainder > 0 : remainder * 2 >= UInt64(timescale)
  return roundsUp && quotient < .max ? quotient + 1 : quotient
}
