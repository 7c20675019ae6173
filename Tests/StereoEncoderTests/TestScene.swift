// SPDX-License-Identifier: MPL-2.0

import StereoEncoder
import StereoVideo

/// Deterministic stereo pictures: textured planes that move, each at its own disparity. Another
/// `scene` is another set of textures.
struct TestScene {
  let width: Int
  let height: Int
  var bitDepth = 8

  /// For an encoder of its pictures, 30 a second, in which each eye is coded by itself.
  var configuration: StereoEncoderConfiguration {
    var configuration = StereoEncoderConfiguration(
      width: width, height: height, bitDepth: bitDepth, frameRate: .init(30, 1))
    configuration.interViewPrediction = .none
    return configuration
  }

  /// One eye's planes, tightly packed, luma before Cb before Cr.
  func samples(frame: Int, eye: Eye, scene: Int = 0, brightness: Int = 0) -> [UInt8] {
    let shift = eye == .left ? 0 : 3
    let layers: [(seed: UInt32, dx: Int, dy: Int, disparity: Int)] = [
      (0x51, 1, 0, 0), (0x93, -2, 1, 1), (0xC7, 3, 0, 2),
    ]
    var luma = [Int](repeating: 0, count: width * height)
    for (depth, layer) in layers.enumerated() {
      let seed = layer.seed &+ UInt32(scene) &* 7919
      let offsetX = frame * layer.dx + shift * layer.disparity
      let offsetY = frame * layer.dy
      for y in 0..<height {
        // Bands of rows belong to the nearer planes.
        guard depth == 0 || (y / (height / 4 + 1)) == depth else { continue }
        for x in 0..<width {
          luma[y * width + x] = 40 + Self.texture(x + offsetX, y + offsetY, seed) + brightness
        }
      }
    }
    let chroma = (0..<(width / 2 * (height / 2))).map { index in
      100 + (index % (width / 2) + frame + scene * 40) % 56
    }
    return pack(luma) + pack(chroma) + pack(chroma.map { 255 - $0 })
  }

  /// Smooth noise from 0 to 159.
  private static func texture(_ x: Int, _ y: Int, _ seed: UInt32) -> Int {
    let cell = 8
    let (column, row) = (floorDivide(x, cell), floorDivide(y, cell))
    let (fx, fy) = (x - column * cell, y - row * cell)
    let top = noise(column, row, seed) * (cell - fx) + noise(column + 1, row, seed) * fx
    let bottom = noise(column, row + 1, seed) * (cell - fx) + noise(column + 1, row + 1, seed) * fx
    return (top * (cell - fy) + bottom * fy) / (cell * cell)
  }

  private static func floorDivide(_ value: Int, _ by: Int) -> Int {
    value >= 0 ? value / by : -((by - 1 - value) / by)
  }

  private static func noise(_ x: Int, _ y: Int, _ seed: UInt32) -> Int {
    var hash = UInt32(truncatingIfNeeded: x) &* 0x85EB_CA6B
    hash ^= UInt32(truncatingIfNeeded: y) &* 0xC2B2_AE35
    hash = (hash ^ seed ^ hash >> 13) &* 0x27D4_EB2F
    return Int((hash ^ hash >> 15) % 160)
  }

  private func pack(_ plane: [Int]) -> [UInt8] {
    guard bitDepth > 8 else { return plane.map { UInt8(clamping: $0) } }
    return plane.flatMap { level -> [UInt8] in
      let sample = min(max(level, 0), 255) << 2
      return [UInt8(sample & 255), UInt8(sample >> 8)]
    }
  }

  /// The samples as a picture that owns them.
  func picture(_ samples: [UInt8]) throws -> Picture {
    let stride = bitDepth > 8 ? width * 2 : width
    let owner = SampleMemory(samples)
    let base = try UnsafeRawPointer(owner.bytes.baseAddress.orThrow())
    let cb = base + stride * height
    let cr = cb + stride / 2 * (height / 2)
    return Picture(
      luma: .init(address: base, stride: stride),
      cb: .init(address: cb, stride: stride / 2),
      cr: .init(address: cr, stride: stride / 2), owner: owner)
  }

  /// One eye's picture of one frame.
  func picture(frame: Int, eye: Eye, scene: Int = 0) throws -> Picture {
    try picture(samples(frame: frame, eye: eye, scene: scene))
  }
}

extension StereoEncoder {
  /// All access units of this many frames of `scene`, which end the stream.
  func encode(_ frameCount: Int, of scene: TestScene) throws -> [LayeredAccessUnit] {
    var units: [LayeredAccessUnit] = []
    for frame in 0..<frameCount {
      units += try encode(
        left: scene.picture(frame: frame, eye: .left),
        right: scene.picture(frame: frame, eye: .right), timestamp: Int64(frame))
    }
    return try units + finish()
  }
}

/// Memory that is overwritten when nothing owns it any more, so that a late reader is found out.
private final class SampleMemory: @unchecked Sendable {
  let bytes: UnsafeMutableRawBufferPointer

  init(_ samples: [UInt8]) {
    bytes = .allocate(byteCount: samples.count, alignment: 64)
    bytes.copyBytes(from: samples)
  }

  deinit {
    bytes.initializeMemory(as: UInt8.self, repeating: 0xAA)
    bytes.deallocate()
  }
}

extension Optional {
  struct Missing: Error {}

  func orThrow() throws -> Wrapped {
    guard let self else { throw Missing() }
    return self
  }
}
