// SPDX-License-Identifier: MPL-2.0

/// Which loudspeakers channels are for: bits of QuickTime's `chan`, and GStreamer's `channel-mask`,
/// which has a second low-frequency channel at bit 9, in front of the sides.
enum LoudspeakerBits {
  /// GStreamer's mask for QuickTime's bitmap.
  static func mask(bitmap: UInt32) -> UInt64 {
    UInt64(bitmap & 0x1FF) | UInt64(bitmap >> 9 & 3) << 10
  }

  /// QuickTime's bitmap for GStreamer's mask; nil where a loudspeaker has no bit there.
  static func bitmap(mask: UInt64) -> UInt32? {
    guard mask & ~0xDFF == 0 else { return nil }
    return UInt32(truncatingIfNeeded: mask & 0x1FF | (mask >> 10 & 3) << 9)
  }
}
