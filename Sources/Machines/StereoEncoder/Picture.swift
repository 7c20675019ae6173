// SPDX-License-Identifier: MPL-2.0

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
