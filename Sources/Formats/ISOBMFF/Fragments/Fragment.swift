// SPDX-License-Identifier: MPL-2.0

/// A fragment of a movie, or a chunk of one, whose sample bytes follow its header.
public struct Fragment: Equatable, Sendable {
  /// What has to stand before the samples' bytes: `styp` and `prft` where wanted, `moof`, and the
  /// header of `mdat`.
  public let header: [UInt8]
  /// The bytes of the samples: those of the first track with samples here, in the order in which
  /// they were added, then those of the next.
  public let dataSize: UInt64
  /// Where the header begins, in bytes from the file's start.
  public let offset: UInt64
  /// Of `moof`, in bytes from the file's start.
  public let indexOffset: UInt64
  /// Counts fragments; the chunks of one have the same number (`mfhd`).
  public let sequenceNumber: UInt32
  /// What is in it, in the order of the tracks.
  public let parts: [Part]

  /// The samples of one track in a fragment, in units of its timescale on the file's time line.
  public struct Part: Equatable, Sendable {
    public let track: TrackID
    /// Decoding can start at the first sample.
    public let startsWithSync: Bool
    /// When the first sample is decoded (`tfdt`).
    public let decodeTime: UInt64
    /// The earliest time of presentation; with an edit list, before it.
    public let presentationTime: Int64
    /// The sum of the samples' durations.
    public let duration: UInt64
  }

  /// With the samples' bytes.
  public var size: UInt64 { UInt64(header.count) + dataSize }
}

/// What else is said of a fragment.
public struct FragmentOptions: Equatable, Sendable {
  /// A further chunk of the fragment before, with the same number.
  public var continuesFragment = false
  /// A segment begins here, to be fetched by itself: `styp` says so.
  public var startsSegment = false
  /// No segment follows.
  public var isLastSegment = false
  /// When the first sample of the first track was produced.
  public var producerTime: ProducerReferenceTime?

  public init() {}
}

/// The wall-clock time that belongs to a media time: a `prft` box (ISO/IEC 14496-12 8.16.5).
public struct ProducerReferenceTime: Equatable, Sendable {
  /// Seconds since 1900-01-01 00:00 UTC, 32 bits before and 32 behind the binary point.
  public var ntpTime: UInt64
  /// When the picture was taken by a camera; else when the fragment was written.
  public var isCaptureTime: Bool

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
