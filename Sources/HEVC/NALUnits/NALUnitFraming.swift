/// How NAL units are told apart in a buffer.
public enum NALUnitFraming: Hashable, Sendable {
  /// Start codes: GStreamer's `stream-format=byte-stream`.
  case annexB
  /// Lengths of 1, 2 or 4 bytes: GStreamer's `stream-format=hvc1` and `hev1`.
  case lengthPrefixed(lengthSize: Int)

  /// The ranges of the NAL units in `bytes`.
  public func nalUnits(in bytes: RawSpan) throws(LengthPrefixed.Malformed) -> [Range<Int>] {
    switch self {
    case .annexB: AnnexB.nalUnits(in: bytes)
    case .lengthPrefixed(let size): try LengthPrefixed.nalUnits(in: bytes, lengthSize: size)
    }
  }
}
