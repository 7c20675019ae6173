// SPDX-License-Identifier: MPL-2.0

/// The samples of a track, in decoding order: first those of the movie's index, then those of the
/// fragments added so far.
///
/// Nothing is expanded: every lookup reads the compact tables of the file, in logarithmic time.
/// Times are in units of the track's timescale on the media time line.
public struct TrackSamples: Sendable {
  private let table: SampleTable?
  private(set) var runs: [TrackRun] = []
  /// The index of each run's first sample.
  private var firstSamples: [Int] = []
  private var order = PresentationOrder()
  /// Number of samples.
  public private(set) var count: Int

  /// The smallest composition offset of any sample; 0 if the track has none. If it is negative,
  /// adding it to the decode times puts them at or before the presentation times, as players
  /// require.
  public private(set) var minimumCompositionOffset: Int32

  /// Times are clamped to this before lookups.
  private static let maximumTime: Int64 = 1 << 62

  init(_ table: SampleTable?) {
    self.table = table
    count = table?.count ?? 0
    minimumCompositionOffset = table?.minimumCompositionOffset ?? 0
  }

  /// Number of samples that are not in fragments.
  private var tableCount: Int { table?.count ?? 0 }

  /// End of the last sample in decode time.
  public var endDecodeTime: Int64 { runs.last?.end ?? table?.end ?? 0 }

  /// Appends the samples of a fragment.
  mutating func append(_ run: TrackRun) {
    guard run.count > 0 else { return }
    minimumCompositionOffset =
      count == 0
      ? run.minimumCompositionOffset : min(minimumCompositionOffset, run.minimumCompositionOffset)
    runs.append(run)
    firstSamples.append(count)
    order.append(least: run.minimumPresentationTime, greatest: run.maximumPresentationTime)
    count += run.count
  }

  /// Returns a sample by its index, from 0; nil if out of range.
  public func sample(at index: Int) -> SampleRecord? {
    run(at: index, maximumCount: 1)?.first
  }

  /// Returns a sample and the number of contiguous samples, from it on, with equal sizes and
  /// durations, so that PCM audio can be read in chunks instead of frame by frame.
  public func run(at index: Int, maximumCount: Int) -> SampleRun? {
    if index < tableCount {
      return table?.run(at: index, maximumCount: maximumCount)
    }
    guard let place = place(of: index) else { return nil }
    return runs[place.run].run(at: place.sample, maximumCount: maximumCount)
  }

  /// Returns the last sample decoded at or before `time`; nil before the first.
  public func index(atDecodeTime time: Int64) -> Int? {
    let time = clamped(time)
    let after = partitionPoint(count: runs.count) { runs[$0].decodeTime <= time }
    if after > 0, let sample = runs[after - 1].index(atDecodeTime: time) {
      return firstSamples[after - 1] + sample
    }
    return table?.index(atDecodeTime: time)
  }

  /// Returns the sample presented at `time`: the one with the latest presentation time up to it;
  /// nil before the first.
  public func index(atPresentationTime time: Int64) -> Int? {
    let time = clamped(time)
    var best = table?.index(atPresentationTime: time)
    for run in order.candidates(at: time) {
      if let found = runs[run].index(atPresentationTime: time),
        found.time >= best?.time ?? .min
      {
        best = (firstSamples[run] + found.sample, found.time)
      }
    }
    return best?.sample
  }

  /// Returns the sample if it is a sync sample, else the last sync sample before it; nil if there
  /// is none.
  public func syncSample(atOrBefore index: Int) -> Int? {
    guard index >= 0, index < count else { return nil }
    if let place = place(of: index) {
      if let sample = runs[place.run].syncSample(atOrBefore: place.sample) {
        return firstSamples[place.run] + sample
      }
      for run in (0..<place.run).reversed() {
        if let sample = runs[run].lastSync {
          return firstSamples[run] + sample
        }
      }
    }
    guard tableCount > 0 else { return nil }
    return table?.syncSample(atOrBefore: min(index, tableCount - 1))
  }

  /// Returns the first sync sample after this sample; nil if there is none.
  public func syncSample(after index: Int) -> Int? {
    guard index >= -1, index < count else { return nil }
    if index + 1 < tableCount, let sample = table?.syncSample(after: index) {
      return sample
    }
    var run = 0
    if let place = place(of: index) {
      if let sample = runs[place.run].syncSample(after: place.sample) {
        return firstSamples[place.run] + sample
      }
      run = place.run + 1
    }
    while run < runs.count {
      if let sample = runs[run].firstSync {
        return firstSamples[run] + sample
      }
      run += 1
    }
    return nil
  }

  private func clamped(_ time: Int64) -> Int64 {
    min(max(time, -Self.maximumTime), Self.maximumTime)
  }

  /// Returns the run that contains a sample, and its index there; nil for samples of the table.
  private func place(of index: Int) -> (run: Int, sample: Int)? {
    guard index >= tableCount, index < count else { return nil }
    let run = partitionPoint(count: firstSamples.count) { firstSamples[$0] <= index } - 1
    return run >= 0 ? (run, index - firstSamples[run]) : nil
  }
}

/// Presentation time ranges of groups of samples, in decoding order. Narrows the search for a time
/// to the few groups that can contain it.
struct PresentationOrder: Sendable {
  private var leastTimes: [Int64] = []
  /// The latest time in this group and all groups before it.
  private var greatestTimesSoFar: [Int64] = []

  mutating func append(least: Int64, greatest: Int64) {
    leastTimes.append(least)
    greatestTimesSoFar.append(max(greatest, greatestTimesSoFar.last ?? .min))
  }

  /// Returns the groups that may contain the latest time up to `time`, assuming that groups overlap
  /// only with their neighbours.
  func candidates(at time: Int64) -> Range<Int> {
    let count = leastTimes.count
    let reaching = partitionPoint(count: count) { greatestTimesSoFar[$0] < time }
    var first = max(0, reaching - 1)
    while first > 0, greatestTimesSoFar[first - 1] == greatestTimesSoFar[first] {
      first -= 1
    }
    var end = min(count, reaching + 1)
    while end < count, leastTimes[end] <= time {
      end += 1
    }
    return first..<end
  }
}
