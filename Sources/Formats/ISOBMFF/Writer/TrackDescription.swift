// SPDX-License-Identifier: MPL-2.0

/// What a track of a movie is, beside its samples: one that was read, or one that is to be written.
public struct TrackDescription: Equatable, Sendable {
  /// What the samples are; in a track that is to be written, all have this entry.
  public var sampleEntry: SampleEntry
  /// Units a second of the media's times; above 0.
  public var timescale: UInt32
  /// Three lower-case letters of ISO 639-2; `und` for anything else (`mdhd`).
  public var language: String
  /// A BCP 47 tag, where it says more than `language` (`elng`).
  public var languageTag: String?
  /// How the picture is turned before it is shown.
  public var orientation = PictureOrientation.upright
  /// The items of the track's own `meta` and `udta`.
  public var metadata: [MetadataItem] = []
  /// The boxes of the track's `udta`, such as its `name`; of one that is to be written, without
  /// those that ``metadata`` becomes.
  public var userData: [OpaqueBox] = []
  /// Tracks of one group, other than 0, are alternatives to each other.
  public var alternateGroup: UInt16 = 0
  /// Meant to be played unless the viewer says otherwise.
  public var isEnabled = true
  /// Tracks that this one refers to, by their numbers, which `addTrack` gives (`tref`).
  public var references: [TrackReference] = []
  /// The box that says what kind of media it is, where it is not the usual one: `gmhd`, `sthd`.
  public var mediaHeader: OpaqueBox?
  /// How the picture surrounds the viewer, for programs that read nothing newer.
  public var sphericalVideoV1: SphericalVideoV1?
  /// A name for people, in `hdlr`.
  public var handlerName: String?

  public init(_ sampleEntry: SampleEntry, timescale: UInt32, language: String = "und") {
    self.sampleEntry = sampleEntry
    self.timescale = timescale
    self.language = language
  }
}

/// The number of a track in its file, from 1 on (`tkhd`).
public struct TrackID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  public var description: String { "track \(rawValue)" }

  /// Where the track stands among the `count` tracks of a movie that is written.
  func index(in count: Int) throws(MovieWriterError) -> Int {
    guard let number = Int(exactly: rawValue), number >= 1, number <= count else {
      throw .unknownTrack(self)
    }
    return number - 1
  }
}

extension TrackDescription {
  /// Takes a sample entry of the same kind in place of the present one.
  mutating func replaceSampleEntry(
    by entry: SampleEntry, of track: TrackID
  ) throws(MovieWriterError) {
    guard sampleEntry.isOfKind(of: entry) else { throw .mediaKindChanged(track) }
    sampleEntry = entry
  }
}
