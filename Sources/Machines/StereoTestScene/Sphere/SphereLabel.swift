// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// A board below the horizon of each of the four sides, with the eye's letter and the frame's number.
struct SphereLabel {
  private let letter, digits: DotText
  private let letterColor: RGB

  /// The size of a dot, in degrees.
  private static let dot = 0.8
  /// The latitude of the text's upper edge, in degrees.
  private static let top = -19.8
  private static let width = 7 * BitmapFont.advance - 1

  /// Where on a board a direction lies, in dots from the text's upper left corner.
  struct Place {
    let x, y: Double

    /// Nil where there is no board.
    init?(_ direction: SkyDirection) {
      y = (SphereLabel.top - direction.latitude) / SphereLabel.dot
      guard y > -1, y < Double(DotText.height + 1) else { return nil }
      x = direction.side.longitude / SphereLabel.dot + Double(SphereLabel.width) / 2
      guard x > -1, x < Double(SphereLabel.width + 1) else { return nil }
    }
  }

  init(eye: Eye, frame: Int) {
    var glyphs = SIMD8<UInt64>()
    // `magnitude` is defined for each number, unlike `abs`.
    var rest = frame.magnitude
    for position in stride(from: 5, through: 0, by: -1) {
      glyphs[position] = BitmapFont.digit(rest % 10)
      rest /= 10
    }
    digits = DotText(glyphs: glyphs, count: 6)
    letter = DotText(
      glyphs: SIMD8(repeating: eye == .left ? BitmapFont.letterL : BitmapFont.letterR), count: 1)
    letterColor = eye == .left ? RGB(255, 138, 122) : RGB(120, 205, 255)
  }

  func color(_ place: Place) -> RGB {
    let advance = Double(BitmapFont.advance)
    let isLetter = place.x < advance - 0.5
    let covered =
      isLetter
      ? letter.coverage(place.x, place.y) : digits.coverage(place.x - advance, place.y)
    return RGB(18, 14, 34).mixed(with: isLetter ? letterColor : RGB(255, 255, 255), covered)
  }
}
