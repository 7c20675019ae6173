// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo

/// Pictures made before the measurement: a panning textured background, three moving textured
/// objects and a little noise, like that of a camera. Playing alternates between forwards and
/// backwards, so that a long video needs little memory.
final class BenchmarkScene: @unchecked Sendable {
  let width: Int
  let height: Int
  private var frames: [(left: UnsafeMutableRawPointer, right: UnsafeMutableRawPointer)] = []
  let pictureCount: Int
  private static let canvasSide = 2048
  private static let mostFrames = 32

  init(width: Int, height: Int, pictureCount: Int) {
    self.pictureCount = pictureCount
    self.width = width
    self.height = height
    var random = UInt32(1)
    let canvases = (0..<4).map { _ in Self.canvas(&random) }
    for frame in 0..<min(pictureCount, Self.mostFrames) {
      frames.append(
        (
          picture(frame, .left, canvases, &random), picture(frame, .right, canvases, &random)
        ))
    }
  }

  deinit {
    for frame in frames {
      frame.left.deallocate()
      frame.right.deallocate()
    }
  }

  func picture(_ index: Int, _ eye: Eye) -> Picture {
    let place = index % (2 * frames.count)
    let frame = frames[min(place, 2 * frames.count - 1 - place)]
    let base = UnsafeRawPointer(eye == .left ? frame.left : frame.right)
    let cb = base + width * height
    return Picture(
      luma: .init(address: base, stride: width),
      cb: .init(address: cb, stride: width / 2),
      cr: .init(address: cb + width / 2 * (height / 2), stride: width / 2), owner: self)
  }

  private func picture(
    _ frame: Int, _ eye: Eye, _ canvases: [[UInt8]], _ random: inout UInt32
  ) -> UnsafeMutableRawPointer {
    let size = width * height * 3 / 2
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
    let samples = memory.bindMemory(to: UInt8.self, capacity: size)
    let mask = Self.canvasSide - 1
    for y in 0..<height {
      let canvas = canvases[0]
      let row = ((y + frame) & mask) * Self.canvasSide
      for x in 0..<width {
        random = random &* 1_664_525 &+ 1_013_904_223
        let noise = UInt8(truncatingIfNeeded: random >> 30)
        samples[y * width + x] = canvas[row + (x + frame * 3) & mask] &+ noise
      }
    }
    for object in 1...3 {
      let disparity = eye == .left ? 0 : object * 6
      let left = width / 4 * (object - 1) + frame * object - disparity
      let top = height / 5 * object - frame * (object - 2)
      for y in max(0, top)..<min(height, top + height / 4) {
        for x in max(0, left)..<min(width, left + width / 5) {
          samples[y * width + x] =
            canvases[object][((y - top) & mask) * Self.canvasSide + (x - left) & mask]
        }
      }
    }
    let half = width / 2
    for y in 0..<(height / 2) {
      for x in 0..<half {
        let level = UInt8(truncatingIfNeeded: 112 + ((x + frame) / 16 + y / 16) % 32)
        samples[width * height + y * half + x] = level
        samples[width * height + half * (height / 2) + y * half + x] = 255 - level
      }
    }
    return memory
  }

  /// Returns noise of several octaves, so that there is detail of every size.
  private static func canvas(_ random: inout UInt32) -> [UInt8] {
    var canvas = [UInt8](repeating: 40, count: canvasSide * canvasSide)
    for (cell, amplitude) in [(128, 80), (32, 50), (8, 30), (2, 12)] {
      let side = canvasSide / cell
      let lattice = (0..<(side * side)).map { _ -> Int in
        random = random &* 1_664_525 &+ 1_013_904_223
        return Int(random >> 16) % amplitude
      }
      for y in 0..<canvasSide {
        let (row, fy) = (y / cell, y % cell)
        let next = (row + 1) % side
        for x in 0..<canvasSide {
          let (column, fx) = (x / cell, x % cell)
          let right = (column + 1) % side
          let top = lattice[row * side + column] * (cell - fx) + lattice[row * side + right] * fx
          let bottom =
            lattice[next * side + column] * (cell - fx) + lattice[next * side + right] * fx
          canvas[y * canvasSide + x] &+= UInt8(
            truncatingIfNeeded: (top * (cell - fy) + bottom * fy) / (cell * cell))
        }
      }
    }
    return canvas
  }
}
