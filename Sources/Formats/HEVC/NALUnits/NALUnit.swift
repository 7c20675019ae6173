// SPDX-License-Identifier: MPL-2.0

/// `nal_unit_type`, H.265 (table 7-1). Values 0 to 63.
public struct NALUnitType: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt8

  /// The type with the number `rawValue`; only its lowest six bits count.
  public init(rawValue: UInt8) { self.rawValue = rawValue & 0x3F }

  /// TRAIL_N
  public static let trailN = NALUnitType(rawValue: 0)
  /// TRAIL_R
  public static let trailR = NALUnitType(rawValue: 1)
  /// RADL_N
  public static let radlN = NALUnitType(rawValue: 6)
  /// RADL_R
  public static let radlR = NALUnitType(rawValue: 7)
  /// RASL_N
  public static let raslN = NALUnitType(rawValue: 8)
  /// RASL_R
  public static let raslR = NALUnitType(rawValue: 9)
  /// BLA_W_LP
  public static let blaWLP = NALUnitType(rawValue: 16)
  /// BLA_N_LP
  public static let blaNLP = NALUnitType(rawValue: 18)
  /// IDR_W_RADL
  public static let idrWRADL = NALUnitType(rawValue: 19)
  /// IDR_N_LP
  public static let idrNLP = NALUnitType(rawValue: 20)
  /// CRA_NUT
  public static let cra = NALUnitType(rawValue: 21)
  /// VPS_NUT
  public static let videoParameterSet = NALUnitType(rawValue: 32)
  /// SPS_NUT
  public static let sequenceParameterSet = NALUnitType(rawValue: 33)
  /// PPS_NUT
  public static let pictureParameterSet = NALUnitType(rawValue: 34)
  /// AUD_NUT
  public static let accessUnitDelimiter = NALUnitType(rawValue: 35)
  /// EOS_NUT
  public static let endOfSequence = NALUnitType(rawValue: 36)
  /// EOB_NUT
  public static let endOfBitstream = NALUnitType(rawValue: 37)
  /// FD_NUT
  public static let fillerData = NALUnitType(rawValue: 38)
  /// PREFIX_SEI_NUT
  public static let prefixSEI = NALUnitType(rawValue: 39)
  /// SUFFIX_SEI_NUT
  public static let suffixSEI = NALUnitType(rawValue: 40)

  /// A slice segment, or a type reserved for one.
  public var isVCL: Bool { rawValue < 32 }
  /// A slice segment of a type that is not reserved.
  public var isSliceSegment: Bool { rawValue <= 9 || 16...21 ~= rawValue }
  /// An intra random access point: BLA, IDR, CRA and the two types reserved for one.
  public var isIRAP: Bool { 16...23 ~= rawValue }
  /// IDR_W_RADL or IDR_N_LP.
  public var isIDR: Bool { self == .idrWRADL || self == .idrNLP }
  /// BLA_W_LP, BLA_W_RADL or BLA_N_LP.
  public var isBLA: Bool { 16...18 ~= rawValue }
  /// A leading picture that decodes after a random access to its IRAP picture.
  public var isRADL: Bool { self == .radlN || self == .radlR }
  /// A leading picture that is skipped after a random access to its IRAP picture.
  public var isRASL: Bool { self == .raslN || self == .raslR }
  /// A picture that no other picture of its temporal sub-layer refers to.
  public var isSubLayerNonReference: Bool { rawValue < 16 && rawValue & 1 == 0 }
  /// The next picture begins a coded video sequence, whatever its type: EOS_NUT or EOB_NUT.
  var endsSequence: Bool { self == .endOfSequence || self == .endOfBitstream }
  /// VPS, SPS or PPS.
  public var isParameterSet: Bool { 32...34 ~= rawValue }

  /// A type of which the first in front of a picture begins an access unit (7.4.2.4.4).
  var beginsAccessUnit: Bool {
    isParameterSet || self == .accessUnitDelimiter || self == .prefixSEI
      || 41...44 ~= rawValue || 48...55 ~= rawValue
  }
}

extension NALUnitType: CustomStringConvertible {
  public var description: String {
    switch rawValue {
    case 0...9:
      let kind = ["TRAIL", "TSA", "STSA", "RADL", "RASL"][Int(rawValue >> 1)]
      return kind + (rawValue & 1 == 0 ? "_N" : "_R")
    case 16...21:
      return ["BLA_W_LP", "BLA_W_RADL", "BLA_N_LP", "IDR_W_RADL", "IDR_N_LP", "CRA"][
        Int(rawValue - 16)]
    case 32...40:
      return ["VPS", "SPS", "PPS", "AUD", "EOS", "EOB", "FD", "PREFIX_SEI", "SUFFIX_SEI"][
        Int(rawValue - 32)]
    default:
      return "type \(rawValue)"
    }
  }
}

/// `nal_unit_header()`, H.265 (7.3.1.2): two bytes in front of every NAL unit.
public struct NALUnitHeader: Hashable, Sendable {
  /// `nal_unit_type`
  public var type: NALUnitType
  /// `nuh_layer_id`, 0 to 63: 0 is the base layer.
  public var layerID: UInt8
  /// TemporalId, 0 to 6: `nuh_temporal_id_plus1` less one.
  public var temporalID: UInt8

  /// A header of these values.
  public init(type: NALUnitType, layerID: UInt8 = 0, temporalID: UInt8 = 0) {
    self.type = type
    self.layerID = layerID
    self.temporalID = temporalID
  }

  /// The header at the start of `nalUnit`; nil where there are fewer than two bytes, where
  /// `forbidden_zero_bit` is one, or where `nuh_temporal_id_plus1` is 0.
  public init?(_ nalUnit: RawSpan) {
    guard nalUnit.byteCount >= 2 else { return nil }
    let first = nalUnit.unsafeLoad(fromByteOffset: 0, as: UInt8.self)
    let second = nalUnit.unsafeLoad(fromByteOffset: 1, as: UInt8.self)
    guard first & 0x80 == 0, second & 7 != 0 else { return nil }
    type = NALUnitType(rawValue: first >> 1)
    layerID = (first & 1) << 5 | second >> 3
    temporalID = (second & 7) - 1
  }

  /// The two bytes of the header.
  public var bytes: (UInt8, UInt8) {
    (
      type.rawValue << 1 | layerID >> 5 & 1,
      (layerID & 0x1F) << 3 | (temporalID & 7) &+ 1 & 7
    )
  }
}
