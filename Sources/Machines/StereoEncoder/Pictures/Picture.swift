// SPDX-License-Identifier: MPL-2.0

import StereoVideo
import Synchronization

/// One eye's raw picture, planar 4:2:0.
///
/// At 8 bits a sample is one byte (`I420`); at 10 bits it is two, least significant first, the value
/// in the low ten bits (`I420_10LE`).
///
/// The planes lie in memory of the caller's, which an encoder reads while the caller goes on. It
/// holds `owner` until it needs the memory no more, and may let go of it on another thread. The memory
/// does not change meanwhile, which is what makes a picture Sendable.
public struct Picture: @unchecked Sendable {
  /// One plane: rows of samples, each `stride` bytes after the one above.
  public struct Plane {
    /// The first sample of the top row.
    public let address: UnsafeRawPointer
    /// Bytes from one row to the next.
    public let stride: Int

    public init(address: UnsafeRawPointer, stride: Int) {
      self.address = address
      self.stride = stride
    }
  }

  public let luma: Plane
  public let cb: Plane
  public let cr: Plane
  /// The memory stays as it is for as long as this object lives.
  public let owner: any AnyObject & Sendable

  public init(luma: Plane, cb: Plane, cr: Plane, owner: any AnyObject & Sendable) {
    self.luma = luma
    self.cb = cb
    self.cr = cr
    self.owner = owner
  }
}

/// What the rows of a picture must hold, by the encoder's configuration.
struct PictureLayout {
  private let width: Int
  private let height: Int
  private let bytesPerSample: Int

  init(_ configuration: StereoEncoderConfiguration) {
    width = configuration.width
    height = configuration.height
    bytesPerSample = configuration.bitDepth > 8 ? 2 : 1
  }

  /// For copies of such pictures.
  func pool() -> PicturePool {
    PicturePool(width: width, height: height, bytesPerSample: bytesPerSample)
  }

  /// Throws `picture` where x265 would read beyond a row, or between two samples.
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
        eye: eye, reason: "\(name) does not lie on a multiple of \(bytesPerSample) bytes")
    }
  }
}

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
