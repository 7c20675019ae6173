// SPDX-License-Identifier: MPL-2.0

import Synchronization

/// Memory for copies of pictures of one size, which is used again when a copy is let go of: fresh pages
/// take longer than the copying.
final class PicturePool: Sendable {
  /// The planes of one picture.
  private final class Memory: @unchecked Sendable {
    let address: UnsafeMutableRawPointer

    init(byteCount: Int) {
      address = .allocate(byteCount: byteCount, alignment: 64)
    }

    deinit { address.deallocate() }
  }

  /// Memory in use, until nobody holds this.
  private final class Loan: Sendable {
    let memory: Memory
    let pool: PicturePool

    init(_ memory: Memory, of pool: PicturePool) {
      self.memory = memory
      self.pool = pool
    }

    deinit { pool.free.withLock { $0.append(memory) } }
  }

  private let height: Int
  /// What a row holds, and how far the rows of luma and of chroma are apart, all in bytes.
  private let rowSize: Int
  private let stride: Int
  private let chromaStride: Int
  private var byteCount: Int { (stride + chromaStride) * height }
  private let free = Mutex<[Memory]>([])

  /// - Parameters: of the luma plane, in samples; both even.
  init(width: Int, height: Int, bytesPerSample: Int) {
    self.height = height
    rowSize = width * bytesPerSample
    stride = (rowSize + 63) & ~63
    chromaStride = (rowSize / 2 + 63) & ~63
  }

  /// The same picture in memory of its own, so that the caller's is free.
  func copy(_ picture: Picture) -> Picture {
    withExtendedLifetime(picture.owner) { copy(picture.luma, picture.cb, picture.cr) }
  }

  /// A picture of these planes, in memory of its own.
  func copy(_ luma: Picture.Plane, _ cb: Picture.Plane, _ cr: Picture.Plane) -> Picture {
    let memory = free.withLock { $0.popLast() } ?? Memory(byteCount: byteCount)
    let cbStart = memory.address + stride * height
    let crStart = cbStart + chromaStride * (height / 2)
    return Picture(
      luma: copy(luma, to: memory.address, rows: height, size: rowSize, stride: stride),
      cb: copy(cb, to: cbStart, rows: height / 2, size: rowSize / 2, stride: chromaStride),
      cr: copy(cr, to: crStart, rows: height / 2, size: rowSize / 2, stride: chromaStride),
      owner: Loan(memory, of: self))
  }

  /// A picture whose samples are all 0.
  func flat() -> Picture {
    let memory = Memory(byteCount: byteCount)
    memory.address.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return Picture(
      luma: Picture.Plane(address: memory.address, stride: stride),
      cb: Picture.Plane(address: memory.address, stride: chromaStride),
      cr: Picture.Plane(address: memory.address, stride: chromaStride),
      owner: memory)
  }

  private func copy(
    _ plane: Picture.Plane, to start: UnsafeMutableRawPointer, rows: Int, size: Int, stride: Int
  ) -> Picture.Plane {
    for row in 0..<rows {
      (start + row * stride).copyMemory(
        from: plane.address + row * plane.stride, byteCount: size)
    }
    return Picture.Plane(address: start, stride: stride)
  }
}
