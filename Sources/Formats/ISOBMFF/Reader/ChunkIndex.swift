// SPDX-License-Identifier: MPL-2.0

/// Maps samples to chunks and chunks to file offsets: `stsc` with `stco` or `co64` (ISO/IEC
/// 14496-12 8.7.4, 8.7.5).
struct ChunkIndex: Sendable {
  struct Location {
    /// Offset of the chunk in the file.
    var offset: UInt64
    /// Indexes of the samples in the chunk.
    var samples: Range<Int>
    /// Index into the track's sample entries, from 0.
    var sampleEntryIndex: Int
  }

  private static let interval = 16
  private static let maximumSampleCount = 1 << 32

  private let runs: BigEndianTable
  private let offsets: BigEndianTable
  private let wide: Bool
  /// The first sample of every 16th run.
  private let firstSamples: [Int]
  /// Number of samples that all chunks can hold, at most 2^32.
  let capacity: Int

  /// - Throws: if chunk numbers do not begin at 1 or do not increase.
  init(
    runs: BigEndianTable, offsets: BigEndianTable, wide: Bool, box: BoxReader
  ) throws(ISOBMFFError) {
    self.runs = runs
    self.offsets = offsets
    self.wide = wide
    var firstSamples: [Int] = []
    firstSamples.reserveCapacity((runs.count + Self.interval - 1) / Self.interval)
    var samples = 0
    for run in 0..<runs.count {
      let first = runs.number(run)
      guard run == 0 ? first == 1 : first > runs.number(run - 1) else {
        throw box.error(
          "row \(run) begins at chunk \(first); chunk numbers have to begin at 1 and increase")
      }
      if run % Self.interval == 0 {
        firstSamples.append(samples)
      }
      let count = Self.chunks(of: run, in: runs, chunkCount: offsets.count)
        .multipliedReportingOverflow(by: Int(runs.number(run, 4)))
      samples =
        count.overflow
        ? Self.maximumSampleCount : min(Self.maximumSampleCount, samples + count.partialValue)
    }
    self.firstSamples = firstSamples
    capacity = samples
  }

  /// Returns the chunk of a sample; nil past the last chunk.
  func location(of sample: Int) -> Location? {
    guard sample >= 0, sample < capacity else { return nil }
    let checkpoint = partitionPoint(count: firstSamples.count) { firstSamples[$0] <= sample } - 1
    guard checkpoint >= 0 else { return nil }
    var first = firstSamples[checkpoint]
    for run in checkpoint * Self.interval..<runs.count {
      let samplesPerChunk = Int(runs.number(run, 4))
      let chunks = Self.chunks(of: run, in: runs, chunkCount: offsets.count)
      let count = chunks.multipliedReportingOverflow(by: samplesPerChunk)
      if count.overflow || sample < first + count.partialValue, samplesPerChunk > 0 {
        let chunk = (sample - first) / samplesPerChunk
        let start = first + chunk * samplesPerChunk
        let row = Int(runs.number(run)) - 1 + chunk
        return Location(
          offset: wide ? offsets.number(row, as: UInt64.self) : UInt64(offsets.number(row)),
          samples: start..<start + samplesPerChunk,
          sampleEntryIndex: max(0, Int(runs.number(run, 8)) - 1))
      }
      first += count.partialValue
    }
    return nil
  }

  /// Returns the number of existing chunks in a run.
  private static func chunks(of run: Int, in runs: BigEndianTable, chunkCount: Int) -> Int {
    let next = run + 1 < runs.count ? Int(runs.number(run + 1)) - 1 : chunkCount
    return max(0, min(next, chunkCount) - (Int(runs.number(run)) - 1))
  }
}

/// The size of each sample: `stsz` or `stz2` (ISO/IEC 14496-12 8.7.3).
enum SampleSizes: Sendable {
  case uniform(UInt32, count: Int)
  case listed(SizeList)

  var count: Int {
    switch self {
    case .uniform(_, let count): count
    case .listed(let list): list.count
    }
  }

  func size(of sample: Int) -> UInt32 {
    switch self {
    case .uniform(let size, _): size
    case .listed(let list): list.size(of: sample)
    }
  }

  /// Returns the total size of the samples in the range, in bytes.
  func total(_ range: Range<Int>) -> UInt64 {
    switch self {
    case .uniform(let size, _):
      UInt64(clamping: range.count).multipliedReportingOverflow(by: UInt64(size)).partialValue
    case .listed(let list): list.total(range)
    }
  }

  /// A table of sizes, with cached sums.
  struct SizeList: Sendable {
    private static let interval = 16

    private let table: BigEndianTable
    private let fieldBits: Int
    let count: Int
    private let sums: [UInt64]

    /// Creates a list; `fieldBits` is 4, 8, 16 or 32. With 4, each row of the table holds two
    /// sizes.
    init(_ table: BigEndianTable, fieldBits: Int, count: Int) {
      self.table = table
      self.fieldBits = fieldBits
      self.count = count
      var sums: [UInt64] = []
      sums.reserveCapacity(count / Self.interval + 1)
      var sum: UInt64 = 0
      for sample in 0..<count {
        if sample % Self.interval == 0 {
          sums.append(sum)
        }
        sum += UInt64(Self.size(of: sample, in: table, fieldBits: fieldBits))
      }
      self.sums = sums
    }

    func size(of sample: Int) -> UInt32 {
      Self.size(of: sample, in: table, fieldBits: fieldBits)
    }

    func total(_ range: Range<Int>) -> UInt64 {
      // Most ranges lie within one chunk, which holds few samples.
      range.count <= Self.interval
        ? sum(range) : total(before: range.upperBound) &- total(before: range.lowerBound)
    }

    private func total(before sample: Int) -> UInt64 {
      let checkpoint = min(sample / Self.interval, sums.count - 1)
      guard checkpoint >= 0 else { return 0 }
      return sums[checkpoint]
        &+ sum(checkpoint * Self.interval..<max(sample, checkpoint * Self.interval))
    }

    /// Adds up the sizes one by one; indexes without a sample count as 0.
    private func sum(_ range: Range<Int>) -> UInt64 {
      var sum: UInt64 = 0
      for index in range.clamped(to: 0..<count) { sum &+= UInt64(size(of: index)) }
      return sum
    }

    @inline(__always)
    private static func size(of sample: Int, in table: BigEndianTable, fieldBits: Int) -> UInt32 {
      switch fieldBits {
      case 32: table.number(sample)
      case 16: UInt32(table.number(sample, as: UInt16.self))
      case 8: UInt32(table.number(sample, as: UInt8.self))
      default:
        UInt32(table.number(sample / 2, as: UInt8.self) >> (sample.isMultiple(of: 2) ? 4 : 0)) & 15
      }
    }
  }
}
