// SPDX-License-Identifier: MPL-2.0

/// Consecutive samples of a track in a fragment: a `trun` with the defaults of its `tfhd` and
/// `trex` applied (ISO/IEC 14496-12 8.8.8).
public struct TrackRun: Sendable {
  /// Values for fields that the run omits.
  struct Defaults: Sendable {
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0
    var sampleEntryIndex = 0
  }

  /// Offsets of the fields in a row; nil for fields that the run omits.
  struct Layout: Sendable {
    var duration: Int?
    var size: Int?
    var flags: Int?
    var compositionOffset: Int?
    var stride = 0

    /// Creates the layout for the flags of a `trun`.
    init(flags: UInt32) {
      func field(_ bit: UInt32) -> Int? {
        guard flags & bit != 0 else { return nil }
        defer { stride += 4 }
        return stride
      }
      duration = field(0x100)
      size = field(0x200)
      self.flags = field(0x400)
      compositionOffset = field(0x800)
    }
  }

  private static let interval = 64

  /// Number of samples in the run.
  public let count: Int
  /// Offset of the first sample in the file, in bytes.
  public let dataOffset: UInt64
  /// Decode time of the first sample, in units of the track's timescale.
  public let decodeTime: Int64
  /// Total size of the samples, in bytes.
  public let dataSize: UInt64
  /// End of the last sample in decode time, in units of the track's timescale.
  public let end: Int64
  let minimumPresentationTime: Int64
  let maximumPresentationTime: Int64
  let minimumCompositionOffset: Int32
  let firstSync: Int?
  let lastSync: Int?

  private let table: BigEndianTable
  private let layout: Layout
  private let defaults: Defaults
  private let firstSampleFlags: UInt32?
  /// Cumulative sizes and times before every 64th sample; empty if all rows are equal.
  private let sizeSums: [UInt64]
  private let timeSums: [Int64]

  /// Nil if the times overflow.
  init?(
    table: BigEndianTable, count: Int, layout: Layout, defaults: Defaults,
    firstSampleFlags: UInt32?, dataOffset: UInt64, decodeTime: Int64
  ) {
    self.table = table
    self.count = count
    self.layout = layout
    self.defaults = defaults
    self.firstSampleFlags = firstSampleFlags
    self.dataOffset = dataOffset
    self.decodeTime = decodeTime

    var summary = Summary(time: decodeTime)
    if layout.stride > 0 {
      for sample in 0..<count {
        if sample % Self.interval == 0 {
          summary.sizeSums.append(summary.size)
          summary.timeSums.append(summary.time)
        }
        summary.add(
          sample,
          size: layout.size.map { table.number(sample, $0) } ?? defaults.size,
          duration: layout.duration.map { table.number(sample, $0) } ?? defaults.duration,
          offset: layout.compositionOffset.map { table.number(sample, $0) } ?? 0,
          flags: Self.flags(sample, firstSampleFlags, layout, table, defaults))
        guard summary.time < DecodeTimes.maximumTime else { return nil }
      }
    } else {
      let (length, overflow) = UInt64(clamping: count).multipliedReportingOverflow(
        by: UInt64(defaults.duration))
      guard !overflow, length < DecodeTimes.maximumTime.magnitude else { return nil }
      summary.addUniform(
        count: count, defaults: defaults, firstSampleFlags: firstSampleFlags,
        length: Int64(clamping: length))
    }
    dataSize = summary.size
    end = summary.time
    minimumPresentationTime = summary.least
    maximumPresentationTime = summary.greatest
    minimumCompositionOffset = summary.leastOffset ?? 0
    firstSync = summary.firstSync
    lastSync = summary.lastSync
    sizeSums = summary.sizeSums
    timeSums = summary.timeSums
  }
}

extension TrackRun {
  /// Properties of a run's samples as a whole.
  private struct Summary {
    var size: UInt64 = 0
    var time: Int64
    var least = Int64.max
    var greatest = Int64.min
    var leastOffset: Int32?
    var firstSync: Int?
    var lastSync: Int?
    var sizeSums: [UInt64] = []
    var timeSums: [Int64] = []

    mutating func add(
      _ sample: Int, size: UInt32, duration: UInt32, offset: UInt32, flags: UInt32
    ) {
      let offset = Int32(bitPattern: offset)
      leastOffset = min(leastOffset ?? offset, offset)
      let presented = time + Int64(offset)
      least = min(least, presented)
      greatest = max(greatest, presented)
      if TrackRun.isSync(flags) {
        firstSync = firstSync ?? sample
        lastSync = sample
      }
      self.size += UInt64(size)
      time += Int64(duration)
    }

    fileprivate mutating func addUniform(
      count: Int, defaults: Defaults, firstSampleFlags: UInt32?, length: Int64
    ) {
      guard count > 0 else { return }
      least = time
      greatest = time + length - Int64(defaults.duration)
      let othersSync = count > 1 && TrackRun.isSync(defaults.flags)
      let firstIsSync = TrackRun.isSync(firstSampleFlags ?? defaults.flags)
      firstSync = firstIsSync ? 0 : othersSync ? 1 : nil
      lastSync = othersSync ? count - 1 : firstIsSync ? 0 : nil
      size = UInt64(clamping: count) * UInt64(defaults.size)
      time += length
    }
  }

  /// Returns whether sample_is_non_sync_sample is 0 in the sample flags (ISO/IEC 14496-12 8.8.3.1).
  private static func isSync(_ flags: UInt32) -> Bool {
    flags & 0x1_0000 == 0
  }

  private static func flags(
    _ sample: Int, _ firstSampleFlags: UInt32?, _ layout: Layout, _ table: BigEndianTable,
    _ defaults: Defaults
  ) -> UInt32 {
    if sample == 0, let firstSampleFlags {
      return firstSampleFlags
    }
    return layout.flags.map { table.number(sample, $0) } ?? defaults.flags
  }

  private func flags(of sample: Int) -> UInt32 {
    Self.flags(sample, firstSampleFlags, layout, table, defaults)
  }

  private func size(of sample: Int) -> UInt32 {
    layout.size.map { table.number(sample, $0) } ?? defaults.size
  }

  private func duration(of sample: Int) -> UInt32 {
    layout.duration.map { table.number(sample, $0) } ?? defaults.duration
  }

  private func compositionOffset(of sample: Int) -> Int64 {
    layout.compositionOffset.map { Int64(Int32(bitPattern: table.number(sample, $0))) } ?? 0
  }

  /// Returns a sample by its index in the run; nil if out of range.
  public func sample(at index: Int) -> SampleRecord? {
    guard index >= 0, index < count else { return nil }
    var distance = UInt64(clamping: index) &* UInt64(defaults.size)
    var time = decodeTime &+ Int64(clamping: index) &* Int64(defaults.duration)
    let checkpoint = index / Self.interval
    if sizeSums.indices.contains(checkpoint), timeSums.indices.contains(checkpoint) {
      distance = sizeSums[checkpoint]
      time = timeSums[checkpoint]
      for other in checkpoint * Self.interval..<index {
        distance += UInt64(size(of: other))
        time += Int64(duration(of: other))
      }
    }
    let flags = flags(of: index)
    return SampleRecord(
      offset: dataOffset &+ distance, size: size(of: index), decodeTime: time,
      presentationTime: time + compositionOffset(of: index), duration: duration(of: index),
      isSync: Self.isSync(flags),
      dependency: SampleDependency(rawValue: UInt8(truncatingIfNeeded: flags >> 20)),
      sampleEntryIndex: defaults.sampleEntryIndex)
  }

  func run(at index: Int, maximumCount: Int) -> SampleRun? {
    guard let first = sample(at: index) else { return nil }
    let isUniform = layout.stride == 0 && (index > 0 || firstSampleFlags == nil)
    return SampleRun(first: first, count: isUniform ? max(1, min(maximumCount, count - index)) : 1)
  }

  /// Returns the last sample decoded at or before `time`; nil before the first.
  func index(atDecodeTime time: Int64) -> Int? {
    guard count > 0, time >= decodeTime else { return nil }
    guard !timeSums.isEmpty else {
      guard defaults.duration > 0 else { return count - 1 }
      return min(count - 1, Int(clamping: (time - decodeTime) / Int64(defaults.duration)))
    }
    let checkpoint = partitionPoint(count: timeSums.count) { timeSums[$0] <= time } - 1
    guard checkpoint >= 0 else { return nil }
    var sample = checkpoint * Self.interval
    var next = timeSums[checkpoint] + Int64(duration(of: sample))
    while sample + 1 < count, next <= time {
      sample += 1
      next += Int64(duration(of: sample))
    }
    return sample
  }

  func index(atPresentationTime time: Int64) -> (sample: Int, time: Int64)? {
    guard layout.compositionOffset != nil else {
      return index(atDecodeTime: time).flatMap { index in
        sample(at: index).map { (index, $0.presentationTime) }
      }
    }
    var best: (sample: Int, time: Int64)?
    var decoded = decodeTime
    for sample in 0..<count {
      let presented = decoded + compositionOffset(of: sample)
      if presented <= time, presented > best?.time ?? .min {
        best = (sample, presented)
      }
      decoded += Int64(duration(of: sample))
    }
    return best
  }

  func syncSample(atOrBefore index: Int) -> Int? {
    guard let firstSync, let lastSync, index >= firstSync else { return nil }
    var sample = min(index, lastSync)
    while sample > firstSync, !Self.isSync(flags(of: sample)) {
      sample -= 1
    }
    return sample
  }

  func syncSample(after index: Int) -> Int? {
    guard let firstSync, let lastSync, index < lastSync else { return nil }
    var sample = max(index + 1, firstSync)
    while sample < lastSync, !Self.isSync(flags(of: sample)) {
      sample += 1
    }
    return sample
  }
}
