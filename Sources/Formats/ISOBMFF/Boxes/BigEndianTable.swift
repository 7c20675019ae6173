// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Rows of big-endian numbers inside a larger array of bytes, read where they lie.
struct BigEndianTable: Sendable {
  private let bytes: [UInt8]
  private let start: Int
  private let stride: Int
  let count: Int

  static let empty = BigEndianTable(bytes: [], start: 0, count: 0, stride: 4)

  /// The rows have to lie inside the bytes; a table that does not is empty.
  init(bytes: [UInt8], start: Int, count: Int, stride: Int) {
    let fits = start >= 0 && count >= 0 && stride > 0 && count <= (bytes.count - start) / stride
    self.bytes = bytes
    self.start = start
    self.count = fits ? count : 0
    self.stride = stride
  }

  /// The number that begins at byte `field` of a row; 0 outside the table.
  @inline(__always)
  func number<Integer: FixedWidthInteger>(
    _ row: Int, _ field: Int = 0, as type: Integer.Type = UInt32.self
  ) -> Integer {
    guard row >= 0, row < count, field >= 0, field + MemoryLayout<Integer>.size <= stride else {
      return 0
    }
    return bytes.bigEndian(at: start + row * stride + field) ?? 0
  }
}

/// The number of leading elements, of `count`, for which `isBefore` holds; it has to hold for none
/// after one for which it does not.
func partitionPoint(count: Int, _ isBefore: (Int) -> Bool) -> Int {
  var low = 0
  var high = count
  while low < high {
    let middle = low + (high - low) / 2
    if isBefore(middle) {
      low = middle + 1
    } else {
      high = middle
    }
  }
  return low
}
