// SPDX-License-Identifier: MPL-2.0

public import HEVC

extension WovenAccessUnit {
  /// Its bytes, made of those of the two access units of which it is woven.
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
