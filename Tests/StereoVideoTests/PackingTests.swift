// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Testing

/// Both eyes' planes in one, byte by byte.
struct PackingTests {
  private func pack(
    _ packing: PlanePacking, _ first: [[UInt8]], _ second: [[UInt8]],
    _ format: SampleFormat = .bytes
  ) -> [[UInt8]] {
    let bytes = format.bytesPerPixel
    let size = packing.size(ofEye: first[0].count / bytes, first.count)
    return Self.withPlane(first) { one in
      Self.withPlane(second) { other in
        var rows = [[UInt8]](
          repeating: [UInt8](repeating: 0xEE, count: size.width * bytes), count: size.height)
        rows = Self.withPlane(rows) { target in
          packing.pack(one, other, into: target, format)
          return Self.rows(target)
        }
        return rows
      }
    }
  }

  private static func withPlane<Result>(_ rows: [[UInt8]], _ body: (PlaneView) -> Result) -> Result
  {
    let stride = rows[0].count + 3
    let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * rows.count, alignment: 16)
    defer { memory.deallocate() }
    for (index, row) in rows.enumerated() {
      (memory + index * stride).copyMemory(from: row, byteCount: row.count)
    }
    return body(
      PlaneView(base: memory, stride: stride, rowBytes: rows[0].count, rows: rows.count))
  }

  private static func rows(_ plane: PlaneView) -> [[UInt8]] {
    (0..<plane.rows).map {
      Array(UnsafeRawBufferPointer(start: plane.base + $0 * plane.stride, count: plane.rowBytes))
    }
  }

  private let left: [[UInt8]] = [[1, 3, 5, 7], [10, 20, 30, 40]]
  private let right: [[UInt8]] = [[101, 103, 105, 107], [110, 120, 130, 140]]

  @Test("full frames hold every pixel of both eyes")
  func full() {
    #expect(
      pack(.sideBySide(half: false), left, right) == [left[0] + right[0], left[1] + right[1]])
    #expect(pack(.topBottom(half: false), left, right) == left + right)
    #expect(
      pack(.rowInterleaved(half: false), left, right) == [left[0], right[0], left[1], right[1]])
  }

  @Test("half frames hold the means of two pixels, or every other row")
  func half() {
    #expect(
      pack(.sideBySide(half: true), left, right) == [[2, 6, 102, 106], [15, 35, 115, 135]])
    #expect(
      pack(.topBottom(half: true), left, right) == [[6, 12, 18, 24], [106, 112, 118, 124]])
    #expect(pack(.rowInterleaved(half: true), left, right) == [left[0], right[1]])
  }

  @Test("half frames of odd sizes have no pixel that is not set")
  func oddSizes() {
    let eye: [[UInt8]] = [[2, 4, 9], [2, 4, 9], [6, 8, 9]]
    let packed = pack(.sideBySide(half: true), eye, eye)
    #expect(packed == [[3, 3, 9], [3, 3, 9], [7, 7, 9]])
    #expect(pack(.topBottom(half: true), eye, eye) == [[2, 4, 9], [2, 4, 9], [6, 8, 9]])
  }

  @Test("pixels of several bytes stay whole")
  func widePixels() {
    let words: [[UInt8]] = [[0x10, 0x01, 0x30, 0x01]]
    #expect(pack(.sideBySide(half: true), words, words, .words) == [[0x20, 0x01, 0x20, 0x01]])
    let pixels: [[UInt8]] = [[10, 20, 30, 40, 12, 24, 36, 48]]
    #expect(
      pack(.sideBySide(half: true), pixels, pixels, .quadruples)
        == [[11, 22, 33, 44, 11, 22, 33, 44]])
  }

  @Test("interleaved samples are halved separately, and high words have zeros below their value")
  func pairs() {
    let pairs: [[UInt8]] = [[10, 200, 12, 204], [20, 100, 24, 104]]
    #expect(
      pack(.sideBySide(half: true), pairs, pairs, .bytePairs)
        == [[11, 202, 11, 202], [22, 102, 22, 102]])
    #expect(
      pack(.topBottom(half: true), pairs, pairs, .bytePairs)
        == [[15, 150, 18, 154], [15, 150, 18, 154]])
    // 1 and 2 in the high ten bits make 2, and 1 and 1 make 1.
    func words(_ values: [UInt16]) -> [UInt8] {
      values.flatMap { [UInt8(truncatingIfNeeded: $0 << 6), UInt8($0 >> 2)] }
    }
    let high = [words([1, 2, 1023, 1020])]
    #expect(
      pack(.sideBySide(half: true), high, high, .highWords) == [words([2, 1022, 2, 1022])])
    #expect(
      pack(.sideBySide(half: true), high, high, .highWordPairs)
        == [words([512, 511, 512, 511])])
    #expect(
      pack(.topBottom(half: true), high + high, high + high, .highWords) == high + high)
  }

  @Test("pairs are taken apart")
  func separation() {
    func taken(_ place: Int, _ row: [UInt8], _ format: SampleFormat) -> [UInt8] {
      Self.withPlane([row]) { pairs in
        Self.withPlane([[UInt8](repeating: 0xEE, count: row.count / 2)]) { target in
          target.takeSample(place, ofPairsIn: pairs, format)
          return Self.rows(target)[0]
        }
      }
    }
    #expect(taken(0, [1, 2, 3, 4], .bytePairs) == [1, 3])
    #expect(taken(1, [1, 2, 3, 4], .bytePairs) == [2, 4])
    #expect(taken(1, [0, 0, 0x40, 0x80], .highWordPairs) == [0x01, 0x02])
    let luma = Self.withPlane([[0xC0, 0xFF] as [UInt8]]) { high in
      Self.withPlane([[0, 0]]) { target in
        target.copyHighWords(of: high)
        return Self.rows(target)[0]
      }
    }
    #expect(luma == [0xFF, 0x03])
  }

  @Test("an anaglyph mixes the eyes by its matrices")
  func anaglyph() {
    func mix(_ method: Anaglyph.Method, _ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
      Self.withPlane([left]) { one in
        Self.withPlane([right]) { other in
          Self.withPlane([[0, 0, 0, 0]]) { target in
            Anaglyph(method, places: (2, 1, 0)).mix(one, other, into: target)
            return Self.rows(target)[0]
          }
        }
      }
    }
    // In the order blue, green, red.
    #expect(mix(.redCyanColor, [10, 20, 30, 0], [40, 50, 60, 0]) == [40, 50, 30, 255])
    for method in Anaglyph.Method.allCases {
      #expect(mix(method, [0, 0, 0, 0], [0, 0, 0, 0]) == [0, 0, 0, 255], "\(method)")
      let white = mix(method, [255, 255, 255, 0], [255, 255, 255, 0])
      #expect(white.allSatisfy { $0 > 245 }, "\(method) \(white)")
    }
    // Dubois: the left eye's red gives 0.437 red and next to nothing else.
    #expect(mix(.redCyanDubois, [0, 0, 200, 0], [0, 0, 0, 0]) == [0, 0, 87, 255])
  }
}
