// SPDX-License-Identifier: MPL-2.0

/// One channel of a picture, in memory that the canvas does not own. Everything drawn is clipped to
/// the picture; coordinates are always pixels of the whole picture.
///
/// The samples of a subsampled channel are those of the pixels with even coordinates.
struct Canvas<Sample: FixedWidthInteger & UnsignedInteger> {
  let base: UnsafeMutableRawPointer
  /// Bytes from one row to the next.
  let stride: Int
  /// Bytes from one sample to the next.
  let step: Int
  /// Size in samples of this channel.
  let width: Int
  let height: Int
  let isSubsampled: Bool

  /// Ten-bit samples are eight-bit values times four.
  @inline(__always)
  private var shift: Int { Sample.bitWidth > 8 ? 2 : 0 }

  /// Pixels from one sample to the next.
  @inline(__always)
  var spacing: Int { isSubsampled ? 2 : 1 }

  @inline(__always)
  private func store(_ value: UInt8, _ address: UnsafeMutableRawPointer) {
    address.storeBytes(of: (Sample(value) << shift).littleEndian, as: Sample.self)
  }

  @inline(__always)
  private func blend(_ value: UInt8, _ alpha: UInt8, _ address: UnsafeMutableRawPointer) {
    switch alpha {
    case 0: break
    case 255: store(value, address)
    default:
      let old = Int(Sample(littleEndian: address.loadUnaligned(as: Sample.self)) >> shift)
      let mixed = (old * (255 - Int(alpha)) + Int(value) * Int(alpha) + 127) / 255
      store(UInt8(truncatingIfNeeded: mixed), address)
    }
  }

  /// Returns the samples, at most `limit`, of the pixels from `from` up to but not including `to`.
  private func samples(from: Int, to: Int, limit: Int) -> Range<Int> {
    let first = max(0, (from + spacing - 1) / spacing)
    let end = min(limit, (to + spacing - 1) / spacing)
    return first..<max(first, end)
  }

  /// Whether a pixel of the picture has its own sample.
  @inline(__always)
  func hasSample(x: Int, y: Int) -> Bool { !isSubsampled || (x | y) & 1 == 0 }

  /// Replaces the sample of a pixel that is inside the picture and has one.
  @inline(__always)
  func set(x: Int, y: Int, _ value: UInt8) {
    store(value, base + y / spacing * stride + x / spacing * step)
  }

  /// Replaces a whole row of samples; `source` must have `width` bytes.
  func copyRow(_ row: Int, from source: UnsafePointer<UInt8>) {
    let target = base + row * stride
    if step == 1 {
      target.copyMemory(from: source, byteCount: width)
    } else if step == MemoryLayout<Sample>.size {
      for x in 0..<width { store(source[x], target + x * MemoryLayout<Sample>.size) }
    } else {
      for x in 0..<width { store(source[x], target + x * step) }
    }
  }

  /// Draws a sprite with its upper left pixel at (x, y).
  func blend(_ sprite: Sprite, channel: Channel, x: Int, y: Int) {
    let columns = samples(from: x, to: x + sprite.width, limit: width)
    sprite.withPixels(channel) { values, alphas in
      for row in samples(from: y, to: y + sprite.height, limit: height) {
        let source = (row * spacing - y) * sprite.width - x
        let target = base + row * stride
        for column in columns {
          let index = source + column * spacing
          blend(values[index], alphas[index], target + column * step)
        }
      }
    }
  }

  /// Blends a rectangle of pixels with a value; alpha 255 replaces the pixels.
  func fill(x: Int, y: Int, width: Int, height: Int, value: UInt8, alpha: UInt8 = 255) {
    let columns = samples(from: x, to: x + width, limit: self.width)
    for row in samples(from: y, to: y + height, limit: self.height) {
      let target = base + row * stride
      for column in columns { blend(value, alpha, target + column * step) }
    }
  }
}

/// A colour of the scene, each component from 0 to 255, gamma-encoded with the BT.709 primaries.
struct RGB: Sendable, Equatable {
  var red: Int
  var green: Int
  var blue: Int

  init(_ red: Int, _ green: Int, _ blue: Int) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Returns a mixture: this colour at `amount` 0, the other at `amount` 256.
  func mixed(with other: RGB, _ amount: Int) -> RGB {
    let amount = min(max(amount, 0), 256)
    func mix(_ from: Int, _ to: Int) -> Int { (from * (256 - amount) + to * amount) >> 8 }
    return RGB(mix(red, other.red), mix(green, other.green), mix(blue, other.blue))
  }

  /// Returns the colour with each component multiplied by `factor` / 256.
  func scaled(_ factor: Int) -> RGB {
    RGB((red * factor) >> 8, (green * factor) >> 8, (blue * factor) >> 8)
  }

  func lightened(_ amount: Int) -> RGB {
    RGB(red + amount, green + amount, blue + amount)
  }

  /// Returns the value of this colour in one channel: full range for red, green and blue, limited
  /// range for luma and chroma (BT.709 3.5, 3.6).
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

/// One component of a pixel.
enum Channel: Int, Sendable, CaseIterable {
  case luma, cb, cr, red, green, blue

  /// Whether the channel has one sample per 2 x 2 pixels.
  var isSubsampled: Bool { self == .cb || self == .cr }
}

/// Noise from a hash of integer coordinates, without state or floating point.
enum IntegerNoise {
  /// Returns 32 well-mixed bits for a position.
  static func hash(_ x: Int, _ y: Int, seed: UInt32) -> UInt32 {
    var bits = UInt32(truncatingIfNeeded: x) &* 0x9E37_79B1
    bits ^= UInt32(truncatingIfNeeded: y) &* 0x85EB_CA77
    bits ^= seed &* 0xC2B2_AE3D
    bits ^= bits >> 16
    bits = bits &* 0x7FEB_352D
    bits ^= bits >> 15
    bits = bits &* 0x846C_A68B
    return bits ^ (bits >> 16)
  }

  /// Returns one row of smooth noise, starting at x = 0. Values are from 0 to 255, with features of
  /// about `cellWidth` x `cellHeight` pixels (both at least 1).
  static func row(
    _ y: Int, count: Int, cellWidth: Int, cellHeight: Int, seed: UInt32
  ) -> [Int] {
    let cellY = y / cellHeight
    let down = smooth(y % cellHeight, of: cellHeight)
    func edge(_ cellX: Int) -> Int {
      let top = Int(hash(cellX, cellY, seed: seed) & 255)
      let bottom = Int(hash(cellX, cellY + 1, seed: seed) & 255)
      return top * (256 - down) + bottom * down
    }
    let across = (0..<cellWidth).map { smooth($0, of: cellWidth) }
    var values = [Int](repeating: 0, count: count)
    var left = edge(0)
    var x = 0
    var cellX = 0
    while x < count {
      let right = edge(cellX + 1)
      for step in 0..<min(cellWidth, count - x) {
        values[x + step] = (left * (256 - across[step]) + right * across[step]) >> 16
      }
      left = right
      x += cellWidth
      cellX += 1
    }
    return values
  }

  /// Returns the smooth step 3t² - 2t³ of `part` / `whole`, from 0 to 256.
  private static func smooth(_ part: Int, of whole: Int) -> Int {
    let t = part * 256 / whole
    return (t * t * (768 - 2 * t)) >> 16
  }
}

/// Returns the largest integer whose square is at most `value`; 0 for negative values.
func integerSquareRoot(_ value: Int) -> Int {
  guard value > 0 else { return 0 }
  var root = 1 << ((Int.bitWidth - value.leadingZeroBitCount + 1) / 2)
  while true {
    let next = (root + value / root) / 2
    if next >= root { return root }
    root = next
  }
}
