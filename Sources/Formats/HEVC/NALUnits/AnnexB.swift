// SPDX-License-Identifier: MPL-2.0

/// The byte stream format of H.265 (Annex B): NAL units behind start codes.
public enum AnnexB {
  /// The ranges of the NAL units of `stream`, start codes and trailing zero bytes left out.
  ///
  /// The last NAL unit ends where the stream does. Bytes in front of the first start code belong
  /// to no NAL unit. Nothing is copied.
  ///
  /// - Parameters:
  ///   - stream: bytes with start codes.
  ///   - maximumCount: of units; those behind them are left out.
  public static func nalUnits(in stream: RawSpan, maximumCount: Int = .max) -> [Range<Int>] {
    var units: [Range<Int>] = []
    guard var code = startCode(in: stream, from: 0) else { return units }
    while true {
      let begin = code + 3
      let next = startCode(in: stream, from: begin)
      let end = endOfNALUnit(in: stream, begin..<(next ?? stream.byteCount))
      if end > begin { units.append(begin..<end) }
      guard let next, units.count < maximumCount else { return units }
      code = next
    }
  }

  /// The offset of the first `00 00 01` at or behind `start`, or nil.
  public static func startCode(in stream: RawSpan, from start: Int) -> Int? {
    stream.withUnsafeBytes { startCode(in: $0, from: start) }
  }

  /// Where the NAL unit in `range` ends: in front of `trailing_zero_8bits` (a NAL unit never ends
  /// with a zero byte).
  static func endOfNALUnit(in stream: RawSpan, _ range: Range<Int>) -> Int {
    var end = range.upperBound
    while end > range.lowerBound,
      stream.unsafeLoad(fromByteOffset: end - 1, as: UInt8.self) == 0
    {
      end -= 1
    }
    return end
  }

  private static func startCode(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var offset = max(start, 0)
    let lows: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    // Emulation prevention makes two zero bytes in a row rare, so the search skips 32 bytes at a
    // time wherever a byte and its successor are nowhere both zero.
    while offset <= bytes.count - 33 {
      var found: UInt64 = 0
      for step in 0..<4 {
        let here = bytes.loadUnaligned(fromByteOffset: offset + step * 8, as: UInt64.self)
        let next = bytes.loadUnaligned(fromByteOffset: offset + step * 8 + 1, as: UInt64.self)
        let pair = here | next
        found |= (pair &- lows) & ~pair
      }
      if found & highs == 0 {
        offset += 32
        continue
      }
      let stop = min(offset + 32, bytes.count - 2)
      while offset < stop {
        if bytes[offset] == 0, bytes[offset + 1] == 0, bytes[offset + 2] == 1 { return offset }
        offset += 1
      }
      offset = stop
      if stop == bytes.count - 2 { return nil }
    }
    while offset <= bytes.count - 3 {
      if bytes[offset] == 0, bytes[offset + 1] == 0, bytes[offset + 2] == 1 { return offset }
      offset += 1
    }
    return nil
  }
}
