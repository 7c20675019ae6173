// SPDX-License-Identifier: MPL-2.0

/// A line of up to eight letters of dots, whose edges are soft: what lies between two dots has part
/// of both.
struct DotText: Sendable {
  private let glyphs: SIMD8<UInt64>
  /// In dots.
  let width: Int

  static let height = BitmapFont.height

  init(glyphs: SIMD8<UInt64>, count: Int) {
    self.glyphs = glyphs
    width = max(0, count * BitmapFont.advance - 1)
  }

  init(_ text: String) {
    var glyphs = SIMD8<UInt64>()
    for (index, character) in text.prefix(8).enumerated() {
      glyphs[index] = BitmapFont.glyph(character)
    }
    self.init(glyphs: glyphs, count: min(8, text.count))
  }

  /// How much of a place is covered, from 0 to 1.
  ///
  /// - Parameters:
  ///   - x: to the right, in dots from the left edge of the text.
  ///   - y: down, in dots from its upper edge.
  func coverage(_ x: Double, _ y: Double) -> Double {
    guard x > -1, x < Double(width) + 1, y > -1, y < Double(Self.height) + 1 else { return 0 }
    // The middles of the dots are at halves.
    let (left, top) = ((x - 0.5).rounded(.down), (y - 0.5).rounded(.down))
    let (column, row) = (Int(left), Int(top))
    let (across, down) = (x - 0.5 - left, y - 0.5 - top)
    let upper = dot(column, row) * (1 - across) + dot(column + 1, row) * across
    let lower = dot(column, row + 1) * (1 - across) + dot(column + 1, row + 1) * across
    return min(1, max(0, (upper * (1 - down) + lower * down) * 2 - 0.5))
  }

  private func dot(_ column: Int, _ row: Int) -> Double {
    guard column >= 0, column < width, row >= 0, row < Self.height else { return 0 }
    let (letter, part) = column.quotientAndRemainder(dividingBy: BitmapFont.advance)
    guard part < BitmapFont.width else { return 0 }
    return BitmapFont.isSet(glyphs[letter], column: part, row: row) ? 1 : 0
  }
}
