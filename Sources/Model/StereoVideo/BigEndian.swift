// SPDX-License-Identifier: MPL-2.0

extension [UInt8] {
  /// The big-endian integer that begins at `offset`; nil where it does not lie inside the array.
  @inlinable @inline(__always)
  public func bigEndian<Integer: FixedWidthInteger>(
    at offset: Int, as type: Integer.Type = Integer.self
  ) -> Integer? {
    let size = MemoryLayout<Integer>.size
    guard offset >= 0, size <= count, offset <= count - size else { return nil }
    return withUnsafeBytes {
      Integer(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: Integer.self))
    }
  }

  /// Appends the bytes of `value`, the most significant first.
  @inlinable
  public mutating func append<Integer: FixedWidthInteger>(bigEndian value: Integer) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}
