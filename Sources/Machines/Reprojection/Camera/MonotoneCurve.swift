// SPDX-License-Identifier: MPL-2.0

/// A smooth curve through values at rising times: between two of them a cubic that goes beyond
/// neither, in front of the first and behind the last one what these are.
struct MonotoneCurve: Sendable {
  private let values: [Double]
  /// What a value changes by in a nanosecond.
  private let slopes: [Double]

  /// - Parameters:
  ///   - times: in nanoseconds, rising, at least one.
  ///   - values: as many.
  init(_ times: [Int64], _ values: [Double]) {
    self.values = values
    let widths = zip(times, times.dropFirst()).map { Double($1 - $0) }
    let secants = zip(zip(values, values.dropFirst()), widths).map { ($0.1 - $0.0) / $1 }
    // At the ends, and where there is one value alone, the curve is as the straight line.
    slopes = values.indices.map { index in
      guard index > 0 else { return secants.first ?? 0 }
      guard index < secants.count else { return secants[index - 1] }
      let (before, behind) = (secants[index - 1], secants[index])
      guard before * behind > 0 else { return 0 }
      // The weighted harmonic mean of Fritsch and Butland.
      let (near, far) = (widths[index - 1], widths[index])
      return 3 * (near + far) / ((2 * far + near) / before + (far + 2 * near) / behind)
    }
  }

  func value(at time: Int64, _ times: [Int64]) -> Double {
    // The first time behind this one.
    var (low, high) = (0, times.count)
    while low < high {
      let middle = (low + high) / 2
      if times[middle] <= time { low = middle + 1 } else { high = middle }
    }
    guard low > 0 else { return values[0] }
    guard low < times.count else { return values[times.count - 1] }
    let width = Double(times[low] - times[low - 1])
    let part = Double(time - times[low - 1]) / width
    let rest = 1 - part
    // The cubic of Hermite.
    return values[low - 1] * (1 + 2 * part) * rest * rest + values[low] * part * part
      * (3 - 2 * part)
      + (slopes[low - 1] * rest - slopes[low] * part) * width * part * rest
  }
}
