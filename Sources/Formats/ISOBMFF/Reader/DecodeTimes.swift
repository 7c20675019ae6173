// SPDX-License-Identifier: MPL-2.0

/// When the samples of a track are decoded: `stts` (ISO/IEC 14496-12 8.6.1.2).
struct DecodeTimes: Sendable {
  private let runs: RunIndex
  private let sampleCount: Int
  /// The decode time at every 16th row.
  private let checkpoints: [Int64]
  /// The duration of samples beyond the table.
  private let lastDelta: Int64
  private let tableEnd: Int64

  static let maximumTime: Int64 = 1 << 61

  /// Samples beyond the table last as long as the last one in it; nil if the times do not fit.
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

  /// How many samples the table speaks of.
  var describedSamples: Int { runs.sampleCount }

  /// When a sample is decoded, how long it lasts, and how many samples from it on last as long.
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

  /// The last sample that is decoded at `time` or before; nil before the first.
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

  /// Gives the times of samples in ascending order, faster than one by one.
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
