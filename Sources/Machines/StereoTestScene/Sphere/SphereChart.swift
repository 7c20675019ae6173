// SPDX-License-Identifier: MPL-2.0

/// What is written on the sky, and seen in the same directions by both eyes: meridians and parallels
/// every 15 degrees, what the directions are called, degrees, and a mark straight in each of the six
/// directions.
struct SphereChart {
  /// How much of each covers what is behind, from 0 to 1.
  private let lines, words, mark: Double
  private let lineColor, markColor: RGB

  /// A soft edge, in degrees: about one pixel of a picture with 1280 pixels around.
  static let softness = 0.28
  /// Between the lines, in degrees.
  private static let step = 15.0
  /// The latitude at which the meridians end, in degrees.
  private static let lastParallel = 75.0
  /// Of a mark, in degrees.
  static let markRadius = 1.4
  /// The size of a dot, in degrees, of the words and of the numbers.
  private static let (wordDot, numberDot) = (0.8, 0.35)

  /// Ahead, right, back and left.
  private static let sides = ["FRONT", "RIGHT", "BACK", "LEFT"].map(DotText.init)
  private static let (up, down) = (DotText("UP"), DotText("DOWN"))
  /// From -180 degrees on.
  private static let numbers = (-12...12).map { DotText("\($0 == -12 ? 180 : $0 * 15)") }
  private static let markColors = [
    RGB(255, 32, 32), RGB(32, 255, 32), RGB(48, 80, 255), RGB(255, 255, 32),
  ]
  private static let (upColor, downColor) = (RGB(32, 255, 255), RGB(255, 32, 255))
  private static let (paper, ink) = (RGB(255, 255, 255), RGB(12, 12, 24))

  /// The colour of a mark straight in a direction: one of the six.
  static func markColor(_ direction: SkyDirection) -> RGB {
    if abs(direction.latitude) > 45 { return direction.latitude > 0 ? upColor : downColor }
    return markColors[direction.side.index]
  }

  /// What is written at a direction.
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
    // The sine of the angle from the nearest axis, which is small where it matters.
    let square = x * x + y * y + z * z
    let away = max(0, square - max(x * x, y * y, z * z)).squareRoot()
    return softEdge(markRadius - away * 180 / .pi, softness)
  }

  /// How much a line covers, and whether it is the horizon or a meridian of one of the four sides.
  private static func lines(_ direction: SkyDirection) -> (Double, isMain: Bool) {
    let (longitude, latitude) = (direction.longitude, direction.latitude)
    guard abs(latitude) < lastParallel + 1 else { return (0, false) }
    let fromParallel = abs(latitude - (latitude / step).rounded() * step)
    // Degrees of longitude are smaller towards the poles.
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

  /// Reads upright for one who looks ahead and then up, or down.
  private static func poleWord(_ direction: SkyDirection) -> Double {
    let ray = direction.ray
    let isUp = ray.y < 0
    let (word, scale) = (isUp ? up : down, 180 / .pi / wordDot)
    let x = ray.x * scale
    let y = (isUp ? ray.z : -ray.z) * scale
    return word.coverage(x + Double(word.width) / 2, y + 8.8 / wordDot)
  }

  /// Longitudes along the horizon, latitudes along the meridians of the four sides; each right of
  /// and below the crossing.
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
