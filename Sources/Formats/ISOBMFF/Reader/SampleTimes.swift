// SPDX-License-Identifier: MPL-2.0

/// The decode times of a track's samples: `stts` (ISO/IEC 14496-12 8.6.1.2).
struct DecodeTimes: Sendable {
  private let runs: RunIndex
  private let sampleCount: Int
  /// The decode time at every 16th row.
  private let checkpoints: [Int64]
  /// The duration of samples past the end of the table.
  private let lastDelta: Int64
  private let tableEnd: Int64

  static let maximumTime: Int64 = 1 << 61

  /// Creates the times; samples past the table's end have the table's last duration. Nil if the
  /// times overflow.
  init?(_ table: BigEndianTable, sampleCount: Int) {
    runs = RunIndex(table)
    self.sampleCount = sampleCount
    var checkpoints: [Int64] = []
    checkpoints.reserveCapacity((table.count + RunIndex.interval - 1) / RunIndex.interval)
    var time: UInt64 = 0
    for row in 0..<table.count {
      if row % RunIndex.interval == 0 {
        checkpoints.append(Int64(clamping: time))
      }
      let length = UInt64(table.number(row)) * UInt64(table.number(row, 4))
      time = time.addingReportingOverflow(length).partialValue
      guard length < Self.maximumTime.magnitude, time < Self.maximumTime.magnitude else {
        return nil
      }
    }
    self.checkpoints = checkpoints
    lastDelta = Int64(table.number(table.count - 1, 4))
    tableEnd = Int64(clamping: time)
    let missing = UInt64(clamping: max(0, sampleCount - runs.sampleCount))
    let extra = missing.multipliedReportingOverflow(by: UInt64(clamping: lastDelta))
    guard !extra.overflow, extra.partialValue < Self.maximumTime.magnitude else { return nil }
  }

  /// Number of samples that the table covers.
  var describedSamples: Int { runs.sampleCount }

  /// Returns a sample's decode time, its duration, and how many samples from it on have that
  /// duration.
  func time(of sample: Int) -> (time: Int64, duration: UInt32, alike: Int) {
    guard let run = runs.run(with: sample) else {
      let beyond = Int64(clamping: max(0, sample - runs.sampleCount))
      return (
        tableEnd + beyond * lastDelta, UInt32(clamping: lastDelta), max(1, sampleCount - sample)
      )
    }
    let checkpoint = run.row / RunIndex.interval
    var time = checkpoints[checkpoint]
    for row in checkpoint * RunIndex.interval..<run.row {
      time += Int64(runs.table.number(row)) * Int64(runs.table.number(row, 4))
    }
    let delta: UInt32 = runs.table.number(run.row, 4)
    let index = sample - run.firstSample
    return (time + Int64(index) * Int64(delta), delta, run.count - index)
  }

  /// Returns the last sample decoded at or before `time`; nil if `time` is negative or there are no
  /// samples.
  func sample(at time: Int64) -> Int? {
    guard time >= 0, sampleCount > 0 else { return nil }
    var first = 0
    var runTime: Int64 = 0
    let checkpoint = partitionPoint(count: checkpoints.count) { checkpoints[$0] <= time } - 1
    if checkpoint >= 0 {
      let startRow = checkpoint * RunIndex.interval
      first = runs.firstSample(ofCheckpoint: checkpoint)
      runTime = checkpoints[checkpoint]
      for row in startRow..<min(startRow + RunIndex.interval, runs.table.count) {
        let count = Int(runs.table.number(row))
        let delta = Int64(runs.table.number(row, 4))
        let end = runTime + Int64(count) * delta
        if time < end, delta > 0 {
          return clamped(first + Int(clamping: (time - runTime) / delta))
        }
        first += count
        runTime = end
      }
    }
    guard first >= runs.sampleCount, lastDelta > 0 else { return clamped(first - 1) }
    return clamped(first + Int(clamping: (time - runTime) / lastDelta))
  }

  /// Returns decode times of samples in ascending order, faster than separate lookups.
  struct Cursor {
    private let times: DecodeTimes
    private var row = 0
    private var firstSample = 0
    private var rowTime: Int64 = 0

    init(_ times: DecodeTimes) {
      self.times = times
    }

    mutating func time(of sample: Int) -> Int64 {
      let table = times.runs.table
      while row < table.count {
        let count = Int(table.number(row))
        let delta = Int64(table.number(row, 4))
        if sample < firstSample + count {
          return rowTime + Int64(max(0, sample - firstSample)) * delta
        }
        firstSample += count
        rowTime += Int64(count) * delta
        row += 1
      }
      return rowTime + Int64(max(0, sample - firstSample)) * times.lastDelta
    }
  }

  private func clamped(_ sample: Int) -> Int {
    min(max(0, sample), sampleCount - 1)
  }
}

/// The offsets from decode to presentation times: `ctts` (ISO/IEC 14496-12 8.6.1.3).
///
/// Offsets are read as signed in both versions: QuickTime writes signed ones in version 0, and
/// unsigned ones above 2^31 make no sense.
struct CompositionOffsets: Sendable {
  private let runs: RunIndex
  /// One entry for every 16 rows.
  private let order: PresentationOrder
  /// The smallest offset of any sample.
  let least: Int32

  init(_ table: BigEndianTable, times: DecodeTimes, sampleCount: Int) {
    runs = RunIndex(table)
    var order = PresentationOrder()
    var cursor = DecodeTimes.Cursor(times)
    var sample = 0
    var leastOffset: Int64?
    var bounds: (least: Int64, greatest: Int64)?
    for row in 0..<table.count {
      let count = min(Int(table.number(row)), sampleCount - sample)
      if count > 0 {
        let offset = Int64(Int32(bitPattern: table.number(row, 4)))
        leastOffset = min(leastOffset ?? offset, offset)
        let first = cursor.time(of: sample) + offset
        let last = count == 1 ? first : cursor.time(of: sample + count - 1) + offset
        bounds = (min(bounds?.least ?? first, first), max(bounds?.greatest ?? last, last))
        sample += count
      }
      if row % RunIndex.interval == RunIndex.interval - 1 || row == table.count - 1 {
        order.append(least: bounds?.least ?? .max, greatest: bounds?.greatest ?? .min)
        bounds = nil
      }
    }
    self.order = order
    let isPartial = sample < sampleCount
    least = Int32(clamping: isPartial ? min(0, leastOffset ?? 0) : leastOffset ?? 0)
  }

  var describedSamples: Int { runs.sampleCount }

  func offset(of sample: Int) -> Int32 {
    runs.run(with: sample).map { Int32(bitPattern: runs.table.number($0.row, 4)) } ?? 0
  }

  /// Returns the sample presented at `time`: the one with the latest presentation time up to it.
  func sample(
    presentedAt time: Int64, times: DecodeTimes, sampleCount: Int
  ) -> (sample: Int, time: Int64)? {
    var best: (sample: Int, time: Int64)?
    func consider(_ range: Range<Int>, offset: Int64) {
      guard !range.isEmpty,
        let decoded = times.sample(at: time - offset), decoded >= range.lowerBound
      else { return }
      let sample = min(decoded, range.upperBound - 1)
      let presented = times.time(of: sample).time + offset
      if presented <= time, presented > best?.time ?? .min {
        best = (sample, presented)
      }
    }
    for group in order.candidates(at: time) {
      var sample = runs.firstSample(ofCheckpoint: group)
      let rows = group * RunIndex.interval..<min((group + 1) * RunIndex.interval, runs.table.count)
      for row in rows {
        let end = min(sample + Int(runs.table.number(row)), sampleCount)
        consider(
          min(sample, end)..<end, offset: Int64(Int32(bitPattern: runs.table.number(row, 4))))
        sample = end
      }
    }
    consider(min(describedSamples, sampleCount)..<sampleCount, offset: 0)
    return best
  }
}

/// Finds the run of a sample in a table of (count, value) rows, such as `stts` or `ctts`, using
/// cached positions.
struct RunIndex: Sendable {
  struct Run {
    var row: Int
    var firstSample: Int
    var count: Int
  }

  /// Number of rows between two cached positions.
  static let interval = 16

  let table: BigEndianTable
  /// The first sample of every 16th row.
  private let firstSamples: [Int]
  /// The total number of samples, at most 2^32.
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

  /// Returns the run that contains the sample; nil past the last one.
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
