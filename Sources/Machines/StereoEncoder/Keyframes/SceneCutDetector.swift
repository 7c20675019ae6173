// SPDX-License-Identifier: MPL-2.0

/// Detects the first picture of a new scene by comparing small luma images of consecutive pictures.
///
/// A small image is divided into blocks; each is predicted from the previous small image, with a
/// motion search, and from its own mean. Within a scene the former is much cheaper; if it is not,
/// the picture starts a new scene. The difference in mean brightness of the two images is removed
/// first, so that a flash or a fade is no cut.
public struct SceneCutDetector: Sendable {
  private let reduction: LumaReduction
  private let minimumDistance: Int
  private var previous: [Int32] = []
  private var current: [Int32] = []
  /// Pictures since the last cut, or the last keyframe that the caller reported.
  private var distance = 0

  /// Side of a block, in cells of the small image.
  private static let block = 8
  /// Range of the motion search, in cells.
  private static let reach = 3
  /// Prediction from the previous picture is useless if it costs at least this share of the
  /// prediction from the own mean.
  private static let cutShare = 0.7
  /// The minimum mean cost per cell, in 8-bit luma levels, at which a change is worth a keyframe.
  private static let minimumCost = 1.5

  /// - Parameters:
  ///   - width: of the luma plane, in samples, at least 16.
  ///   - height: of the luma plane, in samples, at least 16.
  ///   - bitDepth: of the samples: one byte each at 8, two above that.
  ///   - minimumDistance: the minimum distance between two cuts, in pictures, at least 1.
  public init(width: Int, height: Int, bitDepth: Int, minimumDistance: Int) {
    reduction = LumaReduction(width: max(width, 16), height: max(height, 16), bitDepth: bitDepth)
    self.minimumDistance = max(minimumDistance, 1)
  }

  /// Returns whether `luma`, the next picture in display order, starts a new scene; false for the
  /// very first picture.
  public mutating func isCut(_ luma: Picture.Plane) -> Bool {
    swap(&previous, &current)
    reduction.reduce(luma, into: &current)
    distance += 1
    guard previous.count == current.count, distance >= minimumDistance, isNew() else {
      return false
    }
    distance = 0
    return true
  }

  /// Reports that the last picture became a keyframe for another reason.
  public mutating func noteKeyframe() {
    distance = 0
  }

  private func isNew() -> Bool {
    let count = reduction.columns * reduction.rows
    let brightening = (current.reduce(0, &+) &- previous.reduce(0, &+)) / Int32(count)
    var own = 0
    var predicted = 0
    for y in stride(from: 0, through: reduction.rows - Self.block, by: Self.block) {
      for x in stride(from: 0, through: reduction.columns - Self.block, by: Self.block) {
        let ownCost = costFromMean(x, y)
        own += ownCost
        predicted += min(ownCost, costFromPrevious(x, y, brightening, atMost: ownCost))
      }
    }
    let cells =
      (reduction.columns / Self.block) * (reduction.rows / Self.block) * Self.block * Self.block
    let level = Double(1 << LumaReduction.fractionBits)
    return Double(predicted) >= Self.cutShare * Double(own)
      && Double(predicted) >= Self.minimumCost * level * Double(cells)
  }

  private func costFromMean(_ x: Int, _ y: Int) -> Int {
    current.withUnsafeBufferPointer { cells in
      var sum: Int32 = 0
      forEachCell(x, y) { sum &+= cells[$0] }
      let mean = sum / Int32(Self.block * Self.block)
      var cost: Int32 = 0
      forEachCell(x, y) { cost &+= abs(cells[$0] &- mean) }
      return Int(cost)
    }
  }

  /// Returns the lowest cost in range, or `atMost` if no cost is below it.
  private func costFromPrevious(_ x: Int, _ y: Int, _ brightening: Int32, atMost: Int) -> Int {
    let columns = (-min(Self.reach, x))...min(Self.reach, reduction.columns - Self.block - x)
    let rows = (-min(Self.reach, y))...min(Self.reach, reduction.rows - Self.block - y)
    return current.withUnsafeBufferPointer { cells in
      previous.withUnsafeBufferPointer { reference in
        var best = Int32(clamping: atMost)
        for dy in rows {
          for dx in columns {
            let offset = dy * reduction.columns + dx
            var cost: Int32 = 0
            forEachCell(x, y) {
              cost &+= abs(cells[$0] &- reference[$0 &+ offset] &- brightening)
            }
            best = min(best, cost)
          }
        }
        return Int(best)
      }
    }
  }

  @inline(__always)
  private func forEachCell(_ x: Int, _ y: Int, _ body: (Int) -> Void) {
    for row in 0..<Self.block {
      let start = (y &+ row) &* reduction.columns &+ x
      for index in start..<(start &+ Self.block) { body(index) }
    }
  }
}

/// Reduces a luma plane to a small image of at most about 160x90 cells, each the mean of some of
/// the samples it covers.
struct LumaReduction: Sendable {
  /// The number of fraction bits of a cell, which holds an 8-bit level.
  static let fractionBits = 4

  let columns: Int
  let rows: Int
  private let cellWidth: Int
  private let cellHeight: Int
  private let bitDepth: Int

  /// The maximum number of columns and of rows read in a cell.
  private static let maximumSamplesPerSide = 4

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
    let stepX = max(1, cellWidth / Self.maximumSamplesPerSide)
    let stepY = max(1, cellHeight / Self.maximumSamplesPerSide)
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
                truncatingIfNeeded: line.loadUnaligned(
                  fromByteOffset: x &* size, as: Sample.self))
            }
          }
          cells[row &* columns &+ column] =
            ((sum << Int32(Self.fractionBits)) / taken) >> Int32(bitDepth - 8)
        }
      }
    }
  }
}
