// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// A 4:2:0 picture in memory.
final class BenchmarkPicture {
  let width, height, depth: Int
  let planes: [PlaneView]

  init(width: Int, height: Int, depth: Int) {
    (self.width, self.height, self.depth) = (width, height, depth)
    let bytes = depth > 8 ? 2 : 1
    planes = [(width, height), (width / 2, height / 2), (width / 2, height / 2)].map { size in
      let count = size.0 * size.1 * bytes
      let memory = UnsafeMutableRawPointer.allocate(byteCount: count, alignment: 64)
      memory.initializeMemory(as: UInt8.self, repeating: 0, count: count)
      return PlaneView(
        base: memory, stride: size.0 * bytes, rowBytes: size.0 * bytes, rows: size.1)
    }
  }

  deinit {
    for plane in planes { plane.base.deallocate() }
  }

  /// Returns noise with equal amplitude in each octave, which has about as much detail as a
  /// photograph.
  static func noise(width: Int, height: Int, depth: Int) -> BenchmarkPicture {
    let picture = BenchmarkPicture(width: width, height: height, depth: depth)
    var state: UInt64 = 1
    func random() -> Float {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Float(state >> 40) / Float(1 << 24) - 0.5
    }
    for plane in picture.planes {
      let columns = plane.rowBytes / (depth > 8 ? 2 : 1)
      var sum = [Float](repeating: 0, count: columns * plane.rows)
      for octave in 0..<9 {
        let step = 1 << octave
        let (across, down) = (columns / step + 2, plane.rows / step + 2)
        let values = (0..<across * down).map { _ in random() }
        for y in 0..<plane.rows {
          let (row, partY) = (y / step, Float(y % step) / Float(step))
          for x in 0..<columns {
            let (column, partX) = (x / step, Float(x % step) / Float(step))
            let corner = row * across + column
            let upper = values[corner] * (1 - partX) + values[corner + 1] * partX
            let lower =
              values[corner + across] * (1 - partX) + values[corner + across + 1] * partX
            sum[y * columns + x] += upper * (1 - partY) + lower * partY
          }
        }
      }
      let (middle, swing) = (Float(120 << (depth - 8)), Float(60 << (depth - 8)))
      let most = Float((1 << depth) - 1)
      for (index, value) in sum.enumerated() {
        let sample = min(max(value * swing + middle, 0), most).rounded()
        if depth > 8 {
          plane.base.storeBytes(of: UInt16(sample), toByteOffset: index * 2, as: UInt16.self)
        } else {
          plane.base.storeBytes(of: UInt8(sample), toByteOffset: index, as: UInt8.self)
        }
      }
    }
    return picture
  }

  func luma(_ x: Int, _ y: Int) -> Double {
    let row = planes[0].base + y * planes[0].stride
    return depth > 8
      ? Double(row.load(fromByteOffset: x * 2, as: UInt16.self))
      : Double(row.load(fromByteOffset: x, as: UInt8.self))
  }
}
