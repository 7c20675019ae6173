// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// Writing of NAL units.
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

  /// Returns the SEI NAL unit without messages about the buffer, the timing, the marking and the
  /// views, which do not apply to a flattened stream; nil if none are left or it is unreadable.
  static func sei(_ nalUnit: [UInt8]) -> [UInt8]? {
    guard let all = try? SEIMessage.messages(in: nalUnit.span.bytes, headerSize: 1) else {
      return nil
    }
    let kept = all.filter { keptMessages.contains($0.type.rawValue) }
    guard !kept.isEmpty else { return nil }
    if kept.count == all.count { return nalUnit }
    return Self.nalUnit(.sei, refIDC: 0, SEIMessage.payload(kept))
  }

  /// Pan-scan rectangle, user data, display orientation, mastering display, content light level and
  /// alternative transfer characteristics.
  private static let keptMessages: Set<Int> = [2, 4, 5, 47, 137, 144, 147]

  /// Appends a NAL unit to a byte stream.
  static func append(_ nalUnit: [UInt8], to stream: inout [UInt8]) {
    stream += [0, 0, 0, 1]
    stream += nalUnit
  }
}
