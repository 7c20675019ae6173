// SPDX-License-Identifier: MPL-2.0

/// The 3x3 matrix of `tkhd` and `mvhd` that places a picture on the canvas
/// (ISO/IEC 14496-12 8.3.2): rows (a, b, u), (c, d, v), (x, y, w).
///
/// `u`, `v` and `w` are 2.30 fixed-point numbers, the others 16.16.
public struct TransformMatrix: Equatable, Sendable {
  public var a, b, u, c, d, v, x, y, w: Int32

  public init(
    a: Int32, b: Int32, u: Int32 = 0, c: Int32, d: Int32, v: Int32 = 0, x: Int32 = 0,
    y: Int32 = 0, w: Int32 = 0x4000_0000
  ) {
    (self.a, self.b, self.u) = (a, b, u)
    (self.c, self.d, self.v) = (c, d, v)
    (self.x, self.y, self.w) = (x, y, w)
  }

  /// Leaves the picture as it is.
  public static let identity = TransformMatrix(a: 0x1_0000, b: 0, c: 0, d: 0x1_0000)

  func write(to writer: inout BoxWriter) {
    for element in [a, b, u, c, d, v, x, y, w] {
      writer.write(element)
    }
  }
}
