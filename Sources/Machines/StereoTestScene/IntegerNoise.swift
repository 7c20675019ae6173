// SPDX-License-Identifier: MPL-2.0

/// Noise from a hash of whole coordinates: no state, no floating point.
enum IntegerNoise {
  /// 32 well-mixed bits for a place.
  static func hash(_ x: Int, _ y: Int, seed: UInt32) -> UInt32 {
    var bits = UInt32(truncatingIfNeeded: x) &* 0x9E37_79B1
    bits ^= UInt32(truncatingIfNeeded: y) &* 0x85EB_CA77
    bits ^= seed &* 0xC2B2_AE3D
    bits ^= bits >> 16
    bits = bits &* 0x7FEB_352D
    bits ^= bits >> 15
    bits = bits &* 0x846C_A68B
    return bits ^ (bits >> 16)
  }

  /// One row of smooth noise, each value from 0 to 255, with features of about
  /// `cellWidth` x `cellHeight` pixels (both at least 1). `x` of the first value is 0.
  static func row(
    _ y: Int, count: Int, cellWidth: Int, cellHeight: Int, seed: UInt32
  ) -> [Int] {
    let cellY = y / cellHeight
    let down = smooth(y % cellHeight, of: cellHeight)
    func edge(_ cellX: Int) -> Int {
      let top = Int(hash(cellX, cellY, seed: seed) & 255)
      let bottom = Int(hash(cellX, cellY + 1, seed: seed) & 255)
      return top * (256 - down) + bottom * down
    }
    let across = (0..<cellWidth).map { smooth($0, of: cellWidth) }
    var values = [Int](repeating: 0, count: count)
    var left = edge(0)
    var x = 0
    var cellX = 0
    while x < count {
      let right = edge(cellX + 1)
      for step in 0..<min(cellWidth, count - x) {
        values[x + step] = (left * (256 - across[step]) + right * across[step]) >> 16
      }
      left = right
      x += cellWidth
      cellX += 1
    }
    return values
  }

  /// The smooth step 3t² - 2t³ of `part` / `whole`, from 0 to 256.
  private static func smooth(_ part: Int, of whole: Int) -> Int {
    let t = part * 256 / whole
    return (t * t * (768 - 2 * t)) >> 16
  }
}

/// The greatest whole number whose square is at most `value`; 0 for what is negative.
func integerSquareRoot(_ value: Int) -> Int {
  guard value > 0 else { return 0 }
  var root = 1 << ((Int.bitWidth - value.leadingZeroBitCount + 1) / 2)
  while true {
    let next = (root + value / root) / 2
    if next >= root { return root }
    root = next
  }
}
