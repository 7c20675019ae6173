// SPDX-License-Identifier: MPL-2.0

/// From where the samples of eight rows of the target come.
final class CoordinateBand {
  /// Of the first sample that a kernel reads, in samples from the beginning of the plane.
  let offsets: UnsafeMutablePointer<UInt32>
  /// The position behind the pixel it is in, in 256ths: x in the lower byte, y in the upper one.
  let fractions: UnsafeMutablePointer<UInt16>
  /// Which half of the source each group of eight columns is from.
  let levels: UnsafeMutablePointer<UInt8>
  /// Groups that need more than the fast way.
  var patches: [Patch] = []

  /// Eight samples in a row, near an edge or outside.
  struct Patch {
    /// Of the group, and of its row in the band.
    var group, row: Int32
    /// In samples of the level.
    var x, y: Floats
    /// Of the source's charts; below 0 where there is no picture.
    var chart: SIMD8<Int8>
    var isEmpty: Bool
  }

  private let arena: UnsafeMutableRawPointer

  init(groups: Int) {
    let count = groups * 64
    arena = .allocate(byteCount: count * 6 + groups + 64, alignment: 64)
    offsets = arena.bindMemory(to: UInt32.self, capacity: count)
    fractions = (arena + count * 4).bindMemory(to: UInt16.self, capacity: count)
    levels = (arena + count * 6).bindMemory(to: UInt8.self, capacity: groups)
    offsets.initialize(repeating: 0, count: count)
    fractions.initialize(repeating: 0, count: count)
    levels.initialize(repeating: 0, count: groups)
  }

  deinit { arena.deallocate() }
}
