// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The eye's letter and the frame number, in the upper left corner of the picture, at screen depth.
struct FrameLabel {
  let eye: Eye
  let frame: Int
  let width: Int
  let height: Int

  /// Picture pixels per font pixel.
  private var scale: Int { max(1, min(height / 135, width / 64)) }
  private var corner: Int { scale == 1 ? 1 : 4 * scale }
  /// Space between the letter and the number; the smallest pictures have none.
  private var gap: Int { scale == 1 ? 0 : 4 * scale }

  /// Number of digits that fit, at most the last six.
  private var digitCount: Int {
    let advance = BitmapFont.advance * scale
    return min(6, max(0, (width - corner - gap - advance) / advance))
  }

  func draw<Sample>(on canvas: Canvas<Sample>, channel: Channel) {
    let glyphs = 1 + digitCount
    let pad = scale == 1 ? 1 : 2 * scale
    canvas.fill(
      x: corner - pad, y: corner - pad,
      width: (glyphs * BitmapFont.advance - 1) * scale + gap + 2 * pad,
      height: BitmapFont.height * scale + 2 * pad,
      value: RGB(18, 14, 34).byte(channel), alpha: 150)
    switch eye {
    case .left: draw(BitmapFont.letterL, at: 0, RGB(255, 138, 122), canvas, channel)
    case .right: draw(BitmapFont.letterR, at: 0, RGB(120, 205, 255), canvas, channel)
    }
    // `magnitude` is defined for every integer, unlike `abs`.
    var rest = frame.magnitude
    for position in stride(from: digitCount, to: 0, by: -1) {
      draw(BitmapFont.digit(rest % 10), at: position, RGB(255, 255, 255), canvas, channel)
      rest /= 10
    }
  }

  private func draw<Sample>(
    _ glyph: UInt64, at position: Int, _ color: RGB, _ canvas: Canvas<Sample>, _ channel: Channel
  ) {
    let value = color.byte(channel)
    let left = corner + position * BitmapFont.advance * scale + (position > 0 ? gap : 0)
    for row in 0..<BitmapFont.height {
      for column in 0..<BitmapFont.width
      where BitmapFont.isSet(glyph, column: column, row: row) {
        canvas.fill(
          x: left + column * scale, y: corner + row * scale, width: scale, height: scale,
          value: value)
      }
    }
  }
}

/// Letters of 5 x 7 dots in 35 bits each: row by row from the top, left to right, starting at the
/// highest bit.
enum BitmapFont {
  static let width = 5
  static let height = 7
  /// Columns from one letter to the next.
  static let advance = 6

  static let letterL: UInt64 = 0b10000_10000_10000_10000_10000_10000_11111
  static let letterR: UInt64 = 0b11110_10001_10001_11110_10100_10010_10001

  static func digit(_ digit: UInt) -> UInt64 {
    switch digit {
    case 0: 0b01110_10001_10011_10101_11001_10001_01110
    case 1: 0b00100_01100_00100_00100_00100_00100_01110
    case 2: 0b01110_10001_00001_00010_00100_01000_11111
    case 3: 0b11111_00010_00100_00010_00001_10001_01110
    case 4: 0b00010_00110_01010_10010_11111_00010_00010
    case 5: 0b11111_10000_11110_00001_00001_10001_01110
    case 6: 0b00110_01000_10000_11110_10001_10001_01110
    case 7: 0b11111_00001_00010_00100_01000_01000_01000
    case 8: 0b01110_10001_10001_01110_10001_10001_01110
    default: 0b01110_10001_10001_01111_00001_00010_01100
    }
  }

  /// Returns the bits of a capital letter, digit or minus; 0, which is blank, for characters that
  /// no text here contains.
  static func glyph(_ character: Character) -> UInt64 {
    switch character {
    case "A": 0b01110_10001_10001_11111_10001_10001_10001
    case "B": 0b11110_10001_10001_11110_10001_10001_11110
    case "C": 0b01110_10001_10000_10000_10000_10001_01110
    case "D": 0b11110_10001_10001_10001_10001_10001_11110
    case "E": 0b11111_10000_10000_11110_10000_10000_11111
    case "F": 0b11111_10000_10000_11110_10000_10000_10000
    case "G": 0b01110_10001_10000_10111_10001_10001_01111
    case "H": 0b10001_10001_10001_11111_10001_10001_10001
    case "I": 0b01110_00100_00100_00100_00100_00100_01110
    case "K": 0b10001_10010_10100_11000_10100_10010_10001
    case "L": letterL
    case "N": 0b10001_11001_10101_10011_10001_10001_10001
    case "O": 0b01110_10001_10001_10001_10001_10001_01110
    case "P": 0b11110_10001_10001_11110_10000_10000_10000
    case "R": letterR
    case "T": 0b11111_00100_00100_00100_00100_00100_00100
    case "U": 0b10001_10001_10001_10001_10001_10001_01110
    case "W": 0b10001_10001_10001_10101_10101_11011_10001
    case "-": 0b00000_00000_00000_11111_00000_00000_00000
    default: character.wholeNumberValue.map { digit(UInt($0)) } ?? 0
    }
  }

  static func isSet(_ glyph: UInt64, column: Int, row: Int) -> Bool {
    (glyph >> UInt64((height - 1 - row) * width + (width - 1 - column))) & 1 == 1
  }
}
