// SPDX-License-Identifier: MPL-2.0

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
