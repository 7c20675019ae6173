// SPDX-License-Identifier: MPL-2.0

/// `nal_unit_type`, H.265 (table 7-1). Values 0 to 63.
public struct NALUnitType: RawRepresentable, Hashable, Sendable {
  /// `nal_unit_type`.
  public let rawValue: UInt8

  /// Creates a type from the lowest six bits of `rawValue`.
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

  /// Whether this is a slice segment or a VCL type reserved for one.
  public var isVCL: Bool { rawValue < 32 }
  /// Whether this is a slice segment of a type that is not reserved.
  public var isSliceSegment: Bool { rawValue <= 9 || 16...21 ~= rawValue }
  /// Whether this is an intra random access point: BLA, IDR, CRA or one of the two reserved IRAP
  /// types.
  public var isIRAP: Bool { 16...23 ~= rawValue }
  /// Whether this is IDR_W_RADL or IDR_N_LP.
  public var isIDR: Bool { self == .idrWRADL || self == .idrNLP }
  /// Whether this is BLA_W_LP, BLA_W_RADL or BLA_N_LP.
  public var isBLA: Bool { 16...18 ~= rawValue }
  /// Whether this is a leading picture that stays decodable after random access at its IRAP
  /// picture.
  public var isRADL: Bool { self == .radlN || self == .radlR }
  /// Whether this is a leading picture that is skipped after random access at its IRAP picture.
  public var isRASL: Bool { self == .raslN || self == .raslR }
  /// Whether no other picture of the same temporal sub-layer refers to this picture.
  public var isSubLayerNonReference: Bool { rawValue < 16 && rawValue & 1 == 0 }
  /// Whether this is EOS_NUT or EOB_NUT, after which the next picture begins a coded video
  /// sequence.
  var endsSequence: Bool { self == .endOfSequence || self == .endOfBitstream }
  /// Whether this is a VPS, SPS or PPS.
  public var isParameterSet: Bool { 32...34 ~= rawValue }

  /// Whether the first NAL unit of this type before a picture begins its access unit (7.4.2.4.4).
  var beginsAccessUnit: Bool {
    isParameterSet || self == .accessUnitDelimiter || self == .prefixSEI
      || 41...44 ~= rawValue || 48...55 ~= rawValue
  }
}

extension NALUnitType: CustomStringConvertible {
  /// The name in table 7-1 without `_NUT`, such as `IDR_W_RADL`, or `type 41` for unnamed types.
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

/// `nal_unit_header()`, H.265 (7.3.1.2): the first two bytes of every NAL unit.
public struct NALUnitHeader: Hashable, Sendable {
  /// `nal_unit_type`
  public var type: NALUnitType
  /// `nuh_layer_id`, 0 to 63: 0 is the base layer.
  public var layerID: UInt8
  /// TemporalId, 0 to 6: `nuh_temporal_id_plus1` minus 1.
  public var temporalID: UInt8

  /// Creates a header from its fields.
  public init(type: NALUnitType, layerID: UInt8 = 0, temporalID: UInt8 = 0) {
    self.type = type
    self.layerID = layerID
    self.temporalID = temporalID
  }

  /// Reads the header at the start of `nalUnit`; nil if there are fewer than two bytes,
  /// `forbidden_zero_bit` is 1, or `nuh_temporal_id_plus1` is 0.
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
