// SPDX-License-Identifier: MPL-2.0

import Reprojection
import StereoVideo

/// A picture of any format in memory, with some bytes of padding after each row.
final class TestPicture {
  let format: PictureFormat
  let width, height: Int
  let planes: [PlaneView]

  init(_ format: PictureFormat, width: Int, height: Int, padding: Int = 0) {
    self.format = format
    (self.width, self.height) = (width, height)
    planes = format.planes.map { plane in
      let columns = (width + plane.horizontalSubsampling - 1) / plane.horizontalSubsampling
      let rows = (height + plane.verticalSubsampling - 1) / plane.verticalSubsampling
      let rowBytes = columns * plane.components * plane.bytes
      let stride = rowBytes + padding
      let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * rows, alignment: 16)
      memory.initializeMemory(as: UInt8.self, repeating: 0xEE, count: stride * rows)
      return PlaneView(base: memory, stride: stride, rowBytes: rowBytes, rows: rows)
    }
  }

  deinit {
    for plane in planes { plane.base.deallocate() }
  }

  /// The samples of a plane in a row.
  func columns(_ plane: Int) -> Int {
    planes[plane].rowBytes / format.planes[plane].components / format.planes[plane].bytes
  }

  subscript(plane: Int, x: Int, y: Int, component: Int) -> Int {
    get {
      let layout = format.planes[plane]
      let place = (x * layout.components + component) * layout.bytes
      let row = planes[plane].base + y * planes[plane].stride
      return layout.bytes == 1
        ? Int(row.load(fromByteOffset: place, as: UInt8.self))
        : Int(row.loadUnaligned(fromByteOffset: place, as: UInt16.self)) >> layout.shift
    }
    set {
      let layout = format.planes[plane]
      let place = (x * layout.components + component) * layout.bytes
      let row = planes[plane].base + y * planes[plane].stride
      if layout.bytes == 1 {
        row.storeBytes(of: UInt8(newValue), toByteOffset: place, as: UInt8.self)
      } else {
        row.storeBytes(
          of: UInt16(newValue << layout.shift), toByteOffset: place, as: UInt16.self)
      }
    }
  }

  /// Sets every sample, from a value of 8 bits for its place.
  func fill(_ value: (_ plane: Int, _ x: Int, _ y: Int, _ component: Int) -> Double) {
    for (index, layout) in format.planes.enumerated() {
      for y in 0..<planes[index].rows {
        for x in 0..<columns(index) {
          for component in 0..<layout.components {
            let scaled = value(index, x, y, component) * Double(1 << (layout.depth - 8))
            self[index, x, y, component] = Int(
              min(max(scaled, 0), Double((1 << layout.depth) - 1)).rounded())
          }
        }
      }
    }
  }

  /// Detail of every size, as in a photograph. The same picture for every format: `components`
  /// counts luma and the two of chroma, or those of a pixel.
  func fillWithNoise() {
    fill { plane, x, y, component in
      let kind = plane + component
      let width = self.columns(plane)
      var sum = 0.0
      for octave in 0..<7 {
        let step = 1 << octave
        let (column, row) = (x / step, y / step)
        let (partX, partY) = (Double(x % step) / Double(step), Double(y % step) / Double(step))
        // Closes at the right edge where the width is a multiple.
        let next = ((column + 1) * step >= width) ? 0 : column + 1
        func hash(_ x: Int, _ y: Int) -> Double {
          let place: Int = x &* 7919 &+ y &* 104_729
          let which: Int = kind &* 1_299_709 &+ octave &* 15_485_863
          var h = UInt64(place &+ which)
          h = (h ^ (h >> 15)) &* 0x9E37_79B9_7F4A_7C15
          h ^= h >> 31
          return Double(h & 0xFFFF) / 65535 - 0.5
        }
        func across(_ row: Int) -> Double {
          let (left, right): (Double, Double) = (hash(column, row), hash(next, row))
          return left * (1 - partX) + right * partX
        }
        let (upper, lower): (Double, Double) = (across(row), across(row + 1))
        sum += upper * (1 - partY) + lower * partY
      }
      return 120 + 55 * sum
    }
  }

  /// The largest difference to another picture's samples, in steps of 8 bits.
  func largestDifference(_ other: TestPicture) -> Double {
    var largest = 0.0
    for (index, layout) in format.planes.enumerated() {
      let scale = Double(1 << (layout.depth - 8))
      for y in 0..<planes[index].rows {
        for x in 0..<columns(index) {
          for component in 0..<layout.components {
            largest = max(
              largest,
              abs(Double(self[index, x, y, component] - other[index, x, y, component])) / scale)
          }
        }
      }
    }
    return largest
  }
}
