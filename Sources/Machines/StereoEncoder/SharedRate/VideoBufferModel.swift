// SPDX-License-Identifier: MPL-2.0

/// The decoder's buffer of coded pictures (H.265 Annex C): it fills at a constant rate, up to its size, and
/// each access unit is taken out at once. All in bits.
struct VideoBufferModel {
  let size: Double
  /// What comes in from one picture to the next.
  let refill: Double
  /// What is inside before the next access unit is taken out; below 0 where one came too late.
  private(set) var fill: Double

  /// Where x265 lets a buffer begin, by its size.
  private static let initialFill = 0.9

  init(_ buffer: RateControl.VideoBuffer, framesPerSecond: Double) {
    refill = Double(buffer.maximumRate) * 1000 / framesPerSecond
    // As x265 has it: no smaller than what comes in for one picture.
    size = max(Double(buffer.size) * 1000, refill)
    fill = Self.initialFill * size
  }

  /// Takes an access unit out, and fills up to the next.
  mutating func remove(_ bits: Double) {
    fill = max(min(size, fill - bits + refill), -size)
  }
}
