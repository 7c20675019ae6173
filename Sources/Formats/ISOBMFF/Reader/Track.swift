// SPDX-License-Identifier: MPL-2.0

/// One track of a movie that was read (ISO/IEC 14496-12 8.3).
///
/// What it says of itself as one that is to be written does is its ``description``, whose properties
/// are the track's too: `track.isEnabled`.
@dynamicMemberLookup
public struct Track: Sendable {
  /// What the track says of itself, so that it can be written again. Its sample entry is the first of
  /// ``sampleEntries``.
  public internal(set) var description = TrackDescription.unread
  /// Not 0, and unlike that of any other track, in a proper file.
  public internal(set) var id = TrackID(rawValue: 0)
  /// What a track is for: `vide`, `soun`, `meta`, `text`, `tmcd` and so on (`hdlr`).
  public internal(set) var handlerType: FourCC = FourCC(rawValue: 0)
  /// Seconds since 1904-01-01 00:00 UTC; 0 is not known.
  public internal(set) var creationTime: UInt64 = 0
  /// In units of the movie's timescale, after edit lists; nil where it is not known.
  public internal(set) var duration: UInt64?
  /// Tracks with lower numbers lie in front.
  public internal(set) var layer: Int16 = 0
  /// 8.8 fixed-point.
  public internal(set) var volume: UInt16 = 0
  /// How the picture is placed; ``TrackDescription/orientation`` where it is one of those.
  public internal(set) var matrix = TransformMatrix.identity
  /// The size to show the track in.
  public internal(set) var size = FixedPointSize(width: 0, height: 0)
  /// In units of the track's timescale, before edit lists; nil where it is not known.
  public internal(set) var mediaDuration: UInt64?
  /// What plays when; the whole media from the movie's start if it is empty.
  public internal(set) var edits: [Edit] = []
  /// At least one; a sample says which is its own.
  public internal(set) var sampleEntries: [SampleEntry] = []
  /// Where the samples lie and when they play.
  public internal(set) var samples = TrackSamples(nil)
  /// Every other box of `trak`, `mdia`, `minf` and `stbl`, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []

  /// A property of the ``description``.
  public subscript<Value>(dynamicMember path: KeyPath<TrackDescription, Value>) -> Value {
    description[keyPath: path]
  }

  /// Units a second of the media's times; never 0. Asked for too often for a key path.
  public var timescale: UInt32 { description.timescale }

  /// ISO 639-2, or a BCP 47 tag where the file has one.
  public var language: String { description.languageTag ?? description.language }
}

extension TrackDescription {
  /// Of a track before its boxes have been read, which give it a sample entry and a timescale.
  fileprivate static let unread = TrackDescription(
    .other(
      OtherSampleEntry(handlerType: FourCC(rawValue: 0), type: FourCC(rawValue: 0), payload: [])),
    timescale: 0)
}
