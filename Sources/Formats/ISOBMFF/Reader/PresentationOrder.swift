// SPDX-License-Identifier: MPL-2.0

/// Groups of samples, in decoding order, by the span of their presentation times: narrows the
/// search for the sample of a time to the few groups that can have it.
struct PresentationOrder: Sendable {
  private var leastTimes: [Int64] = []
  /// The greatest time in this group and all before it.
  private var greatestTimesSoFar: [Int64] = []

  mutating func append(least: Int64, greatest: Int64) {
    leastTimes.append(least)
    greatestTimesSoFar.append(max(greatest, greatestTimesSoFar.last ?? .min))
  }

  /// The groups that may have the latest time up to `time`, in a file whose groups overlap only
  /// with their neighbours.
  func candidates(at time: Int64) -> Range<Int> {
    let count = leastTimes.count
    let reaching = partitionPoint(count: count) { greatestTimesSoFar[$0] < time }
    var first = max(0, reaching - 1)
    while first > 0, greatestTimesSoFar[first - 1] == greatestTimesSoFar[first] {
      first -= 1
    }
    var end = min(count, reaching + 1)
    while end < count, leastTimes[end] <= time {
      end += 1
    }
    return first..<end
  }
}
