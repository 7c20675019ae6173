// SPDX-License-Identifier: MPL-2.0

/// What a player gives.
public enum PlayerOutput: Sendable {
  /// All streams that there are from now on. What follows refers to them.
  case streams([PlayerStream])
  /// From here on a stream consists of something else.
  indirect case format(StreamID, StreamFormat)
  /// A part of a stream begins.
  indirect case segment(StreamID, SegmentStart)
  case sample(StreamID, Sample)
  /// A stream has nothing for a while: from a timestamp on, this long.
  case gap(StreamID, start: Nanoseconds, duration: Nanoseconds)
  /// A stream has nothing any more.
  case endOfStream(StreamID)
  /// The length of the movie, whether it can be sought, or by how much a stream comes late is other
  /// than before.
  case statusChanged
  /// Something was left out or guessed; playing goes on.
  indirect case warning(PlayerWarning)
}

/// The start of a part of a stream.
public struct SegmentStart: Sendable {
  public var segment: PlaybackSegment
  /// The part follows another one without a flush, so that decoders have to give what they hold
  /// first.
  public var followsAnother = false
  /// Nothing is shown in it.
  public var isEmpty = false
}

/// What was left out or guessed.
public struct PlayerWarning: Hashable, Sendable {
  /// What it is about.
  public enum Kind: Hashable, Sendable {
    /// The file ends, or is damaged, before its end; it is played up to there.
    case cutOff
    /// A picture, or what is to be known of some, is damaged.
    case damaged
    /// Layers that are not read, or not for certain as the right eyes.
    case layers
    /// Tracks that are not played.
    case tracks
    /// Edits that are not played as they say.
    case edits
    /// Samples that came before their turn from a source that cannot be sought.
    case order
    /// An unimportant part of the file is wrong.
    case file
  }

  public let kind: Kind
  /// For people, in whole sentences.
  public let message: String
  /// What experts want to know; empty where there is no more.
  public let detail: String

  init(_ kind: Kind, _ message: String, detail: String = "") {
    (self.kind, self.message, self.detail) = (kind, message, detail)
  }
}
