// SPDX-License-Identifier: MPL-2.0

/// One track of a fragmented movie, and its samples of the fragment that is open.
struct FragmentTrack: Sendable {
  let id: TrackID
  var description: TrackDescription
  /// In decoding order.
  private(set) var samples: [SampleDescription] = []
  private(set) var sampleCount: UInt32 = 0
  /// When the last sample is decoded, of a run the last one of it.
  private var lastDecodeTime: Int64?
  /// When the sample that is shown last ends.
  private var presentationEnd: Int64 = 0
  /// What is added to decode times, so that none is negative; nil before the first sample.
  private(set) var decodeShift: Int64?
  /// What is taken off composition offsets.
  private(set) var offsetShift: Int64 = 0

  /// What the edit list begins with: where on the written time line the movie's start is.
  var mediaTime: Int64 { (decodeShift ?? 0) - offsetShift }

  init(id: TrackID, description: TrackDescription) {
    self.id = id
    self.description = description
  }

  /// Adds the next sample; throws without having changed anything.
  ///
  /// - Parameters:
  ///   - hasEditList: an edit list may say where the movie starts.
  ///   - isFixed: the edit list has been written, as none for a track without samples.
  mutating func append(
    _ sample: SampleDescription, hasEditList: Bool, isFixed: Bool
  ) throws(MovieWriterError) {
    try sample.check(in: id, behind: sampleCount, lastDecodeTime: lastDecodeTime)
    guard sample.count > 0 else { return }
    if decodeShift == nil {
      try place(sample, hasEditList: hasEditList, isFixed: isFixed)
    }
    samples.append(sample)
    sampleCount += sample.count
    let last = sample.decodeTime + Int64(sample.count - 1) * Int64(sample.duration)
    lastDecodeTime = last
    presentationEnd = max(
      presentationEnd, last + Int64(sample.compositionOffset) + Int64(sample.duration))
  }

  /// Decides how the track lies on the written time line.
  private mutating func place(
    _ first: SampleDescription, hasEditList: Bool, isFixed: Bool
  ) throws(MovieWriterError) {
    guard hasEditList else {
      let offset = Int64(first.compositionOffset)
      guard first.decodeTime + offset >= 0 else {
        throw .beforeStart(id, time: first.decodeTime + offset)
      }
      (decodeShift, offsetShift) = (offset, offset)
      return
    }
    let shift = max(0, -first.decodeTime)
    (decodeShift, offsetShift) = (shift, isFixed ? shift : 0)
  }

  /// How long the track is shown so far, in units of another timescale; rounded up.
  func duration(in timescale: UInt32) -> UInt64 {
    let (high, low) = UInt64(clamping: presentationEnd)
      .multipliedFullWidth(by: UInt64(timescale))
    let unit = UInt64(description.timescale)
    guard high < unit else { return .max }
    let (quotient, remainder) = unit.dividingFullWidth((high, low))
    return quotient + (remainder > 0 ? 1 : 0)
  }

  /// Ends the fragment.
  mutating func removeSamples() { samples.removeAll(keepingCapacity: true) }

  /// Samples of the open fragment that are alike, as a `trun` box has them.
  struct Row: Equatable {
    var count: UInt32
    var duration: UInt32
    var size: UInt32
    var flags: UInt32
    var compositionOffset: Int32
  }

  /// - Parameter end: when the first sample of the next fragment is decoded, where that is known.
  func rows(until end: Int64?) -> [Row] {
    var rows: [Row] = []
    rows.reserveCapacity(samples.count)
    for (index, sample) in samples.enumerated() {
      let next = index + 1 < samples.count ? samples[index + 1].decodeTime : end
      let last = sample.decodeTime + Int64(sample.count - 1) * Int64(sample.duration)
      let lastDuration = next.map { UInt32(clamping: $0 - last) } ?? sample.duration
      var row = Row(
        count: sample.count, duration: sample.duration, size: sample.size, flags: sample.flags,
        compositionOffset: Int32(clamping: Int64(sample.compositionOffset) - offsetShift))
      if lastDuration != sample.duration {
        if sample.count > 1 {
          row.count -= 1
          rows.append(row)
        }
        (row.count, row.duration) = (1, lastDuration)
      }
      rows.append(row)
    }
    return rows
  }
}

extension SampleDescription {
  /// `sample_flags` of fragments (ISO/IEC 14496-12 8.8.3.1): the byte of `sdtp`, and whether
  /// decoding cannot start here.
  fileprivate var flags: UInt32 {
    let known: SampleDependency = isSync ? .independent : .dependent
    let byte = dependency.rawValue != 0 ? dependency.rawValue : known.rawValue
    return UInt32(byte) << 20 | (isSync ? 0 : 0x1_0000)
  }
}

/// Where decoding can start in a fragmented file, as its `mfra` box has it.
struct SyncPoints: Sendable {
  private var track: TrackID?
  private var entries: [FragmentRandomAccess.Entry] = []

  /// Notes a fragment whose first track begins with a sample that decoding can start at.
  mutating func add(_ fragment: Fragment) {
    guard let part = fragment.parts.first, track == nil || track == part.track else { return }
    track = part.track
    guard part.startsWithSync, part.presentationTime >= 0 else { return }
    entries.append(
      FragmentRandomAccess.Entry(
        time: UInt64(clamping: part.presentationTime), fragmentOffset: fragment.indexOffset))
  }

  /// ISO/IEC 14496-12 8.8.9 to 8.8.11.
  func write(to writer: inout BoxWriter) {
    let start = writer.bytes.count
    writer.box("mfra") { mfra in
      if let track {
        mfra.fullBox("tfra", version: 1) {
          $0.write(track.rawValue)
          // Numbers of one byte each, which are all 1: the first sample of the first run.
          $0.write(UInt32(0))
          $0.write(UInt32(clamping: entries.count))
          for entry in entries {
            $0.write(entry.time)
            $0.write(entry.fragmentOffset)
            $0.write([1, 1, 1])
          }
        }
      }
      // From the start of `mfra` to the end of the file.
      mfra.fullBox("mfro") { $0.write(UInt32(clamping: $0.bytes.count - start + 4)) }
    }
  }
}
