// SPDX-License-Identifier: LGPL-2.1-or-later

/// One track of a movie (ISO/IEC 14496-12 8.3).
public struct Track: Sendable {
  /// What a track is for: `vide`, `soun`, `meta`, `text`, `tmcd` and so on (`hdlr`).
  public internal(set) var handlerType: FourCC = FourCC(rawValue: 0)
  /// A name for people.
  public internal(set) var handlerName = ""
  /// Not 0, and unlike that of any other track, in a proper file.
  public internal(set) var id = TrackID(rawValue: 0)
  /// Meant to be played unless the viewer says otherwise.
  public internal(set) var isEnabled = true
  /// Seconds since 1904-01-01 00:00 UTC; 0 is not known.
  public internal(set) var creationTime: UInt64 = 0
  /// In units of the movie's timescale, after edit lists; nil where it is not known.
  public internal(set) var duration: UInt64?
  /// Tracks with lower numbers lie in front.
  public internal(set) var layer: Int16 = 0
  /// Tracks of one group, other than 0, are alternatives to each other.
  public internal(set) var alternateGroup: UInt16 = 0
  /// 8.8 fixed-point.
  public internal(set) var volume: UInt16 = 0
  public internal(set) var matrix = TransformMatrix.identity
  /// The size to show the track in.
  public internal(set) var size = FixedPointSize(width: 0, height: 0)
  /// Units a second of the media's times; never 0.
  public internal(set) var timescale: UInt32 = 0
  /// In units of the track's timescale, before edit lists; nil where it is not known.
  public internal(set) var mediaDuration: UInt64?
  /// ISO 639-2, or a BCP 47 tag where the file has one.
  public internal(set) var language = "und"
  /// What plays when; the whole media from the movie's start if it is empty.
  public internal(set) var edits: [Edit] = []
  /// At least one; a sample says which is its own.
  public internal(set) var sampleEntries: [SampleEntry] = []
  /// Where the samples lie and when they play.
  public internal(set) var samples = TrackSamples(nil)
  /// Tracks that this one refers to, by the kind of reference (`tref`).
  public internal(set) var references: [(type: FourCC, tracks: [TrackID])] = []
  /// The items of the track's own `meta` and `udta`.
  public internal(set) var metadata: [MetadataItem] = []
  /// The boxes of `udta`, as they are.
  public internal(set) var userData: [OpaqueBox] = []
  /// Every other box of `trak`, `mdia`, `minf` and `stbl`, in the file's order.
  public internal(set) var otherBoxes: [OpaqueBox] = []
}
