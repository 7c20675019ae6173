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

/// What is said of a picture beside its coding: by the file, or where that is silent by the stream.
public struct VideoDescription: Equatable, Sendable {
  /// Frames a second; nil where they are not equally long, or nothing says how long.
  public var frameRate: Ratio?
  /// How long frames are on average that are not equally long; nil where that is not known.
  public var averageFrameDuration: Nanoseconds?
  /// Width of a pixel to its height.
  public var pixelAspectRatio: Ratio?
  public var colour: ColourInformation?
  public var masteringDisplay: MasteringDisplayColourVolume?
  public var contentLightLevel: ContentLightLevel?

  public init(frameRate: Ratio? = nil) {
    self.frameRate = frameRate
  }

  /// What a sample entry says, in its boxes or in messages beside the stream (prefix SEI in
  /// `hvcC`).
  public init(_ entry: VisualSampleEntry) {
    self.init(boxesOf: entry)
    for unit in LayeredContent.configuration(of: entry)?.parameterSets ?? [] {
      fillGaps(fromSEI: unit)
    }
  }

  /// What a sample entry says in its boxes.
  public init(boxesOf entry: VisualSampleEntry) {
    pixelAspectRatio = entry.pixelAspectRatio.flatMap {
      Ratio($0.horizontalSpacing, $0.verticalSpacing)
    }
    colour = entry.colour
    if colour != nil, colour?.fullRange == nil {
      colour?.fullRange = entry.hvcC.flatMap { HEVCDecoderConfigurationRecord.isFullRange($0) }
    }
    masteringDisplay = entry.masteringDisplay
    contentLightLevel = entry.contentLightLevel
  }

  private mutating func fillGaps(fromSEI nalUnit: [UInt8]) {
    guard NALUnitHeader(nalUnit.span.bytes)?.type == .prefixSEI else { return }
    for message in (try? SEIMessage.messages(in: nalUnit.span.bytes)) ?? [] {
      switch message.type {
      case .masteringDisplayColourVolume where masteringDisplay == nil:
        masteringDisplay = try? MasteringDisplayColourVolume(payload: message.payload)
      case .contentLightLevel where contentLightLevel == nil:
        contentLightLevel = try? ContentLightLevel(payload: message.payload)
      default: continue
      }
    }
  }

  /// Fills gaps with what the stream itself says.
  mutating func fillGaps(from vui: VideoUsabilityInformation?) {
    if pixelAspectRatio == nil, let ratio = vui?.sampleAspectRatio {
      pixelAspectRatio = Ratio(ratio.width, ratio.height)
    }
    if colour == nil, let signal = vui?.signalType {
      colour = ColourInformation(
        primaries: UInt16(clamping: signal.colour?.primaries ?? 2),
        transferCharacteristics: UInt16(clamping: signal.colour?.transfer ?? 2),
        matrixCoefficients: UInt16(clamping: signal.colour?.matrix ?? 2),
        fullRange: signal.fullRange)
    }
    if frameRate == nil, averageFrameDuration == nil, let timing = vui?.timing {
      frameRate = Ratio(timing.timeScale, timing.numUnitsInTick)
    }
  }
}
