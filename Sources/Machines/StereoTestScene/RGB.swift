// SPDX-License-Identifier: MPL-2.0

/// A colour of the scene, each part from 0 to 255; gamma-coded with the BT.709 primaries.
struct RGB: Sendable, Equatable {
  var red: Int
  var green: Int
  var blue: Int

  init(_ red: Int, _ green: Int, _ blue: Int) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// This colour at `amount` 0, the other at `amount` 256.
  func mixed(with other: RGB, _ amount: Int) -> RGB {
    let amount = min(max(amount, 0), 256)
    func mix(_ from: Int, _ to: Int) -> Int { (from * (256 - amount) + to * amount) >> 8 }
    return RGB(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  /// Each part times `factor` / 256.
  func scaled(_ factor: Int) -> RGB {
    RGB((red * factor) >> 8, (green * factor) >> 8, (blue * factor) >> 8)
  }

  func lightened(_ amount: Int) -> RGB {
    RGB(red + amount, green + amount, blue + amount)
  }

  /// The byte that stands for this colour in one channel: full range for red, green and blue,
  /// limited range for luma and chroma (BT.709 3.5, 3.6).
  func byte(_ channel: Channel) -> UInt8 {
    let r = min(max(red, 0), 255)
    let g = min(max(green, 0), 255)
    let b = min(max(blue, 0), 255)
    let value =
      switch channel {
      case .luma: 16 + ((11966 * r + 40254 * g + 4064 * b + 32768) >> 16)
      case .cb: 128 + ((28784 * b - 6596 * r - 22188 * g + 32768) >> 16)
      case .cr: 128 + ((28784 * r - 26145 * g - 2639 * b + 32768) >> 16)
      case .red: r
      case .green: g
      case .blue: b
      }
    return UInt8(truncatingIfNeeded: value)
  }
}

/// One number of a pixel.
enum Channel: Int, Sendable, CaseIterable {
  case luma, cb, cr, red, green, blue

  /// The channel has one sample for each 2 x 2 pixels.
  var isSubsampled: Bool { self == .cb || self == .cr }
}
