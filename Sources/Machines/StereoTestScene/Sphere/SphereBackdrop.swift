// SPDX-License-Identifier: MPL-2.0

internal import Reprojection
internal import StereoVideo

/// What does not change with time of one eye's picture, and where its pixels look.
struct SphereBackdrop: Sendable {
  private let width: Int
  /// By `Channel`.
  private var planes: [[UInt8]]

  init(width: Int, height: Int) {
    self.width = width
    let subsampled = (width: (width + 1) / 2, height: (height + 1) / 2)
    // What no direction has is black.
    planes = Channel.allCases.map { channel in
      [UInt8](
        repeating: RGB(0, 0, 0).byte(channel),
        count: channel.isSubsampled ? subsampled.width * subsampled.height : width * height)
    }
  }

  mutating func set(_ x: Int, _ y: Int, _ color: RGB) {
    for channel in Channel.allCases {
      if !channel.isSubsampled {
        planes[channel.rawValue][y * width + x] = color.byte(channel)
      } else if x & 1 == 0, y & 1 == 0 {
        planes[channel.rawValue][y / 2 * ((width + 1) / 2) + x / 2] = color.byte(channel)
      }
    }
  }

  func draw<Sample>(on canvas: Canvas<Sample>, channel: Channel) {
    planes[channel.rawValue].withUnsafeBufferPointer { plane in
      guard let base = plane.baseAddress else { return }
      for row in 0..<canvas.height { canvas.copyRow(row, from: base + row * canvas.width) }
    }
  }
}

/// A square of pixels, and a cone around everything that they show.
struct SphereBlock: Sendable {
  static let size = 16

  /// Of the upper left pixel.
  let x, y: Int
  private let axis: SIMD3<Double>
  private let cosine, sine: Double

  /// Nil where the pixels show nothing.
  init?(x: Int, y: Int, rays: [SIMD3<Double>]) {
    guard let first = rays.first else { return nil }
    let sum = rays.reduce(SIMD3(0, 0, 0), +)
    let length = dot(sum, sum).squareRoot()
    // All around, any axis will do.
    let axis = length > 1e-9 ? sum / length : first
    (self.x, self.y, self.axis) = (x, y, axis)
    cosine = rays.reduce(1) { min($0, dot($1, axis)) }
    sine = max(0, 1 - cosine * cosine).squareRoot()
  }

  /// Whether the cone may meet one around `middle`, of an angle below a right one with this sine.
  func meets(_ middle: SIMD3<Double>, sine other: Double) -> Bool {
    let reach = cosine * max(0, 1 - other * other).squareRoot() - sine * other
    // Together more than half a turn, they meet wherever they are.
    return cosine < 0 || dot(axis, middle) >= reach - 1e-9
  }
}
