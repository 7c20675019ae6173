// SPDX-License-Identifier: MPL-2.0

public import HEVC

extension WovenAccessUnit {
  /// Its bytes, made from those of the two access units that it is woven from.
  public func bytes(
    _ left: AccessUnit, _ right: AccessUnit, framing: NALUnitFraming = .annexB
  ) -> [UInt8] {
    let count = byteCount(framing: framing)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      write(
        framing: framing, left: left.bytes.span.bytes, right: right.bytes.span.bytes,
        into: UnsafeMutableRawBufferPointer(buffer))
      initialized = count
    }
  }
}
