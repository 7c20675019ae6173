// SPDX-License-Identifier: MPL-2.0

/// Letters of 5 x 7 dots, each in 35 bits: row by row from the top, left to right, from the
/// highest bit down.
enum BitmapFont {
  static let width = 5
  static let height = 7
  /// From one letter to the next.
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

  /// A capital letter, a digit or a minus; 0, which is blank, for all else that no text here has.
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
