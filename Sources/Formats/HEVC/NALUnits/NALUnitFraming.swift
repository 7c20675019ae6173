// SPDX-License-Identifier: MPL-2.0

/// How NAL units are told apart in a buffer.
public enum NALUnitFraming: Hashable, Sendable {
  /// Start codes: GStreamer's `stream-format=byte-stream`.
  case annexB
  /// Lengths of 1, 2 or 4 bytes: GStreamer's `stream-format=hvc1` and `hev1`.
  case lengthPrefixed(lengthSize: Int)

  /// How many NAL units an access unit may have: of the largest level of two layers it has 1200
  /// slice segments (A.4.2).
  public static let maximumUnitCount = 1 << 14

  /// The ranges of the NAL units in `bytes`.
  public func nalUnits(in bytes: RawSpan) throws(LengthPrefixed.Malformed) -> [Range<Int>] {
    switch self {
    case .annexB:
      let units = AnnexB.nalUnits(in: bytes, maximumCount: Self.maximumUnitCount + 1)
      guard units.count <= Self.maximumUnitCount else {
        throw LengthPrefixed.Malformed(
          offset: units.last?.lowerBound ?? 0, hasTooManyUnits: true, sampleSize: bytes.byteCount)
      }
      return units
    case .lengthPrefixed(let size):
      return try LengthPrefixed.nalUnits(in: bytes, lengthSize: size)
    }
  }
}
