// SPDX-License-Identifier: MPL-2.0

/// Reduces a luma plane to a small image of at most about 160x90 cells, each the mean of some of
/// the samples it covers.
struct LumaReduction: Sendable {
  /// Cells hold 8-bit levels with this many more bits.
  static let fractionBits = 4

  let columns: Int
  let rows: Int
  private let cellWidth: Int
  private let cellHeight: Int
  private let bitDepth: Int

  /// A cell is read at no more than this many columns and rows.
  private static let mostSamples = 4

  /// - Precondition: `width` and `height` are at least 16.
  init(width: Int, height: Int, bitDepth: Int) {
    cellWidth = max(1, width / 80)
    cellHeight = max(1, height / 48)
    columns = width / cellWidth
    rows = height / cellHeight
    self.bitDepth = bitDepth
  }

  func reduce(_ luma: Picture.Plane, into cells: inout [Int32]) {
    if cells.count != columns * rows { cells = [Int32](repeating: 0, count: columns * rows) }
    if bitDepth > 8 {
      reduce(luma, UInt16.self, into: &cells)
    } else {
      reduce(luma, UInt8.self, into: &cells)
    }
  }

  @inline(__always)
  private func reduce<Sample: FixedWidthInteger & UnsignedInteger>(
    _ luma: Picture.Plane, _: Sample.Type, into cells: inout [Int32]
  ) {
    let stepX = max(1, cellWidth / Self.mostSamples)
    let stepY = max(1, cellHeight / Self.mostSamples)
    let taken = Int32(((cellWidth - 1) / stepX + 1) * ((cellHeight - 1) / stepY + 1))
    let size = MemoryLayout<Sample>.size
    cells.withUnsafeMutableBufferPointer { cells in
      for row in 0..<rows {
        for column in 0..<columns {
          var sum: Int32 = 0
          for y in stride(from: row &* cellHeight, to: (row &+ 1) &* cellHeight, by: stepY) {
            let line = luma.address + y &* luma.stride
            for x in stride(from: column &* cellWidth, to: (column &+ 1) &* cellWidth, by: stepX) {
              sum &+= Int32(
                truncatingIfNeeded: line.load(fromByteOffset: x &* size, as: Sample.self))
            }
          }
          cells[row &* columns &+ column] =
            ((sum << Int32(Self.fractionBits)) / taken) >> Int32(bitDepth - 8)
        }
      }
    }
  }
}
