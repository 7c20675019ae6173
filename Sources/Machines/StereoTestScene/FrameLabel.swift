// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The eye's letter and the frame's number, in the upper left corner of the picture, at the
/// screen's depth.
struct FrameLabel {
  let eye: Eye
  let frame: Int
  let width: Int
  let height: Int

  /// Pixels of the picture to one of the font.
  private var scale: Int { max(1, min(height / 135, width / 64)) }
  private var corner: Int { scale == 1 ? 1 : 4 * scale }
  /// Between the letter and the number; the smallest pictures have no room for it.
  private var gap: Int { scale == 1 ? 0 : 4 * scale }

  /// As many of the last six digits as the picture is wide enough for.
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
    // `magnitude` is defined for each number, unlike `abs`.
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
