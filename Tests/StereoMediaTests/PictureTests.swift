// SPDX-License-Identifier: MPL-2.0

import StereoMedia
import Testing

/// ``Picture``, ``MutablePicture`` and ``PicturePool``.
struct PictureTests {
  private func drawn(
    _ format: PixelFormat, _ width: Int, _ height: Int, colour: ColourInformation? = nil
  ) throws -> Picture {
    let pool = try PicturePool(format: format, width: width, height: height, colour: colour)
    var picture = try pool.take()
    for plane in 0..<picture.planeCount {
      try picture.withPlane(plane) { bytes, layout in
        for row in 0..<layout.rows {
          for column in 0..<layout.rowBytes {
            bytes.storeBytes(
              of: UInt8(truncatingIfNeeded: plane * 50 + row * 7 + column),
              toByteOffset: row * layout.stride + column, as: UInt8.self)
          }
        }
      }
    }
    return Picture(picture)
  }

  @Test("drawn pixels are the picture's, row by row")
  func drawing() throws {
    let picture = try drawn(.i420, 33, 17)
    #expect((picture.width, picture.height, picture.planeCount) == (33, 17, 3))
    #expect(picture.format == .i420 && picture.pixelShape == 1)
    let layouts = try (0..<3).map { try picture.withPlane($0) { $1 } }
    #expect(layouts.map(\.rowBytes) == [33, 17, 17] && layouts.map(\.rows) == [17, 9, 9])
    #expect(layouts.allSatisfy { $0.stride >= $0.rowBytes })
    let pixels = try picture.pixels()
    #expect(pixels.count == 33 * 17 + 2 * 17 * 9)
    #expect(pixels[33] == 7 && pixels[33 * 17] == 50)
    #expect(same(try picture.copied().pixels(), pixels))
    let error = #expect(throws: StereoMediaError.self) { try picture.withPlane(3) { _, _ in } }
    #expect(error?.code == .outOfRange)
    #expect(throws: StereoMediaError.self) { try picture.withPlane(-1) { _, _ in } }
  }

  @Test("an error of the closure is rethrown")
  func throwing() throws {
    struct Stop: Error {}
    let picture = try drawn(.rgb, 4, 4)
    #expect(throws: Stop.self) { try picture.withPlane(0) { _, _ in throw Stop() } }
  }

  @Test("colorimetry is reported, and conversion follows it")
  func colours() throws {
    let wide = ColourInformation(
      primaries: 9, transferCharacteristics: 16, matrixCoefficients: 9, fullRange: false)
    let picture = try drawn(.i420With10Bits, 64, 32, colour: wide)
    #expect(picture.colour == wide)
    #expect(try picture.converted(to: .i420).colour == wide)
    let rgb = try picture.converted(to: .rgba).colour
    #expect(rgb.matrixCoefficients == 0 && rgb.primaries == 9 && rgb.fullRange == true)
    // The same numbers mean another colour in another matrix.
    let narrow = ColourInformation(
      primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1, fullRange: false)
    let other = try drawn(.i420With10Bits, 64, 32, colour: narrow)
    let pixels = try [other, picture].map { try $0.converted(to: .rgba).pixels() }
    #expect(!same(pixels[0], pixels[1]))
  }

  @Test("impossible sizes and formats are refused")
  func hostile() throws {
    for (format, width, height) in [
      ("I420", 0, 1), ("I420", 1, 0), ("I420", -5, 5), ("I420", .max, 5), ("I420", 40_000, 2),
      ("nothing", 4, 4), ("", 4, 4), ("ENCODED", 4, 4), ("RGBA ! fakesink", 4, 4),
    ] as [(PixelFormat, Int, Int)] {
      let error = #expect(throws: StereoMediaError.self) {
        try PicturePool(format: format, width: width, height: height)
      }
      #expect(error?.code == .unsupportedFormat, "\(format) \(width) \(height)")
    }
  }

  @Test("a pool reuses its memory, and grows with the pictures in use")
  func pool() throws {
    let pool = try PicturePool(format: .gray8, width: 64, height: 64)
    var held: [Picture] = []
    for value in 0..<64 as Range<UInt8> {
      var picture = try pool.take()
      try picture.withPlane(0) { bytes, layout in
        for place in 0..<layout.stride * layout.rows {
          bytes.storeBytes(of: value, toByteOffset: place, as: UInt8.self)
        }
      }
      held.append(Picture(picture))
    }
    for (value, picture) in held.enumerated() {
      #expect(try picture.pixels().allSatisfy { $0 == UInt8(value) })
    }
  }
}
