// SPDX-License-Identifier: MPL-2.0

extension StereoTestScene.Object.Surface {
  var shines: Bool {
    if case .sun = self { true } else { false }
  }

  /// A point of a disc of radius 1024 around (0, 0), seen as a ball.
  func disc(x: Int, y: Int) -> SpritePoint {
    let square = x * x + y * y
    let radius = 1024
    if case .sun(let color) = self {
      let distance = integerSquareRoot(square)
      guard distance > radius else {
        return SpritePoint(RGB(255, 244, 214).mixed(with: color, distance / 4))
      }
      let fade = max(0, 2 * radius - distance)
      return SpritePoint(color, alpha: 130 * fade / radius * fade / radius)
    }
    guard square <= radius * radius else { return .clear }
    let z = integerSquareRoot(radius * radius - square)
    return SpritePoint(Self.lit(ballColor(x, y, z), x, y, z))
  }

  /// A point of a box whose corners are (0, 0) and (1024, 1024).
  func box(x: Int, y: Int) -> SpritePoint {
    let edge = min(x, y, 1023 - x, 1023 - y)
    switch self {
    case .crate(let color):
      if edge < 130 || abs(x - y) < 92 {
        let outline = edge < 14 || (110..<130).contains(edge) || (74..<92).contains(abs(x - y))
        return SpritePoint(color.scaled(outline ? 150 : 286 - y / 12))
      }
      let board = (x - 130) * 5 / 764
      let gap = (x - 130) * 5 % 764 < 60
      return SpritePoint(color.scaled(gap ? 84 : 196 + (board * 37) % 32 - y / 16))
    case .tile(let color, let mark):
      if edge < 96 {
        let isLit = edge == y || edge == 1023 - x
        return SpritePoint(color.scaled(isLit ? 330 : 150))
      }
      let square = (x - 512) * (x - 512) + (y - 512) * (y - 512)
      if (150 * 150...290 * 290).contains(square) { return SpritePoint(mark) }
      return SpritePoint(color.scaled(276 - y / 14))
    case .sun(let color), .panels(let color, _), .checks(let color, _):
      return SpritePoint(color)
    }
  }

  private func ballColor(_ x: Int, _ y: Int, _ z: Int) -> RGB {
    // The ball's axis leans to the right and turns away, by angles with whole-number sides.
    let (leanX, leanY) = ((12 * x - 5 * y) / 13, (5 * x + 12 * y) / 13)
    let (turnX, turnZ) = ((4 * leanX + 3 * z) / 5, (4 * z - 3 * leanX) / 5)
    switch self {
    case .panels(let one, let other):
      let meridian = Self.count(abs(turnX) * 1024, atLeast: [424, 2472], times: abs(turnZ))
      return meridian.isMultiple(of: 2) ? one : other
    case .checks(let one, let other):
      let meridian = Self.count(
        abs(turnX) * 1024, atLeast: [204, 684, 1533, 5148], times: abs(turnZ))
      let parallel = Self.count(abs(leanY), atLeast: [392, 724, 946], times: 1)
      return (meridian + parallel + (leanY < 0 ? 1 : 0)).isMultiple(of: 2) ? one : other
    case .sun(let color), .crate(let color), .tile(let color, _):
      return color
    }
  }

  /// How many of the limits the value reaches: tangents and sines in 1024ths.
  private static func count(_ value: Int, atLeast limits: [Int], times factor: Int) -> Int {
    var count = 0
    for limit in limits where value >= limit * factor { count += 1 }
    return count
  }

  /// Light from the upper right, with a highlight; (x, y, z) is of length 1024.
  private static func lit(_ color: RGB, _ x: Int, _ y: Int, _ z: Int) -> RGB {
    let diffuse = max(0, 410 * x - 614 * y + 707 * z) >> 10
    var highlight = max(0, 223 * x - 334 * y + 942 * z) >> 10
    for _ in 0..<5 { highlight = (highlight * highlight) >> 10 }
    let rim = 1024 - z
    let shade = color.scaled(96 + diffuse * 176 / 1024)
      .mixed(with: RGB(96, 70, 140), rim * rim / 12000)
    return shade.lightened(highlight * 150 / 1024)
  }
}
