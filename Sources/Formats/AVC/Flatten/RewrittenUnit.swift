// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// Writes NAL units.
enum RewrittenUnit {
  /// Returns a NAL unit with the written bits as payload, with emulation prevention inserted.
  ///
  /// - Parameter refIDC: `nal_ref_idc`.
  static func nalUnit(_ type: NALUnitType, refIDC: Int = 3, _ payload: BitWriter) -> [UInt8] {
    nalUnit(type, refIDC: refIDC, payload.bytes)
  }

  static func nalUnit(_ type: NALUnitType, refIDC: Int = 3, _ payload: [UInt8]) -> [UInt8] {
    var unit = [UInt8(refIDC << 5) | type.rawValue]
    unit.reserveCapacity(payload.count + payload.count >> 6 + 2)
    unit.append(escaping: payload)
    return unit
  }

  /// Returns an access unit delimiter.
  ///
  /// - Parameter kinds: the kinds of the picture's slices.
  static func delimiter(_ kinds: some Sequence<SliceHeader.Kind>) -> [UInt8] {
    var type = 0
    for kind in kinds where !kind.isIntra { type = max(type, kind == .b ? 2 : 1) }
    return [NALUnitType.accessUnitDelimiter.rawValue, UInt8(type << 5 | 0x10)]
  }

  /// Appends a NAL unit to a byte stream.
  static func append(_ nalUnit: [UInt8], to stream: inout [UInt8]) {
    stream += [0, 0, 0, 1]
    stream += nalUnit
  }
}
