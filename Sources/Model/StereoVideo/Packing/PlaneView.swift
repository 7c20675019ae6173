// SPDX-License-Identifier: MPL-2.0

/// One plane of a picture in memory that somebody else owns.
public struct PlaneView {
  public let base: UnsafeMutableRawPointer
  /// Bytes from a row to the next.
  public let stride: Int
  /// Of a row, in bytes.
  public let rowBytes: Int
  public let rows: Int

  public init(base: UnsafeMutableRawPointer, stride: Int, rowBytes: Int, rows: Int) {
    self.base = base
    self.stride = stride
    self.rowBytes = rowBytes
    self.rows = rows
  }

  func row(_ index: Int) -> UnsafeMutableRawPointer { base + index * stride }

  /// A rectangle of the plane; the caller keeps it inside.
  public func part(x bytes: Int, y row: Int, rowBytes: Int, rows: Int, step: Int = 1) -> PlaneView {
    PlaneView(
      base: base + row * stride + bytes, stride: stride * step, rowBytes: rowBytes, rows: rows)
  }

  /// Copies another plane of this size.
  public func copy(_ other: PlaneView) {
    let bytes = min(rowBytes, other.rowBytes)
    for index in 0..<min(rows, other.rows) {
      row(index).copyMemory(from: other.row(index), byteCount: bytes)
    }
  }
}
