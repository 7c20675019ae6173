// SPDX-License-Identifier: MPL-2.0

/// One channel of a picture in memory that something else owns. Everything drawn is clipped to
/// the picture; coordinates are pixels of the whole picture in each channel.
///
/// A sample of a subsampled channel lies at the even pixel of its 2 x 2 pixels.
struct Canvas<Sample: FixedWidthInteger & UnsignedInteger> {
  let base: UnsafeMutableRawPointer
  /// Bytes from one row to the next.
  let stride: Int
  /// Bytes from one sample to the next.
  let step: Int
  /// In samples of this channel.
  let width: Int
  let height: Int
  let isSubsampled: Bool

  /// Ten bits hold an eight-bit value times four.
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

  /// The samples, from `low` on and below `high`, of pixels `from` up to `to`.
  private func samples(from: Int, to: Int, limit: Int) -> Range<Int> {
    let first = max(0, (from + spacing - 1) / spacing)
    let end = min(limit, (to + spacing - 1) / spacing)
    return first..<max(first, end)
  }

  /// Whether a pixel of the picture has a sample of its own.
  @inline(__always)
  func hasSample(x: Int, y: Int) -> Bool { !isSubsampled || (x | y) & 1 == 0 }

  /// Replaces the sample of a pixel within the picture, which has one.
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

  /// Mixes a rectangle of pixels with one value; alpha 255 replaces.
  func fill(x: Int, y: Int, width: Int, height: Int, value: UInt8, alpha: UInt8 = 255) {
    let columns = samples(from: x, to: x + width, limit: self.width)
    for row in samples(from: y, to: y + height, limit: self.height) {
      let target = base + row * stride
      for column in columns { blend(value, alpha, target + column * step) }
    }
  }
}
