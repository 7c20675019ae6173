// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC

/// One access unit of both eyes, ready for a pad or a movie.
struct LayeredFrame {
  /// NAL units with four-byte lengths, parameter sets left out.
  let buffer: Buffer
  /// Running times in nanoseconds; the decode time may be negative.
  let presentationTime: Int64
  let decodeTime: Int64
  /// 0 where it is not known.
  let duration: ClockTime
  /// How long a picture is shown that is the only one and does not say how long it lasts.
  static let stillDuration = ClockTime.second
  let isSync: Bool
  /// Whether other pictures need this one.
  let isReference: Bool
}

/// What a decoder or a container has to know of a layered stream before its first access unit.
struct LayeredConfiguration: Equatable {
  /// The records of ISO/IEC 14496-15: the base layer's and the dependent layer's.
  let hvcC: [UInt8]
  let lhvC: [UInt8]
  /// What a byte stream has in front of its keyframes, in this order.
  let parameterSets: [[UInt8]]
  /// Of one eye.
  let width: Int
  let height: Int
  let bitDepth: Int

  /// What these parameter sets say.
  init(_ sets: LayeredParameterSets) throws {
    let record = try HEVCDecoderConfigurationRecord(sets)
    hvcC = record.bytes
    lhvC = try LHEVCDecoderConfigurationRecord(sets).bytes
    parameterSets = sets.nalUnits.filter { !$0.isEmpty }
    guard let first = sets.baseSequenceParameterSets.first else {
      throw ElementError(.format, "The base eye's stream has no sequence parameter set.")
    }
    let sps = try SequenceParameterSet(nalUnit: first)
    width = sps.visibleSize.width
    height = sps.visibleSize.height
    bitDepth = record.bitDepthLuma
  }
}
