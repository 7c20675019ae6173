// SPDX-License-Identifier: MPL-2.0

/// An HLS media playlist: the segments of one rendition, in order (draft-pantos-hls-rfc8216bis
/// 4.4.3).
///
/// ```swift
/// var playlist = MediaPlaylist(.live, targetDuration: 6)
/// playlist.append(MediaSegment("segment00000.m4s", duration: 6_000_000_000, map: map))
/// try write(playlist.text)
/// ```
public struct MediaPlaylist: Equatable, Sendable {
  /// The type of a playlist, which determines whether listed segments may be removed.
  public enum Kind: String, Sendable {
    /// Old segments are removed.
    case live
    /// Segments are never removed (`EXT-X-PLAYLIST-TYPE:EVENT`).
    case event = "EVENT"
    /// The playlist does not change any more (`EXT-X-PLAYLIST-TYPE:VOD`).
    case onDemand = "VOD"
  }

  /// Whether listed segments may be removed, and new ones added.
  public var kind: Kind
  /// Maximum segment duration after rounding, in seconds. It only grows, by
  /// ``raiseTargetDuration(to:)``.
  public private(set) var targetDuration: Int
  /// Media sequence number of the first segment.
  public internal(set) var mediaSequence: UInt64 = 0
  /// Number of discontinuities that have left the playlist.
  public internal(set) var discontinuitySequence: UInt64 = 0
  /// The complete segments, in order.
  public private(set) var segments: [MediaSegment] = []
  /// Whether each segment is a single I-frame (`EXT-X-I-FRAMES-ONLY`).
  public var isIFramesOnly = false
  /// Parameters of Low-Latency HLS; nil without it.
  public var lowLatency: LowLatency?
  /// The incomplete segment with its parts so far; nil before its first part.
  public private(set) var openSegment: MediaSegment?
  /// URI of the next part (`EXT-X-PRELOAD-HINT`).
  public var preloadHint: String?
  /// State of the other renditions (`EXT-X-RENDITION-REPORT`).
  public var renditionReports: [RenditionReport] = []
  /// Date ranges of segments that have left the playlist, and that are not over.
  public internal(set) var ranges: [DateRange] = []
  /// Whether no more segments follow (`EXT-X-ENDLIST`).
  public var hasEnded = false

  /// Creates a playlist without segments.
  ///
  /// - Parameters:
  ///   - targetDuration: In seconds, above 0.
  ///   - mediaSequence: Media sequence number of the first segment.
  ///   - discontinuitySequence: Number of discontinuities before the first segment.
  public init(
    _ kind: Kind, targetDuration: Int, mediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0
  ) {
    self.kind = kind
    self.targetDuration = max(targetDuration, 1)
    self.mediaSequence = mediaSequence
    self.discontinuitySequence = discontinuitySequence
  }

  /// Returns a playlist with the same segments that can be continued: it has not ended and has no
  /// open segment.
  public func reopened(as kind: Kind, targetDuration: Int) -> MediaPlaylist {
    var playlist = self
    playlist.kind = kind
    playlist.targetDuration = max(self.targetDuration, targetDuration)
    playlist.lowLatency = nil
    playlist.openSegment = nil
    playlist.preloadHint = nil
    playlist.renditionReports = []
    playlist.hasEnded = false
    return playlist
  }

  /// Makes the promised duration no shorter than a segment, rounded to seconds (RFC 8216 4.3.3.1).
  public mutating func raiseTargetDuration(to seconds: Int) {
    targetDuration = max(targetDuration, seconds)
  }

  /// Media sequence number of the next segment.
  public var nextSequence: UInt64 { mediaSequence + UInt64(segments.count) }

  /// Total duration of the complete segments, in nanoseconds.
  public var duration: UInt64 { segments.reduce(0) { $0 &+ $1.duration } }

  /// The parts of the incomplete segment.
  public var openParts: [PartialSegment] { openSegment?.parts ?? [] }

  /// Appends the next segment, which takes over the parts of the incomplete one.
  public mutating func append(_ segment: MediaSegment) {
    var segment = segment
    segment.parts = openParts
    openSegment = nil
    segments.append(segment)
  }

  /// Appends the next part of the incomplete segment.
  public mutating func append(_ part: PartialSegment) {
    var segment = openSegment ?? MediaSegment("", duration: 0)
    segment.parts.append(part)
    openSegment = segment
  }

  /// Sets the properties of the incomplete segment that are listed before its parts: discontinuity,
  /// initialization section and date.
  public mutating func describeOpenSegment(as segment: MediaSegment) {
    var segment = segment
    segment.parts = openParts
    openSegment = segment
  }

  /// Removes the oldest segments until `count` are left, but none from an event, and at least three
  /// target durations stay.
  ///
  /// - Returns: The removed segments, oldest first.
  public mutating func removeAll(but count: Int) -> [MediaSegment] {
    guard kind == .live, segments.count > count else { return [] }
    let least = UInt64(targetDuration) * 3_000_000_000
    var rest = duration
    var removed: [MediaSegment] = []
    while segments.count > count, let first = segments.first, rest - first.duration >= least {
      rest -= first.duration
      if first.startsDiscontinuity { discontinuitySequence += 1 }
      ranges += first.ranges
      removed.append(segments.removeFirst())
      mediaSequence += 1
    }
    if let start = segments.first?.programDateTime { ranges.removeAll { $0.end < start } }
    return removed
  }

  /// Removes the oldest entries with these URIs, for an I-frame playlist after their segments have
  /// left the media playlist.
  public mutating func removeFirst(in addresses: Set<String>) {
    while let first = segments.first, addresses.contains(first.uri) {
      if first.startsDiscontinuity { discontinuitySequence += 1 }
      segments.removeFirst()
      mediaSequence += 1
    }
  }

  /// The lowest protocol version that supports the tags in use.
  var version: Int {
    if isIFramesOnly { return 5 }
    return segments.contains { $0.map != nil } || lowLatency != nil ? 6 : 4
  }
}

/// Parameters of Low-Latency HLS (`EXT-X-SERVER-CONTROL`, `EXT-X-PART-INF`).
public struct LowLatency: Equatable, Sendable {
  /// Maximum part duration, in nanoseconds.
  public var partTarget: UInt64
  /// Minimum distance from the end at which players start, in nanoseconds: at least three times the
  /// largest `partTarget` of all renditions.
  public var partHoldBack: UInt64
  /// Distance from the end in nanoseconds beyond which a delta update may omit segments; nil if it
  /// may not.
  public var canSkipUntil: UInt64?

  /// Creates parameters from durations in nanoseconds.
  public init(partTarget: UInt64, partHoldBack: UInt64, canSkipUntil: UInt64? = nil) {
    self.partTarget = partTarget
    self.partHoldBack = partHoldBack
    self.canSkipUntil = canSkipUntil
  }
}

/// The state of another rendition (`EXT-X-RENDITION-REPORT`).
public struct RenditionReport: Equatable, Sendable {
  /// URI of its playlist, relative to the playlist with this report.
  public var uri: String
  /// Media sequence number of its last segment, which may be incomplete.
  public var lastSequence: UInt64
  /// Index of the last part within that segment; nil if it has none.
  public var lastPart: UInt64?

  /// Creates a report.
  public init(uri: String, lastSequence: UInt64, lastPart: UInt64? = nil) {
    self.uri = uri
    self.lastSequence = lastSequence
    self.lastPart = lastPart
  }
}

/// A segment of a media playlist.
public struct MediaSegment: Equatable, Sendable {
  /// URI relative to the playlist.
  public var uri: String
  /// In nanoseconds.
  public var duration: UInt64
  /// Byte range of the resource; nil for all of it.
  public var byteRange: ByteRange?
  /// Initialization section (`EXT-X-MAP`).
  public var map: InitializationSection?
  /// The tags `EXT-X-KEY` of the key, one for each key system; empty if it is not encrypted.
  public var keyTags: [String] = []
  /// Wall-clock time of the first sample, in nanoseconds since 1970-01-01 00:00 UTC; nil if
  /// unknown.
  public var programDateTime: Int64?
  /// Whether its format or timeline differs from that of the previous segment.
  public var startsDiscontinuity = false
  /// Whether the segment is missing and must not be loaded (`EXT-X-GAP`).
  public var isGap = false
  /// Date ranges that are listed before the segment.
  public var ranges: [DateRange] = []
  /// Tags of cues at its start: `#EXT-X-CUE-OUT:30.000`, `#EXT-X-CUE-IN`.
  public var cues: [String] = []
  /// The parts that make up the segment.
  public internal(set) var parts: [PartialSegment] = []

  /// - Parameter duration: In nanoseconds.
  public init(_ uri: String, duration: UInt64, map: InitializationSection? = nil) {
    self.uri = uri
    self.duration = duration
    self.map = map
  }
}

/// A part of a segment, available before the segment is complete (`EXT-X-PART`).
public struct PartialSegment: Equatable, Sendable {
  /// URI relative to the playlist.
  public var uri: String
  /// In nanoseconds.
  public var duration: UInt64
  /// Whether decoding can start at the part.
  public var isIndependent: Bool

  /// - Parameter duration: In nanoseconds.
  public init(_ uri: String, duration: UInt64, isIndependent: Bool = false) {
    self.uri = uri
    self.duration = duration
    self.isIndependent = isIndependent
  }
}

/// An initialization section: `ftyp` and `moov`, which precede segments.
public struct InitializationSection: Equatable, Sendable {
  /// URI relative to the playlist.
  public var uri: String
  /// Byte range of the resource; nil for all of it.
  public var byteRange: ByteRange?

  /// Creates an initialization section, by default the whole resource.
  public init(_ uri: String, byteRange: ByteRange? = nil) {
    self.uri = uri
    self.byteRange = byteRange
  }
}

/// A range of bytes of a resource.
public struct ByteRange: Equatable, Sendable {
  /// Number of bytes.
  public var length: UInt64
  /// Offset of the first byte.
  public var offset: UInt64

  /// Creates a range.
  public init(length: UInt64, offset: UInt64) {
    self.length = length
    self.offset = offset
  }

  /// As written in playlists: `36950@24`.
  var text: String { "\(length)@\(offset)" }
}
