// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF
public import StereoVideo

/// An event that a player outputs, in order.
public enum PlayerOutput: Sendable {
  /// All streams from now on. The following outputs refer to them.
  case streams([PlayerStream])
  /// A stream changes its format.
  indirect case format(StreamID, StreamFormat)
  /// A segment of a stream begins.
  indirect case segment(StreamID, SegmentStart)
  /// The next sample of a stream.
  case sample(StreamID, Sample)
  /// A stream has no data from `start`, a timestamp, for `duration`.
  case gap(StreamID, start: ClockTime, duration: ClockTime)
  /// A stream has ended.
  case endOfStream(StreamID)
  /// The movie's duration, its seekability or a stream's latency has changed.
  case statusChanged
  /// A defect was worked around; playback continues.
  indirect case warning(PlayerWarning)
}

/// The start of a segment of a stream.
public struct SegmentStart: Sendable {
  /// The segment, with the stream's own timestamps.
  public var segment: PlaybackSegment
  /// Whether the segment follows another one without a flush, so that decoders must be drained
  /// first.
  public var followsAnother = false
  /// Whether the segment shows nothing.
  public var isEmpty = false
}

/// A defect that the player worked around.
public struct PlayerWarning: Hashable, Sendable {
  /// The subject of the warning.
  public enum Kind: Hashable, Sendable {
    /// The file is truncated or damaged, and is played up to that point.
    case cutOff
    /// A picture, or data needed to decode some, is damaged.
    case damaged
    /// Layers are left out, or it is uncertain which eye they belong to.
    case layers
    /// Tracks are left out.
    case tracks
    /// Edits are not played as written.
    case edits
    /// Samples of a source that cannot seek are stored out of order.
    case order
    /// An unimportant part of the file is invalid.
    case file
  }

  /// The subject of the warning.
  public let kind: Kind
  /// The message for users, in complete sentences.
  public let message: String
  /// Details for experts; empty if there are none.
  public let detail: String

  init(_ kind: Kind, _ message: String, detail: String = "") {
    (self.kind, self.message, self.detail) = (kind, message, detail)
  }
}

/// The result of one step of a player: an output, or something it needs first.
public enum PlayerStep: Sendable {
  /// An output for the caller.
  case output(PlayerOutput)
  /// The player needs bytes of a random-access source. Answer with ``MoviePlayer/supply(_:)``;
  /// until then the request is repeated.
  case read(ReadRequest)
  /// The player needs more bytes of a stream. Pass them to ``MoviePlayer/append(_:_:)`` and
  /// continue.
  case awaitBytes
  /// The stream should continue at this byte offset. Answer with ``MoviePlayer/sourceMoved()`` or
  /// ``MoviePlayer/sourceStays()``; until then the request is repeated.
  case moveSource(to: UInt64)
  /// Nothing more follows unless the caller seeks.
  case end(PlayerEnd)
}

/// A request for bytes that a player needs before it can continue.
public struct ReadRequest: Hashable, Sendable {
  /// Byte range in the file. An answer may be shorter at the end of the file.
  public var range: Range<UInt64>
  /// Whether the bytes may not exist: the player is looking for the end of the file.
  public var isProbe = false
}

/// The way in which playback ended.
public enum PlayerEnd: Hashable, Sendable {
  /// Everything has been played.
  case endOfStream
  /// The segment of a seek with ``PlaybackSegment/Flags/endsWithSegmentDone`` has been played, up
  /// to this movie time.
  case segmentDone(at: ClockTime)
  /// No stream is selected.
  case nothingSelected
}

/// A sample of a stream: coded data and its times.
public struct Sample: Sendable {
  /// Properties of a sample that matter before it is decoded.
  public struct Flags: OptionSet, Hashable, Sendable {
    /// The bits.
    public let rawValue: UInt8

    /// Creates flags from their bits.
    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The sample does not continue the previous one.
    public static let discontinuity = Flags(rawValue: 1 << 0)
    /// Decoding cannot start here.
    public static let delta = Flags(rawValue: 1 << 1)
    /// No other sample depends on this one.
    public static let droppable = Flags(rawValue: 1 << 2)
    /// The sample is a reference for others and must not be shown.
    public static let decodeOnly = Flags(rawValue: 1 << 3)
  }

  /// The coded data.
  public var data: SampleData
  /// Presentation time as a timestamp of the stream's segment; nil if unknown.
  public var presentationTime: ClockTime?
  /// Decode time as a timestamp of the stream's segment, not after `presentationTime`; nil if
  /// unknown.
  public var decodeTime: ClockTime?
  /// Duration; nil if unknown.
  public var duration: ClockTime?
  /// Properties that matter before the sample is decoded.
  public var flags: Flags = []
}

/// The pending outputs of a player, in order.
struct OutputQueue: Sendable {
  private var outputs: [PlayerOutput?] = []
  private var head = 0
  /// The messages sent so far: each is sent only once, whatever its details.
  private var warned: Set<String> = []

  /// Further messages would help no user.
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
    // The queue gives up its reference, so that the caller may hold the only one.
    let output = outputs[head].take()
    head += 1
    if head == outputs.count {
      outputs.removeAll(keepingCapacity: true)
      head = 0
    }
    return output
  }

  /// Drops the pending outputs, for a seek, and allows all warnings again.
  mutating func clear() {
    outputs.removeAll(keepingCapacity: true)
    head = 0
    warned.removeAll()
  }
}

/// The error that ends playback.
public enum MoviePlayerError: Error, Sendable {
  /// The input has no bytes.
  case empty
  /// The input is not a movie, or its index is invalid or asks for more than the file can hold.
  case unreadable(ISOBMFFError)
  /// The movie has no track with samples.
  case noTracks
  /// The input ended before anything in it could be played.
  case nothingPlayable
  /// The decoder configuration records or out-of-band parameter sets of a stream are invalid, for
  /// this reason.
  case configuration(String)
  /// The input is not an H.265 byte stream.
  case noByteStream(AccessUnitAssembler.TooLarge)
  /// The source was moved and does not return.
  case sourceLost
  /// The source reported that it can seek, but delivered nothing from this byte offset.
  case deadEnd(UInt64)
}

extension MoviePlayerError: CustomStringConvertible {
  /// The message for users, a complete sentence.
  public var description: String {
    switch self {
    case .empty: "The input is empty."
    case .unreadable(let error): "The movie cannot be read: \(error)."
    case .noTracks: "The movie has no track with samples."
    case .nothingPlayable: "The stream ended before anything in it could be played."
    case .configuration(let reason):
      "The stream's codec_data is not a decoder configuration record: \(reason)."
    case .noByteStream(let error): "\(error)"
    case .sourceLost: "The input cannot seek back to its start after a seek."
    case .deadEnd(let place):
      "The input reports that it is seekable, but has no data from byte \(place) on."
    }
  }
}
