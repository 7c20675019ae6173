// SPDX-License-Identifier: MPL-2.0

/// From where the samples of a block of the target come. They stand in rows of ``side`` samples.
final class CoordinateBlock {
  /// How many tiles of eight by eight samples lie side by side in a block, and below each other.
  static let tiles = 16
  /// Samples in a row and in a column.
  static let side = tiles * 8

  /// Of the first sample that a kernel reads, in samples from the beginning of what it reads.
  let offsets: UnsafeMutablePointer<UInt32>
  /// The position behind the pixel it is in, in 256ths: x in the lower byte, y in the upper one.
  let fractions: UnsafeMutablePointer<UInt16>
  /// Which half of the source each tile is from, row by row.
  let levels: UnsafeMutablePointer<UInt8>
  /// What kernels read; nil for a whole level of the source.
  var piece: SourcePiece?
  /// Groups that need more than the fast way.
  var patches: [Patch] = []

  /// Eight samples in a row, near an edge or outside.
  struct Patch {
    /// Of the tile among those beside it, and of the row in the block.
    var column, row: Int32
    /// In samples of the level.
    var x, y: Floats
    /// Of the source's charts; below 0 where there is no picture.
    var chart: SIMD8<Int8>
    var isEmpty: Bool
  }

  private let arena: UnsafeMutableRawPointer

  init() {
    let (count, tiles) = (Self.side * Self.side, Self.tiles * Self.tiles)
    arena = .allocate(byteCount: count * 6 + tiles, alignment: 64)
    offsets = arena.bindMemory(to: UInt32.self, capacity: count)
    fractions = (arena + count * 4).bindMemory(to: UInt16.self, capacity: count)
    levels = (arena + count * 6).bindMemory(to: UInt8.self, capacity: tiles)
    offsets.initialize(repeating: 0, count: count)
    fractions.initialize(repeating: 0, count: count)
    levels.initialize(repeating: 0, count: tiles)
  }

  deinit { arena.deallocate() }
}
