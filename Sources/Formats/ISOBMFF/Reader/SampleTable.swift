// SPDX-License-Identifier: MPL-2.0

/// The samples of a track as `stbl` describes them, read from the box's own tables.
struct SampleTable: Sendable {
  let count: Int
  private let sizes: SampleSizes
  private let chunks: ChunkIndex
  private let times: DecodeTimes
  private let offsets: CompositionOffsets?
  /// The numbers, from 1 on, of the samples that decoding can start at; nil if it can at all.
  private let syncSamples: BigEndianTable?
  private let dependencies: BigEndianTable?

  init(
    sizes: SampleSizes, chunks: ChunkIndex, times: DecodeTimes, offsets: CompositionOffsets?,
    syncSamples: BigEndianTable?, dependencies: BigEndianTable?
  ) {
    count = min(sizes.count, chunks.capacity)
    self.sizes = sizes
    self.chunks = chunks
    self.times = times
    self.offsets = offsets
    self.syncSamples = syncSamples
    self.dependencies = dependencies
  }

  var leastCompositionOffset: Int32 { offsets?.least ?? 0 }

  var end: Int64 { times.time(of: count).time }

  func run(at index: Int, maximumCount: Int) -> SampleRun? {
    guard index >= 0, index < count, let chunk = chunks.location(of: index) else { return nil }
    let time = times.time(of: index)
    let distance = sizes.total(chunk.samples.lowerBound..<index)
    let record = SampleRecord(
      offset: chunk.offset &+ distance, size: sizes.size(of: index), decodeTime: time.time,
      presentationTime: time.time + Int64(offsets?.offset(of: index) ?? 0),
      duration: time.duration, isSync: isSync(index),
      dependency: SampleDependency(
        rawValue: dependencies?.number(index, as: UInt8.self) ?? 0),
      sampleEntryIndex: chunk.sampleEntryIndex)
    var alike = 1
    if maximumCount > 1, case .uniform = sizes, offsets == nil, syncSamples == nil,
      dependencies == nil
    {
      alike = min(maximumCount, time.alike, min(chunk.samples.upperBound, count) - index)
    }
    return SampleRun(first: record, count: max(1, alike))
  }

  func index(atDecodeTime time: Int64) -> Int? {
    times.sample(at: time).map { min($0, count - 1) }
  }

  func index(atPresentationTime time: Int64) -> (sample: Int, time: Int64)? {
    if let offsets {
      return offsets.sample(presentedAt: time, times: times, sampleCount: count)
    }
    return times.sample(at: time).map { ($0, times.time(of: $0).time) }
  }

  func syncSample(atOrBefore index: Int) -> Int? {
    guard let syncSamples else { return index }
    let before = partitionPoint(count: syncSamples.count) {
      Int(syncSamples.number($0)) <= index + 1
    }
    guard before > 0 else { return nil }
    return valid(Int(syncSamples.number(before - 1)) - 1)
  }

  func syncSample(after index: Int) -> Int? {
    guard let syncSamples else { return valid(index + 1) }
    let next = partitionPoint(count: syncSamples.count) { Int(syncSamples.number($0)) <= index + 1 }
    return next < syncSamples.count ? valid(Int(syncSamples.number(next)) - 1) : nil
  }

  private func isSync(_ index: Int) -> Bool {
    syncSamples == nil || syncSample(atOrBefore: index) == index
  }

  private func valid(_ index: Int) -> Int? {
    index >= 0 && index < count ? index : nil
  }
}
