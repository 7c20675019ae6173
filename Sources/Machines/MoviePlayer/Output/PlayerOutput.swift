// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF

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

/// What a player came to: something that it gives, or something that it needs first.
public enum PlayerStep: Sendable {
  case output(PlayerOutput)
  /// These bytes of a source that can be read anywhere: answer with
  /// ``MoviePlayer/supply(_:)``. Until then the player asks again.
  case read(ReadRequest)
  /// The next bytes of a stream: go on when they have been given to ``MoviePlayer/append(_:_:)``.
  case awaitBytes
  /// A stream has to go on at this byte: answer with ``MoviePlayer/sourceMoved()`` or
  /// ``MoviePlayer/sourceStays()``. Until then the player asks again.
  case moveSource(to: UInt64)
  /// Nothing more comes, but for a seek.
  case end(PlayerEnd)
}

/// Bytes that a player has to have before it can go on.
public struct ReadRequest: Hashable, Sendable {
  /// Where they lie in the file; what there is of them will do.
  public var range: Range<UInt64>
  /// Whether the source may not have them: the player wants to know where the file ends.
  public var isProbe = false
}

/// How playing came to its end.
public enum PlayerEnd: Hashable, Sendable {
  /// All has been played.
  case endOfStream
  /// The segment has been played that a seek asked for with
  /// ``PlaybackSegment/Flags/endsWithSegmentDone``: up to this time of the movie.
  case segmentDone(at: Nanoseconds)
  /// Nobody wants any of the streams.
  case nothingSelected
}

/// A sample of a stream: coded data with its times.
public struct Sample: Sendable {
  /// What is to be known of a sample before it is decoded.
  public struct Flags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The sample does not continue the one before.
    public static let discontinuity = Flags(rawValue: 1 << 0)
    /// Decoding cannot start here.
    public static let delta = Flags(rawValue: 1 << 1)
    /// No other sample needs this one.
    public static let droppable = Flags(rawValue: 1 << 2)
    /// It is to be decoded for what follows, and not to be shown.
    public static let decodeOnly = Flags(rawValue: 1 << 3)
  }

  public var data: SampleData
  /// When it is shown, as a timestamp of its stream's segment; nil where nothing says that.
  public var presentationTime: Nanoseconds?
  /// When it is decoded, as such a timestamp; not after `presentationTime`.
  public var decodeTime: Nanoseconds?
  /// How long it is shown; nil where nothing says that.
  public var duration: Nanoseconds?
  public var flags: Flags = []
}

/// What a player has to give, in order.
struct OutputQueue: Sendable {
  private var outputs: [PlayerOutput?] = []
  private var head = 0
  /// Warnings are given once each, whatever their details.
  private var warned: Set<String> = []

  /// More different warnings than these help nobody.
  private static let maximumWarningCount = 64

  mutating func append(_ output: PlayerOutput) { outputs.append(output) }

  mutating func warn(_ warning: PlayerWarning) {
    guard warned.count < Self.maximumWarningCount, warned.insert(warning.message).inserted else {
      return
    }
    append(.warning(warning))
  }

  mutating func popFirst() -> PlayerOutput? {
    guard head < outputs.count else { return nil }
    // What is given out is not kept here, so that a caller may be the only one to hold it.
    let output = outputs[head].take()
    head += 1
    if head == outputs.count {
      outputs.removeAll(keepingCapacity: true)
      head = 0
    }
    return output
  }

  /// Drops what has not been given out, as a seek wants it, and forgets what was warned about.
  mutating func clear() {
    outputs.removeAll(keepingCapacity: true)
    head = 0
    warned.removeAll()
  }
}

/// Why a player gives no more.
public enum MoviePlayerError: Error, Sendable {
  /// The input has no bytes.
  case empty
  /// The input is no movie, or its index cannot be read, or asks for more than there is.
  case unreadable(ISOBMFFError)
  /// The movie has no track with samples.
  case noTracks
  /// The input ended before anything in it could be played.
  case nothingPlayable
  /// The decoder configuration records or parameter sets that came beside a stream cannot be read:
  /// why.
  case configuration(String)
  /// The input is no H.265 byte stream.
  case noByteStream(AccessUnitAssembler.TooLarge)
  /// The source was moved, and does not go back.
  case sourceLost
  /// The source was moved to this byte as it said that it could be, and gives nothing there.
  case deadEnd(UInt64)
}

extension MoviePlayerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "The input is empty."
    case .unreadable(let error): "The movie cannot be read: \(error)."
    case .noTracks: "The movie has no track with samples."
    case .nothingPlayable: "The stream ended before anything in it could be played."
    case .configuration(let reason):
      "The stream's codec_data is not a decoder configuration record: \(reason)."
    case .noByteStream(let error): "\(error)"
    case .sourceLost: "The input was sought, and does not go back to its start."
    case .deadEnd(let place):
      "The input says that it can be sought, but gives nothing from byte \(place) on."
    }
  }
}
