// SPDX-License-Identifier: MPL-2.0

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
