// SPDX-License-Identifier: MPL-2.0

/// Where a movie is cut into parts.
///
/// Cuts are a multiple of the distance between keyframes apart, so that a part has no incomplete
/// group of pictures at its end: one costs as much as the joint. Keyframes of the input do not
/// matter. Parts of 30 seconds need 0.3 % more bits than one piece, those of 5 seconds 4 %.
package enum PartCuts {
  /// The intended duration of a part, if none is given.
  package static let defaultDuration = Duration.seconds(30)

  /// Returns the number of the first picture of each part.
  ///
  /// - Parameters:
  ///   - pictures: the numbers of the pictures, at least one.
  ///   - rate: pictures in a second; nil if there is only one.
  ///   - partDuration: the intended duration of a part.
  ///   - keyframeDistance: the maximum distance between keyframes in pictures, at least 1.
  package static func cuts(
    pictures: Range<Int>, rate: Double?, partDuration: Duration, keyframeDistance: Int
  ) -> [Int] {
    let wanted = max(1, min((rate ?? 1) * (partDuration / .seconds(1)), 1e9))
    let groups = max(1, Int((wanted / Double(keyframeDistance)).rounded()))
    let (length, overflow) = groups.multipliedReportingOverflow(by: keyframeDistance)
    guard !overflow, length < pictures.count else { return [pictures.lowerBound] }
    var cuts = Array(stride(from: pictures.lowerBound, to: pictures.upperBound, by: length))
    // A last part that is shorter than half belongs to the one before it.
    if let last = cuts.last, cuts.count > 1, pictures.upperBound - last < length / 2 {
      cuts.removeLast()
    }
    return cuts
  }
}
