/// One eye's raw picture, planar 4:2:0: three planes of memory that the caller owns and lends for
/// the length of one call.
///
/// At 8 bits a sample is one byte (`I420`); at 10 bits it is two, least significant first, the value
/// in the low ten bits (`I420_10LE`).
public struct Picture {
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

  public init(luma: Plane, cb: Plane, cr: Plane) {
    self.luma = luma
    self.cb = cb
    self.cr = cr
  }
}
