// SPDX-License-Identifier: MPL-2.0

/// Finds the run that a sample belongs to in a table of (count, value) rows, such as `stts`
/// or `ctts`, by a few remembered positions.
struct RunIndex: Sendable {
  struct Run {
    var row: Int
    var firstSample: Int
    var count: Int
  }

  /// Rows between two remembered positions.
  static let interval = 16

  let table: BigEndianTable
  /// The first sample of every 16th row.
  private let firstSamples: [Int]
  /// The samples of all rows together, up to 2^32.
  let sampleCount: Int

  private static let maximumSampleCount = 1 << 32

  init(_ table: BigEndianTable) {
    var firstSamples: [Int] = []
    firstSamples.reserveCapacity((table.count + Self.interval - 1) / Self.interval)
    var samples = 0
    for row in 0..<table.count {
      if row % Self.interval == 0 {
        firstSamples.append(samples)
      }
      samples = min(Self.maximumSampleCount, samples + Int(table.number(row)))
    }
    self.table = table
    self.firstSamples = firstSamples
    sampleCount = samples
  }

  func firstSample(ofCheckpoint checkpoint: Int) -> Int {
    firstSamples.indices.contains(checkpoint) ? firstSamples[checkpoint] : sampleCount
  }

  /// The run with the sample, or nil beyond the last.
  func run(with sample: Int) -> Run? {
    guard sample >= 0, sample < sampleCount else { return nil }
    let checkpoint = partitionPoint(count: firstSamples.count) { firstSamples[$0] <= sample } - 1
    guard checkpoint >= 0 else { return nil }
    var first = firstSamples[checkpoint]
    for row in checkpoint * Self.interval..<table.count {
      let count = Int(table.number(row))
      if sample < first + count {
        return Run(row: row, firstSample: first, count: count)
      }
      first += count
    }
    return nil
  }
}
