// SPDX-License-Identifier: MPL-2.0

/// A media playlist of HTTP Live Streaming: the segments of one rendition, in the order of time
/// (draft-pantos-hls-rfc8216bis 4.4.3).
///
/// ```swift
/// var playlist = MediaPlaylist(.live, targetDuration: 6)
/// playlist.append(MediaSegment("segment00000.m4s", duration: 6_000_000_000, map: map))
/// try write(playlist.text)
/// ```
public struct MediaPlaylist: Equatable, Sendable {
  /// What becomes of segments that are listed.
  public enum Kind: String, Sendable {
    /// They leave the list when they get old.
    case live
    /// None is ever removed (`EXT-X-PLAYLIST-TYPE:EVENT`).
    case event = "EVENT"
    /// The list does not change any more (`EXT-X-PLAYLIST-TYPE:VOD`).
    case onDemand = "VOD"
  }

  public var kind: Kind
  /// No segment is longer when it is rounded to seconds. It never changes while the playlist is written.
  public private(set) var targetDuration: Int
  /// The number of the first segment.
  public internal(set) var mediaSequence: UInt64 = 0
  /// How many discontinuities have left the list.
  public internal(set) var discontinuitySequence: UInt64 = 0
  public private(set) var segments: [MediaSegment] = []
  /// Segments are single pictures, which need no others (`EXT-X-I-FRAMES-ONLY`).
  public var isIFramesOnly = false
  /// What players need for low latency; nil where they have to wait for whole segments.
  public var lowLatency: LowLatency?
  /// The segment that is not complete yet, with the parts that it has; nil before its first part.
  public private(set) var openSegment: MediaSegment?
  /// The part that comes next (`EXT-X-PRELOAD-HINT`).
  public var preloadHint: String?
  /// How far the other renditions are.
  public var renditionReports: [RenditionReport] = []
  /// Nothing follows (`EXT-X-ENDLIST`).
  public var hasEnded = false

  /// - Parameters:
  ///   - targetDuration: in seconds, above 0.
  ///   - mediaSequence: the number of the first segment.
  public init(
    _ kind: Kind, targetDuration: Int, mediaSequence: UInt64 = 0, discontinuitySequence: UInt64 = 0
  ) {
    self.kind = kind
    self.targetDuration = max(targetDuration, 1)
    self.mediaSequence = mediaSequence
    self.discontinuitySequence = discontinuitySequence
  }

  /// The same segments as the beginning of a playlist that is written on: it has not ended, and says
  /// nothing of a segment that is open.
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

  /// The number of the segment that comes next.
  public var nextSequence: UInt64 { mediaSequence + UInt64(segments.count) }

  /// The sum of all segments, in nanoseconds.
  public var duration: UInt64 { segments.reduce(0) { $0 &+ $1.duration } }

  /// The first parts of the segment that is not complete yet.
  public var openParts: [PartialSegment] { openSegment?.parts ?? [] }

  /// Adds the next segment. Parts of it that were added before become its own.
  public mutating func append(_ segment: MediaSegment) {
    var segment = segment
    segment.parts = openParts
    openSegment = nil
    segments.append(segment)
  }

  /// Adds the next part of the segment that is not complete yet.
  public mutating func append(_ part: PartialSegment) {
    var segment = openSegment ?? MediaSegment("", duration: 0)
    segment.parts.append(part)
    openSegment = segment
  }

  /// What is known of the segment that is not complete yet holds for its parts: where they are a
  /// discontinuity, what has to be read before them, and their date.
  public mutating func describeOpenSegment(as segment: MediaSegment) {
    var segment = segment
    segment.parts = openParts
    openSegment = segment
  }

  /// Takes the oldest segments away until `count` are left, and no more than a playlist of this
  /// kind may lose: those of an event stay, and three target durations do.
  ///
  /// - Returns: what is gone, oldest first.
  public mutating func removeAll(but count: Int) -> [MediaSegment] {
    guard kind == .live, segments.count > count else { return [] }
    let least = UInt64(targetDuration) * 3_000_000_000
    var rest = duration
    var removed: [MediaSegment] = []
    while segments.count > count, let first = segments.first, rest - first.duration >= least {
      rest -= first.duration
      if first.startsDiscontinuity { discontinuitySequence += 1 }
      removed.append(segments.removeFirst())
      mediaSequence += 1
    }
    return removed
  }

  /// Takes the oldest entries away whose addresses are among these: of a playlist of pictures, when
  /// their segments have left another one.
  public mutating func removeFirst(in addresses: Set<String>) {
    while let first = segments.first, addresses.contains(first.uri) {
      if first.startsDiscontinuity { discontinuitySequence += 1 }
      segments.removeFirst()
      mediaSequence += 1
    }
  }

  /// The protocol version that the tags need, and no higher one.
  var version: Int {
    if isIFramesOnly { return 5 }
    return segments.contains { $0.map != nil } || lowLatency != nil ? 6 : 4
  }
}

/// What lets players follow closely (`EXT-X-SERVER-CONTROL`, `EXT-X-PART-INF`).
public struct LowLatency: Equatable, Sendable {
  /// No part is longer; in nanoseconds.
  public var partTarget: UInt64
  /// How far from the end players begin; in nanoseconds, at least three times the largest
  /// `partTarget` of all renditions.
  public var partHoldBack: UInt64
  /// Segments further than this from the end may be left out of an update; in nanoseconds.
  public var canSkipUntil: UInt64?

  public init(partTarget: UInt64, partHoldBack: UInt64, canSkipUntil: UInt64? = nil) {
    self.partTarget = partTarget
    self.partHoldBack = partHoldBack
    self.canSkipUntil = canSkipUntil
  }
}

/// How far another rendition is (`EXT-X-RENDITION-REPORT`).
public struct RenditionReport: Equatable, Sendable {
  /// Of its playlist, from the playlist that has the report.
  public var uri: String
  /// Of the segment that has come last, or comes now.
  public var lastSequence: UInt64
  /// Of the part that has come last, within that segment.
  public var lastPart: UInt64?

  public init(uri: String, lastSequence: UInt64, lastPart: UInt64? = nil) {
    self.uri = uri
    self.lastSequence = lastSequence
    self.lastPart = lastPart
  }
}

/// One segment of a media playlist.
public struct MediaSegment: Equatable, Sendable {
  public var uri: String
  /// In nanoseconds.
  public var duration: UInt64
  /// Where it lies in the resource; nil for all of it.
  public var byteRange: ByteRange?
  /// What has to be read before it (`EXT-X-MAP`).
  public var map: InitializationSection?
  /// The wall-clock time of its first sample, in nanoseconds since 1970-01-01 00:00 UTC.
  public var programDateTime: Int64?
  /// Its coding, or its time line, is not that of the one before.
  public var startsDiscontinuity = false
  /// It never came, and is not to be fetched (`EXT-X-GAP`).
  public var isGap = false
  /// What it came in.
  public internal(set) var parts: [PartialSegment] = []

  /// - Parameter duration: in nanoseconds.
  public init(_ uri: String, duration: UInt64, map: InitializationSection? = nil) {
    self.uri = uri
    self.duration = duration
    self.map = map
  }
}

/// A part of a segment, which can be fetched before the segment is complete (`EXT-X-PART`).
public struct PartialSegment: Equatable, Sendable {
  public var uri: String
  /// In nanoseconds.
  public var duration: UInt64
  /// Decoding can start at it.
  public var isIndependent: Bool

  /// - Parameter duration: in nanoseconds.
  public init(_ uri: String, duration: UInt64, isIndependent: Bool = false) {
    self.uri = uri
    self.duration = duration
    self.isIndependent = isIndependent
  }
}

/// What has to be read before segments: `ftyp` and `moov`.
public struct InitializationSection: Equatable, Sendable {
  public var uri: String
  public var byteRange: ByteRange?

  public init(_ uri: String, byteRange: ByteRange? = nil) {
    self.uri = uri
    self.byteRange = byteRange
  }
}

/// Some bytes of a resource.
public struct ByteRange: Equatable, Sendable {
  public var length: UInt64
  public var offset: UInt64

  public init(length: UInt64, offset: UInt64) {
    self.length = length
    self.offset = offset
  }

  /// As playlists have it: `36950@24`.
  var text: String { "\(length)@\(offset)" }
}
