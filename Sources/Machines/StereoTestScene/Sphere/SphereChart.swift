// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The chart on the sky, which both eyes see in the same directions: meridians and parallels every
/// 15 degrees, the names of directions, degrees, and a mark exactly in each of the six main
/// directions.
struct SphereChart {
  /// Opacity of each over the background, from 0 to 1.
  private let lines, words, mark: Double
  private let lineColor, markColor: RGB

  /// Width of a soft edge in degrees: about one pixel of a 360-degree picture 1280 pixels wide.
  static let softness = 0.28
  /// Distance between lines, in degrees.
  private static let step = 15.0
  /// Latitude at which the meridians end, in degrees.
  private static let lastParallel = 75.0
  /// Radius of a mark, in degrees.
  private static let markRadius = 1.4
  /// Size of a dot of words and of numbers, in degrees.
  private static let (wordDot, numberDot) = (0.8, 0.35)

  /// Ahead, right, back and left.
  private static let sides = ["FRONT", "RIGHT", "BACK", "LEFT"].map(DotText.init)
  private static let (up, down) = (DotText("UP"), DotText("DOWN"))
  /// Starting at -180 degrees.
  private static let numbers = (-12...12).map { DotText("\($0 == -12 ? 180 : $0 * 15)") }
  private static let markColors = [
    RGB(255, 32, 32), RGB(32, 255, 32), RGB(48, 80, 255), RGB(255, 255, 32),
  ]
  private static let (upColor, downColor) = (RGB(32, 255, 255), RGB(255, 32, 255))
  private static let (paper, ink) = (RGB(255, 255, 255), RGB(12, 12, 24))

  /// Returns the colour of the mark nearest to a direction, one of six.
  private static func markColor(_ direction: SkyDirection) -> RGB {
    if abs(direction.latitude) > 45 { return direction.latitude > 0 ? upColor : downColor }
    return markColors[direction.side.index]
  }

  /// Computes what the chart shows in a direction.
  init(_ direction: SkyDirection) {
    let (lines, isMain) = Self.lines(direction)
    self.lines = lines * 0.7
    lineColor = isMain ? RGB(255, 226, 120) : Self.ink
    words = Self.words(direction)
    mark = Self.mark(direction)
    markColor = Self.markColor(direction)
  }

  func drawn(over color: RGB) -> RGB {
    color.mixed(with: lineColor, lines).mixed(with: Self.paper, words).mixed(with: markColor, mark)
  }

  private static func mark(_ direction: SkyDirection) -> Double {
    let ray = direction.ray
    let (x, y, z) = (abs(ray.x), abs(ray.y), abs(ray.z))
    // Sine of the angle from the nearest axis, which is small near a mark.
    let square = x * x + y * y + z * z
    let away = max(0, square - max(x * x, y * y, z * z)).squareRoot()
    return softEdge(markRadius - away * 180 / .pi, softness)
  }

  /// Returns the opacity of a line, and whether it is the horizon or the meridian of one of the
  /// four sides.
  private static func lines(_ direction: SkyDirection) -> (Double, isMain: Bool) {
    let (longitude, latitude) = (direction.longitude, direction.latitude)
    guard abs(latitude) < lastParallel + 1 else { return (0, false) }
    let fromParallel = abs(latitude - (latitude / step).rounded() * step)
    // Degrees of longitude shrink towards the poles.
    let level = (direction.ray.x * direction.ray.x + direction.ray.z * direction.ray.z).squareRoot()
    let fromMeridian =
      abs(latitude) > lastParallel
      ? step : abs(longitude - (longitude / step).rounded() * step) * level
    let isMain =
      abs(latitude) < 1
      || (fromMeridian < fromParallel && abs(direction.side.longitude) < step / 2)
    return (softEdge(0.2 - min(fromParallel, fromMeridian), softness), isMain)
  }

  private static func words(_ direction: SkyDirection) -> Double {
    guard abs(direction.latitude) <= lastParallel else { return poleWord(direction) }
    let (index, longitude) = direction.side
    let word = sides[index]
    let covered = word.coverage(
      longitude / wordDot + Double(word.width) / 2, (10.8 - direction.latitude) / wordDot)
    return max(covered, number(direction))
  }

  /// Opacity of the word at a pole, upright for a viewer who looks ahead and then up or down.
  private static func poleWord(_ direction: SkyDirection) -> Double {
    let ray = direction.ray
    let isUp = ray.y < 0
    let (word, scale) = (isUp ? up : down, 180 / .pi / wordDot)
    let x = ray.x * scale
    let y = (isUp ? ray.z : -ray.z) * scale
    return word.coverage(x + Double(word.width) / 2, y + 8.8 / wordDot)
  }

  /// Opacity of numbers: longitudes along the horizon, latitudes along the meridians of the four
  /// sides, each to the right of and below the crossing.
  private static func number(_ direction: SkyDirection) -> Double {
    let column = (direction.longitude / step).rounded(.down)
    let row = (direction.latitude / step).rounded(.up)
    let (meridian, parallel) = (Int(column), Int(row))
    guard parallel == 0 || (meridian % 6 == 0 && abs(parallel) <= 4) else { return 0 }
    let text = numbers[(parallel == 0 ? meridian : parallel) + 12]
    return text.coverage(
      (direction.longitude - column * step - 0.8) / numberDot,
      (row * step - 0.8 - direction.latitude) / numberDot)
  }
}

/// A board below the horizon on each of the four sides, with the eye's letter and the frame number.
struct SphereLabel {
  private let letter, digits: DotText
  private let letterColor: RGB

  /// Size of a dot, in degrees.
  private static let dot = 0.8
  /// Latitude of the text's upper edge, in degrees.
  private static let top = -19.8
  private static let width = 7 * BitmapFont.advance - 1

  /// The position of a direction on a board, in dots from the text's upper left corner.
  struct Place {
    let x, y: Double

    /// Creates the position; nil if the direction is not on a board.
    init?(_ direction: SkyDirection) {
      y = (SphereLabel.top - direction.latitude) / SphereLabel.dot
      guard y > -1, y < Double(DotText.height + 1) else { return nil }
      x = direction.side.longitude / SphereLabel.dot + Double(SphereLabel.width) / 2
      guard x > -1, x < Double(SphereLabel.width + 1) else { return nil }
    }
  }

  init(eye: Eye, frame: Int) {
    var glyphs = SIMD8<UInt64>()
    // `magnitude` is defined for every integer, unlike `abs`.
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

/// A line of up to eight letters made of dots with soft edges: points between two dots have part of
/// both.
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

  /// Returns the opacity at a position, from 0 to 1.
  ///
  /// - Parameters:
  ///   - x: to the right, in dots from the left edge of the text.
  ///   - y: down, in dots from its upper edge.
  func coverage(_ x: Double, _ y: Double) -> Double {
    guard x > -1, x < Double(width) + 1, y > -1, y < Double(Self.height) + 1 else { return 0 }
    // Dot centres are at half-integer positions.
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
