// SPDX-License-Identifier: MPL-2.0

/// Which chunk a sample lies in, and where that begins: `stsc` with `stco` or `co64`
/// (ISO/IEC 14496-12 8.7.4, 8.7.5).
struct ChunkIndex: Sendable {
  struct Location {
    /// Where the chunk begins in the file.
    var offset: UInt64
    /// The samples of the chunk.
    var samples: Range<Int>
    /// Into the track's sample entries, from 0 on.
    var sampleEntryIndex: Int
  }

  private static let interval = 16
  private static let maximumSampleCount = 1 << 32

  private let runs: BigEndianTable
  private let offsets: BigEndianTable
  private let wide: Bool
  /// The first sample of every 16th run.
  private let firstSamples: [Int]
  /// How many samples all chunks have room for, up to 2^32.
  let capacity: Int

  /// Throws where chunk numbers do not begin at 1 or do not increase.
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

  /// Where a sample's chunk lies; nil beyond the last chunk.
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

  /// How many chunks a run has that exist.
  private static func chunks(of run: Int, in runs: BigEndianTable, chunkCount: Int) -> Int {
    let next = run + 1 < runs.count ? Int(runs.number(run + 1)) - 1 : chunkCount
    return max(0, min(next, chunkCount) - (Int(runs.number(run)) - 1))
  }
}
