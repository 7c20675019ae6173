// SPDX-License-Identifier: MPL-2.0

import HEVC
public import ISOBMFF
public import StereoVideo

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
