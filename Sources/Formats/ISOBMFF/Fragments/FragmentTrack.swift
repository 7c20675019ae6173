// SPDX-License-Identifier: MPL-2.0

/// A track of a fragmented movie, with its samples in the open fragment.
struct FragmentTrack: Sendable {
  let id: TrackID
  var description: TrackDescription
  /// The samples of the open fragment in decoding order.
  private(set) var samples: [SampleDescription] = []
  private(set) var sampleCount: UInt32 = 0
  /// Decode time of the last sample; for a run, of its last sample.
  private var lastDecodeTime: Int64?
  /// End of the sample that is presented last.
  private var presentationEnd: Int64 = 0
  /// Offset added to decode times so that none is negative; nil before the first sample.
  private(set) var decodeShift: Int64?
  /// Offset subtracted from composition offsets.
  private(set) var offsetShift: Int64 = 0

  /// Media time of the first edit: the position of the movie's start on the written time line.
  var mediaTime: Int64 { (decodeShift ?? 0) - offsetShift }

  init(id: TrackID, description: TrackDescription) {
    self.id = id
    self.description = description
  }

  /// Adds the next sample; changes nothing if it throws.
  ///
  /// - Parameters:
  ///   - hasEditList: whether an edit list may define where the movie starts.
  ///   - isFixed: whether the initialization segment, and with it the edit list, is already
  ///     written.
  mutating func append(
    _ sample: SampleDescription, hasEditList: Bool, isFixed: Bool
  ) throws(MovieWriterError) {
    try sample.check(in: id, after: sampleCount, lastDecodeTime: lastDecodeTime)
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

  /// Sets the shifts that place the track on the written time line.
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

  /// Returns the presentation duration so far, in units of `timescale`, rounded up.
  func duration(in timescale: UInt32) -> UInt64 {
    let (high, low) = UInt64(clamping: presentationEnd)
      .multipliedFullWidth(by: UInt64(timescale))
    let unit = UInt64(description.timescale)
    guard high < unit else { return .max }
    let (quotient, remainder) = unit.dividingFullWidth((high, low))
    return quotient + (remainder > 0 ? 1 : 0)
  }

  /// The encrypted bytes of the samples of the open fragment; empty if none has any.
  var subsamples: [[Subsample]] {
    guard samples.contains(where: { !$0.subsamples.isEmpty }) else { return [] }
    return samples.map(\.subsamples)
  }

  /// Removes the samples of the finished fragment.
  mutating func removeSamples() { samples.removeAll(keepingCapacity: true) }

  /// Consecutive samples of the open fragment with equal fields, as `trun` stores them.
  struct Row: Equatable {
    var count: UInt32
    var duration: UInt32
    var size: UInt32
    var flags: UInt32
    var compositionOffset: Int32
  }

  /// Returns the samples of the open fragment as rows.
  ///
  /// - Parameter end: decode time of the first sample of the next fragment, if known.
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
  /// `sample_flags` of fragments (ISO/IEC 14496-12 8.8.3.1): the `sdtp` byte and the non-sync flag.
  fileprivate var flags: UInt32 {
    let known: SampleDependency = isSync ? .independent : .dependent
    let byte = dependency.rawValue != 0 ? dependency.rawValue : known.rawValue
    return UInt32(byte) << 20 | (isSync ? 0 : 0x1_0000)
  }
}

/// The sync points of a fragmented file, as listed in its `mfra` box.
struct SyncPoints: Sendable {
  private var track: TrackID?
  private var entries: [FragmentRandomAccess.Entry] = []

  /// Records a fragment whose first track begins with a sync sample.
  mutating func add(_ fragment: Fragment) {
    guard let part = fragment.parts.first, track == nil || track == part.track else { return }
    track = part.track
    guard part.startsWithSync, part.presentationTime >= 0 else { return }
    entries.append(
      FragmentRandomAccess.Entry(
        time: UInt64(clamping: part.presentationTime), fragmentOffset: fragment.indexOffset))
  }

  /// Writes `mfra` (ISO/IEC 14496-12 8.8.9 to 8.8.11).
  func write(to writer: inout BoxWriter) {
    let start = writer.bytes.count
    writer.box("mfra") { mfra in
      if let track {
        mfra.fullBox("tfra", version: 1) {
          $0.write(track.rawValue)
          // The lengths of the three numbers are one byte each; all are 1: first `traf`, `trun` and
          // sample.
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
