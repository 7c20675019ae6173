// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF
public import StereoVideo

/// The number of a stream that a player gives, from 0 on in the order of its streams.
public struct StreamID: RawRepresentable, Hashable, Sendable {
  public let rawValue: Int

  public init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// A stream that a player gives: a track's samples as they are, or one eye of a layered track.
public struct PlayerStream: Sendable {
  /// What the samples show.
  public enum Role: Hashable, Sendable {
    /// One eye of a layered track, as a stream of its own.
    case eye(Eye)
    /// The samples as they are.
    case samples
  }

  /// What kind of media.
  public enum Kind: Hashable, Sendable {
    case video, audio
    /// Anything else: samples come now and then.
    case other

    init(handlerType: FourCC) {
      self =
        switch handlerType {
        case "vide": .video
        case "soun": .audio
        default: .other
        }
    }
  }

  public let id: StreamID
  public let role: Role
  public let kind: Kind
  /// Which one of its kind this is, in the order of the tracks, from 0 on; of an eye, which the
  /// track's samples are.
  public let number: Int
  /// The track that the samples are of, without them; nil for a stream without a container.
  public let track: Track?
  /// What the samples consist of; ``PlayerOutput/format(_:_:)`` tells where that changes.
  public let format: StreamFormat
  /// Whether the stream is not meant to be played unasked.
  public let isUnselected: Bool
}

/// What the samples of a stream consist of.
public enum StreamFormat: Sendable {
  /// Plain H.265 with length prefixes of four bytes.
  case eye(EyeFormat)
  /// Samples as a sample entry describes them.
  case samples(SampleFormat)
  /// H.265 without a container, of any number of layers.
  case elementary(ElementaryFormat)
}

/// One eye of a layered track.
public struct EyeFormat: Equatable, Sendable {
  /// What decoders need first.
  public var parameterSets: SingleLayerParameterSets
  /// What is said of the pictures by the file or the stream.
  public var description: VideoDescription
  /// How the pair was shot, as far as the file says; nil where there is no file.
  public var spatial: SpatialMetadata?
  /// The stream has one view only, and shows no eye in particular.
  public var isMono: Bool
}

extension EyeFormat {
  /// The format of an eye with these parameter sets, which say what nothing else does.
  func with(_ sets: SingleLayerParameterSets) -> EyeFormat {
    var format = self
    format.parameterSets = sets
    let sps = sets.sequenceParameterSets.first.flatMap {
      try? SequenceParameterSet(nalUnit: $0)
    }
    format.description.fillGaps(from: sps?.vui)
    return format
  }
}

/// The samples of a track.
public struct SampleFormat: Sendable {
  public var entry: SampleEntry
  /// Of video, what is said of the pictures by the file.
  public var description: VideoDescription
  /// Of video in layers, how many views the samples have; else 1.
  public var viewCount: Int
}

/// H.265 without a container.
public struct ElementaryFormat: Equatable, Sendable {
  public var framing: NALUnitFraming
  /// How many views; nil for a stream of one layer.
  public var viewCount: Int?
  /// Bits a luma sample in the eyes; nil where that is not known.
  public var bitDepth: Int?
  /// Frames a second, as somebody or the stream says; nil where nobody does.
  public var frameRate: Ratio?
}
