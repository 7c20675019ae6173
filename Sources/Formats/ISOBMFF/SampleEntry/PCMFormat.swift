// SPDX-License-Identifier: MPL-2.0

/// How uncompressed audio is stored.
public struct PCMFormat: Equatable, Sendable {
  /// 8, 16, 24 or 32 for integers, 32 or 64 for floating point.
  public var bitsPerSample: UInt16
  /// Floating point (IEEE 754) rather than integers.
  public var isFloat: Bool
  /// The most significant byte comes first.
  public var isBigEndian: Bool
  /// Integers below zero exist; only 8-bit integers may be without, and not in MP4.
  public var isSigned: Bool

  public init(
    bitsPerSample: UInt16, isFloat: Bool = false, isBigEndian: Bool = false,
    isSigned: Bool = true
  ) {
    self.bitsPerSample = bitsPerSample
    self.isFloat = isFloat
    self.isBigEndian = isBigEndian
    self.isSigned = isSigned
  }

  /// The bytes of one channel's sample.
  public var bytesPerSample: UInt32 { (UInt32(bitsPerSample) + 7) / 8 }

  /// `formatSpecificFlags` of a version 2 sound description (QuickTime File Format, "LPCM flag
  /// values"); always packed.
  var lpcmFlags: UInt32 {
    (isFloat ? 1 : 0) | (isBigEndian ? 2 : 0) | (isSigned && !isFloat ? 4 : 0) | 8
  }
}
