// SPDX-License-Identifier: LGPL-2.1-or-later

/// What a track of a movie is, before its first sample.
public struct TrackDescription: Equatable, Sendable {
  /// What the samples are; all have the same entry.
  public var sampleEntry: SampleEntry
  /// Units a second of the track's times; above 0.
  public var timescale: UInt32
  /// Three lower-case letters of ISO 639-2; `und` for anything else.
  public var language: String
  /// A BCP 47 tag, where it says more than `language` (`elng`).
  public var languageTag: String?
  /// How the picture is turned before it is shown.
  public var orientation = PictureOrientation.upright
  /// What is said about the track.
  public var metadata: [MetadataItem] = []
  /// Further boxes of the track's `udta`, such as its `name`.
  public var userData: [OpaqueBox] = []
  /// Tracks of one group, other than 0, are alternatives to each other.
  public var alternateGroup: UInt16 = 0
  /// Meant to be played unless the viewer says otherwise.
  public var isEnabled = true
  /// Tracks that this one refers to, by the numbers that `addTrack` gave them.
  public var references: [TrackReference] = []
  /// The box that says what kind of media it is, such as `gmhd`; nil for the usual one.
  public var mediaHeader: OpaqueBox?
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
}
