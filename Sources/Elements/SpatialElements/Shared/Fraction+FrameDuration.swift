// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension Fraction {
  /// How long a frame lasts at this many frames a second, in nanoseconds; nil for a rate that varies
  /// or makes no sense.
  var frameDuration: ClockTime? {
    guard numerator > 0, denominator > 0 else { return nil }
    return scale(.second, UInt64(denominator), UInt64(numerator))
  }
}
