// SPDX-License-Identifier: MPL-2.0

/// The samples of a track that `stbl` describes, looked up in the box's own tables.
struct SampleTable: Sendable {
  let count: Int
  private let sizes: SampleSizes
  private let chunks: ChunkIndex
  private let times: DecodeTimes
  private let offsets: CompositionOffsets?
  /// The numbers, from 1, of the sync samples; nil if all samples are sync samples.
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

  var minimumCompositionOffset: Int32 { offsets?.least ?? 0 }

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

extension Track {
  /// Parses an `stbl` box (ISO/IEC 14496-12 8.5).
  mutating func readSampleTable(
    _ stbl: BoxReader, references: DataReferences, issues: inout IssueLog
  ) throws(ISOBMFFError) {
    var boxes: [FourCC: BoxReader] = [:]
    var box = stbl
    while let child = try box.nextBox() {
      switch child.type {
      case "stsd", "stts", "ctts", "stss", "sdtp", "stsc", "stsz", "stz2", "stco", "co64":
        boxes[child.type] = boxes[child.type] ?? child
      default: otherBoxes.append(child.opaque)
      }
    }
    if let stsd = boxes["stsd"] {
      sampleEntries = try SampleEntry.entries(
        stsd, handlerType: handlerType, references: references, issues: &issues)
    }
    for index in sampleEntries.indices {
      // Rates that do not fit the field are stored as 0; the rate is then the timescale.
      if case .audio(var entry) = sampleEntries[index], entry.sampleRate == 0 {
        entry.sampleRate = description.timescale
        sampleEntries[index] = .audio(entry)
      }
    }
    guard let entry = sampleEntries.first else {
      throw stbl.error("the track has no stsd box with a sample entry")
    }
    description.sampleEntry = entry
    if let table = try sampleTable(boxes, stbl: stbl, issues: &issues) {
      samples = TrackSamples(table)
    }
  }

  /// Returns the sample table; nil if the track has no samples in `moov`.
  private func sampleTable(
    _ boxes: [FourCC: BoxReader], stbl: BoxReader, issues: inout IssueLog
  ) throws(ISOBMFFError) -> SampleTable? {
    guard let sizesBox = boxes["stsz"] ?? boxes["stz2"] else { return nil }
    let sizes = legacySizes(try Self.sizes(sizesBox))
    guard sizes.count > 0 else { return nil }
    guard let timesBox = boxes["stts"], let runsBox = boxes["stsc"],
      let offsetsBox = boxes["co64"] ?? boxes["stco"]
    else { throw stbl.error("the track has samples, but no stts, stsc, or stco or co64") }

    let wide = offsetsBox.type == "co64"
    let chunks = try ChunkIndex(
      runs: try Self.table(runsBox, stride: 12),
      offsets: try Self.table(offsetsBox, stride: wide ? 8 : 4), wide: wide, box: runsBox)
    let count = min(sizes.count, chunks.capacity)
    if count < sizes.count {
      issues.add(
        runsBox.error("the chunks have room for \(count) samples, but \(sizes.count) have a size"))
    }
    guard let times = DecodeTimes(try Self.table(timesBox, stride: 8), sampleCount: count) else {
      throw timesBox.error("the durations add up to more than 2^61 time units")
    }
    if times.describedSamples < count {
      issues.add(
        timesBox.error("only \(times.describedSamples) of \(count) samples have a duration"))
    }
    let offsets = try optionalTable(boxes["ctts"], stride: 8, issues: &issues).map {
      CompositionOffsets($0, times: times, sampleCount: count)
    }
    return SampleTable(
      sizes: sizes, chunks: chunks, times: times, offsets: offsets,
      syncSamples: try optionalTable(boxes["stss"], stride: 4, issues: &issues),
      dependencies: Self.dependencies(boxes["sdtp"]))
  }

  /// Reads the row count and the rows that make up most boxes of `stbl`.
  private static func table(
    _ box: BoxReader, stride: Int
  ) throws(ISOBMFFError) -> BigEndianTable {
    var box = box
    _ = try box.readVersion()
    let count: UInt32 = try box.read("entry_count")
    return try box.readTable("entry count", count: count, stride: stride)
  }

  private func optionalTable(
    _ box: BoxReader?, stride: Int, issues: inout IssueLog
  ) throws(ISOBMFFError) -> BigEndianTable? {
    guard let box else { return nil }
    return issues.optional { () throws(ISOBMFFError) in try Self.table(box, stride: stride) }
  }

  private static func sizes(_ box: BoxReader) throws(ISOBMFFError) -> SampleSizes {
    var box = box
    _ = try box.readVersion()
    let field: UInt32 = try box.read("sample_size")
    let count: UInt32 = try box.read("sample_count")
    if box.type == "stsz" {
      guard field == 0 else { return .uniform(field, count: Int(count)) }
      let table = try box.readTable("sample count", count: count, stride: 4)
      return .listed(SampleSizes.SizeList(table, fieldBits: 32, count: Int(count)))
    }
    let bits = Int(field & 0xFF)
    guard bits == 4 || bits == 8 || bits == 16 else {
      throw box.error("field_size is \(bits); it can be 4, 8 or 16")
    }
    let rows = bits == 4 ? count / 2 + count % 2 : count
    let table = try box.readTable("sample count", count: rows, stride: max(1, bits / 8))
    return .listed(SampleSizes.SizeList(table, fieldBits: bits, count: Int(count)))
  }

  /// QuickTime's older sound descriptions use sample size 1 for audio frames of any size.
  private func legacySizes(_ sizes: SampleSizes) -> SampleSizes {
    guard case .uniform(1, let count) = sizes, case .audio(let entry)? = sampleEntries.first,
      let packet = entry.packet, packet.frames == 1
    else { return sizes }
    return .uniform(packet.bytes, count: count)
  }

  private static func dependencies(_ box: BoxReader?) -> BigEndianTable? {
    guard var box, (try? box.readVersion()) != nil else { return nil }
    return try? box.readTable(
      "sample count", count: UInt32(clamping: box.remaining), stride: 1)
  }
}
