// SPDX-License-Identifier: MPL-2.0

/// A fragment of a movie, or a chunk of one; the bytes of its samples follow its header.
public struct Fragment: Equatable, Sendable {
  /// The bytes to write before those of the samples: `styp`, `prft` and `emsg` if requested,
  /// `moof`, and the header of `mdat`.
  public let header: [UInt8]
  /// Total size of the samples, in bytes. They are stored track by track, each track's in the order
  /// in which they were appended.
  public let dataSize: UInt64
  /// Offset of the header in the file, in bytes.
  public let offset: UInt64
  /// Offset of `moof` in the file, in bytes.
  public let indexOffset: UInt64
  /// Number of the fragment (`mfhd`); all chunks of one fragment share it.
  public let sequenceNumber: UInt32
  /// The tracks with samples in the fragment, in track order.
  public let parts: [Part]

  /// The samples of one track in a fragment; times are in units of the track's timescale, on the
  /// file's time line.
  public struct Part: Equatable, Sendable {
    /// The track that the samples belong to.
    public let track: TrackID
    /// Whether the first sample is a sync sample.
    public let startsWithSync: Bool
    /// Decode time of the first sample (`tfdt`).
    public let decodeTime: UInt64
    /// Earliest presentation time, before any edit list is applied.
    public let presentationTime: Int64
    /// The sum of the samples' durations.
    public let duration: UInt64
  }

  /// Size including the sample data, in bytes.
  public var size: UInt64 { UInt64(header.count) + dataSize }
}

/// Optional information about a fragment.
public struct FragmentOptions: Equatable, Sendable {
  /// Whether this is a further chunk of the previous fragment, with the same number.
  public var continuesFragment = false
  /// Whether a segment begins here that can be fetched separately; writes `styp`.
  public var startsSegment = false
  /// Whether no segment follows.
  public var isLastSegment = false
  /// The time when the first sample of the first track was produced.
  public var producerTime: ProducerReferenceTime?
  /// Messages to players, which are written before the fragment.
  public var messages: [EventMessage] = []

  /// Creates the options of an ordinary fragment.
  public init() {}
}

/// The wall-clock time of a media time: a `prft` box (ISO/IEC 14496-12 8.16.5).
public struct ProducerReferenceTime: Equatable, Sendable {
  /// Seconds since 1900-01-01 00:00 UTC as 32.32 fixed point.
  public var ntpTime: UInt64
  /// Whether the time is when a camera captured the picture rather than when the fragment was
  /// written.
  public var isCaptureTime: Bool

  /// Creates a reference time from an NTP timestamp.
  public init(ntpTime: UInt64, isCaptureTime: Bool = false) {
    self.ntpTime = ntpTime
    self.isCaptureTime = isCaptureTime
  }

  func write(track: TrackID, mediaTime: UInt64, to writer: inout BoxWriter) {
    writer.fullBox("prft", version: 1, flags: isCaptureTime ? 24 : 8) {
      $0.write(track.rawValue)
      $0.write(ntpTime)
      $0.write(mediaTime)
    }
  }
}

/// The `traf` box of one track (ISO/IEC 14496-12 8.8.6 to 8.8.12): one `trun`, with defaults for
/// fields that are the same for all samples.
struct TrackFragmentBoxes {
  let track: TrackID
  let rows: [FragmentTrack.Row]
  /// Decode time of the first sample on the written time line.
  let decodeTime: UInt64
  let hasSignedOffsets: Bool
  /// The encrypted bytes of each sample; empty if none has any.
  let subsamples: [[Subsample]]

  private var duration: UInt32? { uniform(\.duration) }
  private var size: UInt32? { uniform(\.size) }
  private var flags: UInt32? { uniform(\.flags) }
  private var hasOffsets: Bool { rows.contains { $0.compositionOffset != 0 } }

  var sampleCount: UInt32 { rows.reduce(0) { $0 &+ $1.count } }
  var dataSize: UInt64 { rows.reduce(0) { $0 + UInt64($1.count) * UInt64($1.size) } }
  var mediaDuration: UInt64 { rows.reduce(0) { $0 + UInt64($1.count) * UInt64($1.duration) } }

  private func uniform(_ field: (FragmentTrack.Row) -> UInt32) -> UInt32? {
    guard let value = rows.first.map(field), rows.allSatisfy({ field($0) == value }) else {
      return nil
    }
    return value
  }

  /// Writes the box.
  ///
  /// - Parameters:
  ///   - dataOffset: offset of the first sample from the start of `moof`.
  ///   - writer: a writer whose first byte is that of `moof`.
  func write(dataOffset: Int32, to writer: inout BoxWriter) {
    writer.box("traf") {
      writeHeader(to: &$0)
      $0.fullBox("tfdt", version: 1) { $0.write(decodeTime) }
      writeRun(dataOffset: dataOffset, to: &$0)
      if !subsamples.isEmpty { subsamples.write(to: &$0) }
    }
  }

  private func writeHeader(to writer: inout BoxWriter) {
    let (duration, size, flags) = (duration, size, flags)
    // default-base-is-moof
    var present: UInt32 = 0x2_0000
    if duration != nil { present |= 0x8 }
    if size != nil { present |= 0x10 }
    if flags != nil { present |= 0x20 }
    writer.fullBox("tfhd", flags: present) {
      $0.write(track.rawValue)
      if let duration { $0.write(duration) }
      if let size { $0.write(size) }
      if let flags { $0.write(flags) }
    }
  }

  private func writeRun(dataOffset: Int32, to writer: inout BoxWriter) {
    let (duration, size, flags, hasOffsets) = (duration, size, flags, hasOffsets)
    var present: UInt32 = 0x1
    if duration == nil { present |= 0x100 }
    if size == nil { present |= 0x200 }
    if flags == nil { present |= 0x400 }
    if hasOffsets { present |= 0x800 }
    let isSigned = hasSignedOffsets || rows.contains { $0.compositionOffset < 0 }
    writer.fullBox("trun", version: isSigned ? 1 : 0, flags: present) {
      $0.write(sampleCount)
      $0.write(dataOffset)
      guard present & 0xF00 != 0 else { return }
      for row in rows {
        for _ in 0..<row.count {
          if duration == nil { $0.write(row.duration) }
          if size == nil { $0.write(row.size) }
          if flags == nil { $0.write(row.flags) }
          if hasOffsets { $0.write(row.compositionOffset) }
        }
      }
    }
  }
}
