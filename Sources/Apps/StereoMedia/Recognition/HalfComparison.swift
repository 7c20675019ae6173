// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Compares the halves of a picture: two eyes show the same scene apart from disparity.
enum HalfComparison {
  /// How well the halves match, from 0 to 1.
  struct Scores {
    let sideBySide: Double
    let topBottom: Double
  }

  /// Width and height of a picture, in pixels.
  static let size = 256
  private static let block = 16
  /// Minimum number of blocks with distinctive detail.
  private static let minimumCount = 4
  /// The score of halves that cannot be compared, between those of pairs and of single pictures.
  private static let undecided = 0.7

  /// Returns nil if the picture has too little detail, or if the detail repeats itself so that
  /// anything would match.
  ///
  /// - Parameter picture: brightness, row by row.
  static func scores(_ picture: [UInt8]) -> Scores? {
    guard picture.count == size * size else { return nil }
    let sideBySide = similarity(picture, .sideBySide)
    let topBottom = similarity(picture, .topBottom)
    guard sideBySide != nil || topBottom != nil else { return nil }
    return Scores(sideBySide: sideBySide ?? undecided, topBottom: topBottom ?? undecided)
  }

  /// Returns how well the blocks of one half match the other half near the same position, from 0 to
  /// 1; nil if too few blocks have distinctive detail.
  private static func similarity(
    _ picture: [UInt8], _ arrangement: PackingLayout.Arrangement
  ) -> Double? {
    let isBeside = arrangement == .sideBySide
    let (width, height) = isBeside ? (size / 2, size) : (size, size / 2)
    let other = isBeside ? size / 2 : size * size / 2
    let reach = width / 12
    var sum = 0.0
    var weights = 0.0
    var blocks = 0
    for y in stride(from: 0, through: height - block, by: block) {
      for x in stride(from: reach, through: width - block - reach, by: block) {
        let start = y * size + x
        let spread = statistics(picture, start).variance
        guard spread > 30, !repeats(picture, start, x, width) else { continue }
        let best = (-reach...reach).map { correlation(picture, start, start + other + $0) }.max()
        sum += max(0, best ?? 0) * spread.squareRoot()
        weights += spread.squareRoot()
        blocks += 1
      }
    }
    return blocks >= minimumCount ? sum / weights : nil
  }

  /// Returns whether a block looks like another place in its own half, next to where it would match
  /// the other half: bricks, fences and test patterns match anywhere.
  private static func repeats(_ picture: [UInt8], _ start: Int, _ x: Int, _ width: Int) -> Bool {
    let reach = width / 12
    // Closer than this, a block matches itself.
    let nearest = block / 2 + 1
    for distance in nearest...nearest + 2 * reach {
      for offset in [-distance, distance] where (0...width - block).contains(x + offset) {
        if correlation(picture, start, start + offset) > 0.9 { return true }
      }
    }
    return false
  }

  private static func statistics(_ picture: [UInt8], _ start: Int) -> (
    mean: Double, variance: Double
  ) {
    var (sum, squares) = (0, 0)
    for y in 0..<block {
      for x in 0..<block {
        let value = Int(picture[start + y * size + x])
        sum += value
        squares += value * value
      }
    }
    let count = Double(block * block)
    let mean = Double(sum) / count
    return (mean, Double(squares) / count - mean * mean)
  }

  private static func correlation(_ picture: [UInt8], _ one: Int, _ other: Int) -> Double {
    let (first, second) = (statistics(picture, one), statistics(picture, other))
    guard first.variance > 1, second.variance > 1 else { return 0 }
    var products = 0
    for y in 0..<block {
      for x in 0..<block {
        products += Int(picture[one + y * size + x]) * Int(picture[other + y * size + x])
      }
    }
    let covariance = Double(products) / Double(block * block) - first.mean * second.mean
    return covariance / (first.variance * second.variance).squareRoot()
  }
}
