// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF
public import StereoVideo

/// The number of a stream, counted from 0 in the order of ``PlayerOutput/streams(_:)``.
public struct StreamID: RawRepresentable, Hashable, Sendable {
  /// Index from 0.
  public let rawValue: Int

  /// Creates the ID of a stream from its index.
  public init(rawValue: Int) {
    self.rawValue = rawValue
  }
}

/// A stream that a player offers: a track's samples as they are, or one eye of a layered track.
public struct PlayerStream: Sendable {
  /// The content of the samples.
  public enum Role: Hashable, Sendable {
    /// One eye of a layered track, as a separate single-layer stream.
    case eye(Eye)
    /// The unmodified samples.
    case samples
  }

  /// The media type.
  public enum Kind: Hashable, Sendable {
    case video, audio
    /// Anything else, with samples only now and then.
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

  /// The ID that outputs refer to.
  public let id: StreamID
  /// The content: one eye, or the unmodified samples of the track.
  public let role: Role
  /// The media type.
  public let kind: Kind
  /// Index among the tracks of the same media type, from 0; an eye has the number of its track.
  public let number: Int
  /// The track, without its samples; nil for a stream without a container.
  public let track: Track?
  /// The initial format; ``PlayerOutput/format(_:_:)`` reports changes.
  public let format: StreamFormat
  /// Whether the stream is not meant to be played by default.
  public let isUnselected: Bool
}

/// The format of a stream's samples.
public enum StreamFormat: Sendable {
  /// Single-layer H.265 with 4-byte length prefixes.
  case eye(EyeFormat)
  /// Samples as described by a sample entry.
  case samples(SampleFormat)
  /// H.265 without a container, with any number of layers.
  case elementary(ElementaryFormat)
}

/// The format of one eye of a layered track.
public struct EyeFormat: Equatable, Sendable {
  /// The VPS, SPS and PPS that decoders need first.
  public var parameterSets: SingleLayerParameterSets
  /// Properties of the pictures according to the file or the stream.
  public var description: VideoDescription
  /// Camera geometry according to the file; nil for a stream without a container.
  public var spatial: SpatialMetadata?
  /// Whether the stream has a single view, which belongs to neither eye in particular.
  public var isMono: Bool
}

extension EyeFormat {
  /// Returns the format with other parameter sets, whose VUI fills in unknown properties.
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

/// The format of a track's samples.
public struct SampleFormat: Sendable {
  /// The sample entry.
  public var entry: SampleEntry
  /// Properties of the pictures according to the file; empty for media other than video.
  public var description: VideoDescription
  /// Number of views in layered video; otherwise 1.
  public var viewCount: Int
}

/// The format of H.265 without a container.
public struct ElementaryFormat: Equatable, Sendable {
  /// How NAL units are separated: by start codes or by length prefixes.
  public var framing: NALUnitFraming
  /// Number of views; nil for a single-layer stream.
  public var viewCount: Int?
  /// Luma bit depth of the eyes; nil if unknown.
  public var bitDepth: Int?
  /// Frames per second according to the options, the source or the stream; nil if unknown.
  public var frameRate: Ratio?
}

/// Properties of pictures beyond their coding, from the file or, if it does not give them, from the
/// stream.
public struct VideoDescription: Equatable, Sendable {
  /// Frames per second; nil if unknown or not constant.
  public var frameRate: Ratio?
  /// Average frame duration at a variable frame rate; nil if unknown.
  public var averageFrameDuration: ClockTime?
  /// Width of a pixel divided by its height; nil if unknown.
  public var pixelAspectRatio: Ratio?
  /// Colour primaries, transfer, matrix and range; nil if unknown.
  public var colour: ColourInformation?
  /// Mastering display colour volume; nil if unknown.
  public var masteringDisplay: MasteringDisplayColourVolume?
  /// Content light level; nil if unknown.
  public var contentLightLevel: ContentLightLevel?

  /// Creates a description with a frame rate alone.
  public init(frameRate: Ratio? = nil) {
    self.frameRate = frameRate
  }

  /// Creates a description from a sample entry: its boxes, and for what they lack the prefix SEI
  /// messages in `hvcC`.
  public init(_ entry: VisualSampleEntry) {
    self.init(boxesOf: entry)
    for unit in LayeredContent.configuration(of: entry)?.parameterSets ?? [] {
      fillGaps(fromSEI: unit)
    }
  }

  /// Creates a description from the boxes of a sample entry.
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

  /// Fills in unknown properties from the stream's VUI.
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
