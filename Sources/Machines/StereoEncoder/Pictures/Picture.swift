// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Synchronization

/// One eye's raw picture, planar 4:2:0.
///
/// At 8 bits, a sample is one byte (`I420`); at 10 bits it is two, least significant first, with
/// the value in the low ten bits (`I420_10LE`).
///
/// The planes are in memory of the caller's, which an encoder may still read after `encode` has
/// returned. It keeps `owner` until it no longer needs the memory, and may release it on another
/// thread. The memory must not change meanwhile, which is what makes a picture Sendable.
public struct Picture: @unchecked Sendable {
  /// A plane: rows of samples, `stride` bytes apart.
  public struct Plane {
    /// The first sample of the top row.
    public let address: UnsafeRawPointer
    /// The distance from one row to the next, in bytes.
    public let stride: Int

    /// Creates a plane from the address of its first sample and the distance of its rows in bytes.
    public init(address: UnsafeRawPointer, stride: Int) {
      self.address = address
      self.stride = stride
    }
  }

  /// The luma plane, of the full size.
  public let luma: Plane
  /// The Cb plane, of half the width and height.
  public let cb: Plane
  /// The Cr plane, of half the width and height.
  public let cr: Plane
  /// The object that keeps the memory valid and unchanged for as long as it lives.
  public let owner: any AnyObject & Sendable

  /// Creates a picture in memory that is valid and unchanged for as long as `owner` lives.
  public init(luma: Plane, cb: Plane, cr: Plane, owner: any AnyObject & Sendable) {
    self.luma = luma
    self.cb = cb
    self.cr = cr
    self.owner = owner
  }
}

/// The layout of rows that the encoder's configuration requires.
struct PictureLayout {
  private let width: Int
  private let height: Int
  private let bytesPerSample: Int

  init(_ configuration: StereoEncoderConfiguration) {
    width = configuration.width
    height = configuration.height
    bytesPerSample = configuration.bitDepth > 8 ? 2 : 1
  }

  /// Returns a pool for copies of such pictures.
  func pool() -> PicturePool {
    PicturePool(width: width, height: height, bytesPerSample: bytesPerSample)
  }

  /// Throws `picture` if x265 would read beyond a row, or start in the middle of a sample.
  func check(_ picture: Picture, eye: Eye) throws(StereoEncoderError) {
    try check(picture.luma, samples: width, name: "luma", eye: eye)
    try check(picture.cb, samples: width / 2, name: "Cb", eye: eye)
    try check(picture.cr, samples: width / 2, name: "Cr", eye: eye)
  }

  private func check(
    _ plane: Picture.Plane, samples: Int, name: String, eye: Eye
  ) throws(StereoEncoderError) {
    let row = samples * bytesPerSample
    guard plane.stride >= row, plane.stride <= Int(Int32.max) else {
      throw .picture(
        eye: eye,
        reason: "a row of \(name) needs \(row) bytes, and rows are \(plane.stride) bytes apart")
    }
    guard plane.stride.isMultiple(of: bytesPerSample),
      UInt(bitPattern: plane.address).isMultiple(of: UInt(bytesPerSample))
    else {
      throw .picture(
        eye: eye, reason: "\(name) is not aligned to \(bytesPerSample) bytes")
    }
  }
}

/// A pool of memory for copies of pictures of one size. Memory is used again when a copy is
/// released, because touching fresh pages takes longer than copying.
final class PicturePool: Sendable {
  /// The planes of one picture.
  private final class Memory: @unchecked Sendable {
    let address: UnsafeMutableRawPointer

    init(byteCount: Int) {
      address = .allocate(byteCount: byteCount, alignment: 64)
    }

    deinit { address.deallocate() }
  }

  /// Memory in use, which returns to the pool when this is released.
  private final class PooledMemory: Sendable {
    let memory: Memory
    let pool: PicturePool

    init(_ memory: Memory, of pool: PicturePool) {
      self.memory = memory
      self.pool = pool
    }

    deinit { pool.free.withLock { $0.append(memory) } }
  }

  private let height: Int
  /// The size of a luma row, and the distances between rows of luma and of chroma, in bytes.
  private let rowSize: Int
  private let stride: Int
  private let chromaStride: Int
  private var byteCount: Int { (stride + chromaStride) * height }
  private let free = Mutex<[Memory]>([])

  /// Creates a pool. The width and height are those of the luma plane, in samples; both are even.
  init(width: Int, height: Int, bytesPerSample: Int) {
    self.height = height
    rowSize = width * bytesPerSample
    stride = (rowSize + 63) & ~63
    chromaStride = (rowSize / 2 + 63) & ~63
  }

  /// Returns a copy of a picture, so that the caller's memory is free.
  func copy(_ picture: Picture) -> Picture {
    withExtendedLifetime(picture.owner) { copy(picture.luma, picture.cb, picture.cr) }
  }

  /// Returns a picture with copies of these planes.
  func copy(_ luma: Picture.Plane, _ cb: Picture.Plane, _ cr: Picture.Plane) -> Picture {
    let memory = free.withLock { $0.popLast() } ?? Memory(byteCount: byteCount)
    let cbStart = memory.address + stride * height
    let crStart = cbStart + chromaStride * (height / 2)
    return Picture(
      luma: copy(luma, to: memory.address, rows: height, size: rowSize, stride: stride),
      cb: copy(cb, to: cbStart, rows: height / 2, size: rowSize / 2, stride: chromaStride),
      cr: copy(cr, to: crStart, rows: height / 2, size: rowSize / 2, stride: chromaStride),
      owner: PooledMemory(memory, of: self))
  }

  /// Returns a picture whose samples are all 0.
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
