// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension BitWriter {
  /// The NAL unit of what was written: `header`, then the payload with emulation prevention.
  ///
  /// - Precondition: the payload is whole bytes; ``trailingBits()`` sees to that.
  public func nalUnit(_ header: NALUnitHeader) -> [UInt8] {
    RBSP.nalUnit(header, payload: bytes)
  }
}
