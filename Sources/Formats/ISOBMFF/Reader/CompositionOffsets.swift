// SPDX-License-Identifier: MPL-2.0

/// What is added to decode times for the times of presentation: `ctts` (ISO/IEC 14496-12 8.6.1.3).
///
/// Offsets of either version are read as signed numbers: QuickTime writes them so in version 0,
/// and an unsigned one beyond 2^31 makes no sense.
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

  /// The sample that is presented at `time`: the one with the latest presentation time up to it.
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
