// SPDX-License-Identifier: MPL-2.0

/// What each picture costs, as measured, and how much of the target rate it is to take by that.
struct RatePlan: Sendable {
  /// What a picture costs at one quality against the mean of all, in display order.
  private let weights: [Double]
  /// What it may take against the mean: as `weights`, but no more in a stretch than the buffer lets through.
  private let shares: [Double]

  var pictureCount: Int { weights.count }

  /// - Parameters:
  ///   - weights: more than 0; their mean is 1.
  ///   - peak: the rate at which the buffer fills, against the target rate; from 1.
  ///   - window: how many pictures the buffer evens out.
  init(weights: [Double], peak: Double, window: Int) {
    self.weights = weights
    var shares = weights
    // What one stretch cannot take goes to the others, which may then be too large themselves.
    for _ in 0..<8 {
      let means = Self.means(shares, window)
      shares = zip(shares, means).map { $0 * min(1, 0.95 * peak / $1) }
      let mean = shares.reduce(0, +) / Double(max(shares.count, 1))
      shares = shares.map { $0 / mean }
    }
    self.shares = shares
  }

  /// The mean of `values` around each of them.
  private static func means(_ values: [Double], _ window: Int) -> [Double] {
    var sums = [0.0]
    for value in values { sums.append((sums.last ?? 0) + value) }
    return values.indices.map { index in
      let (from, to) = (max(index - window / 2, 0), min(index + window / 2 + 1, values.count))
      return (sums[to] - sums[from]) / Double(to - from)
    }
  }

  /// The means of `count` pictures, or those that there are; 1 behind the last.
  func pictures(from index: Int, count: Int) -> (weight: Double, share: Double) {
    guard weights.indices.contains(index) else { return (1, 1) }
    let range = index..<min(index + max(count, 1), weights.count)
    func mean(_ values: [Double]) -> Double {
      values[range].reduce(0, +) / Double(range.count)
    }
    return (mean(weights), mean(shares))
  }
}
