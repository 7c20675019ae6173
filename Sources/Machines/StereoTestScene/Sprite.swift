// SPDX-License-Identifier: MPL-2.0

/// The constant picture of an object, with the coverage of each pixel.
struct Sprite: Sendable {
  let width: Int
  let height: Int
  /// Indexed by `Channel`, at full resolution.
  private var values: [[UInt8]]
  private var alphas: [UInt8]

  /// Paints each pixel as the mean of nine points.
  private init(width: Int, height: Int, paint: (_ x: Int, _ y: Int) -> SpritePoint) {
    self.width = width
    self.height = height
    alphas = [UInt8](repeating: 0, count: width * height)
    values = Channel.allCases.map { _ in [UInt8](repeating: 0, count: width * height) }
    for y in 0..<height {
      for x in 0..<width {
        var (alpha, red, green, blue) = (0, 0, 0, 0)
        for part in 0..<9 {
          let point = paint(3 * x + part % 3, 3 * y + part / 3)
          alpha += point.alpha
          red += point.color.red * point.alpha
          green += point.color.green * point.alpha
          blue += point.color.blue * point.alpha
        }
        guard alpha > 0 else { continue }
        let grain = Int(IntegerNoise.hash(x, y, seed: 60) & 15) - 8
        let color = RGB(red / alpha, green / alpha, blue / alpha).lightened(grain)
        for channel in Channel.allCases {
          values[channel.rawValue][y * width + x] = color.byte(channel)
        }
        alphas[y * width + x] = UInt8(truncatingIfNeeded: alpha / 9)
      }
    }
  }

  init(_ object: StereoTestScene.Object) {
    let surface = object.surface
    switch object.shape {
    case .disc:
      // The sun's ring extends one radius beyond it.
      let ring = surface.isEmissive ? object.width / 2 : 0
      let (width, height) = (object.width + 2 * ring, object.height + 2 * ring)
      self.init(width: width, height: height) { x, y in
        surface.disc(
          x: (2 * x + 1 - 3 * width) * 1024 / (3 * object.width),
          y: (2 * y + 1 - 3 * height) * 1024 / (3 * object.height))
      }
    case .box:
      let (width, height) = (object.width, object.height)
      self.init(width: width, height: height) { x, y in
        surface.box(x: x * 1024 / (3 * width), y: y * 1024 / (3 * height))
      }
    }
  }

  /// Creates a soft dark ellipse, the shadow of an object.
  init(shadowOf object: StereoTestScene.Object) {
    let (width, height) = (object.width * 5 / 4, max(1, object.height / 4))
    self.init(width: width, height: height) { x, y in
      let across = (2 * x + 1 - 3 * width) * 1024 / (3 * width)
      let down = (2 * y + 1 - 3 * height) * 1024 / (3 * height)
      let distance = integerSquareRoot(across * across + down * down)
      return SpritePoint(RGB(34, 22, 58), alpha: min(150, max(0, (1024 - distance) * 150 / 512)))
    }
  }

  /// Calls `body` with the values of one channel and the alphas, row by row.
  func withPixels(
    _ channel: Channel, _ body: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Void
  ) {
    values[channel.rawValue].withUnsafeBufferPointer { values in
      alphas.withUnsafeBufferPointer { alphas in body(values, alphas) }
    }
  }
}

/// A point of a sprite; alpha is from 0 to 255.
struct SpritePoint {
  var color: RGB
  var alpha: Int

  init(_ color: RGB, alpha: Int = 255) {
    self.color = color
    self.alpha = alpha
  }

  static let clear = SpritePoint(RGB(0, 0, 0), alpha: 0)
}
