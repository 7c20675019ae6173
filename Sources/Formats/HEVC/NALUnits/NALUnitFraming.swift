// SPDX-License-Identifier: MPL-2.0

/// How NAL units are delimited in a buffer.
public enum NALUnitFraming: Hashable, Sendable {
  /// Start codes, GStreamer's `stream-format=byte-stream`.
  case annexB
  /// Length prefixes of 1, 2 or 4 bytes, GStreamer's `stream-format=hvc1` and `hev1`.
  case lengthPrefixed(lengthSize: Int)

  /// Maximum number of NAL units accepted in an access unit. The highest level allows 1200 slice
  /// segments for two layers (A.4.2).
  public static let maximumUnitCount = 1 << 14

  /// Returns the ranges of the NAL units in `bytes`.
  ///
  /// - Throws: `LengthPrefixed.Malformed` if the lengths are wrong or there are more than
  ///   ``maximumUnitCount`` NAL units.
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

/// The byte stream format of H.265 (Annex B): NAL units preceded by start codes.
public enum AnnexB {
  /// Returns the ranges of the NAL units of `stream`, without start codes and trailing zero bytes.
  ///
  /// The last NAL unit ends at the end of the stream. Bytes before the first start code are
  /// ignored. Nothing is copied.
  ///
  /// - Parameters:
  ///   - stream: bytes with start codes.
  ///   - maximumCount: maximum number of NAL units returned.
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

  /// Returns the offset of the first `00 00 01` at or after `start`, or nil.
  public static func startCode(in stream: RawSpan, from start: Int) -> Int? {
    stream.withUnsafeBytes { startCode(in: $0, from: start) }
  }

  /// Returns the end of the NAL unit in `range`, before any `trailing_zero_8bits`. A NAL unit never
  /// ends with a zero byte.
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
    // Emulation prevention makes two consecutive zero bytes rare, so the search skips 32 bytes at a
    // time if they contain no zero byte followed by another.
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

/// Length-prefixed NAL units, as in samples of ISO base media files (ISO/IEC 14496-15 4.3.3).
public enum LengthPrefixed {
  /// A sample with inconsistent lengths, or with more NAL units than any picture can have.
  public struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    /// Offset of the wrong length, in bytes from the start of the sample.
    public var offset: Int
    /// The length found there; nil if the sample ends inside the length field.
    public var length: Int?
    /// Whether the lengths are consistent but there are more than
    /// ``NALUnitFraming/maximumUnitCount``.
    public var hasTooManyUnits = false
    /// Size of the sample in bytes.
    public var sampleSize: Int

    /// Message with the offset and, for a wrong length, the sample size.
    public var description: String {
      if hasTooManyUnits {
        return "access unit of \(sampleSize) bytes: over \(NALUnitFraming.maximumUnitCount) "
          + "NAL units before byte \(offset)"
      }
      guard let length else {
        return "length-prefixed sample: ends inside the NAL unit length at byte \(offset)"
      }
      return "length-prefixed sample: NAL unit length \(length) at byte \(offset) runs past the "
        + "\(sampleSize) bytes of the sample"
    }
  }

  /// Returns the ranges of the NAL units of `sample`, without the lengths. Empty NAL units are
  /// skipped.
  ///
  /// - Parameters:
  ///   - sample: length-prefixed NAL units.
  ///   - lengthSize: size of each length field in bytes: 1, 2 or 4.
  public static func nalUnits(
    in sample: RawSpan, lengthSize: Int = 4
  ) throws(Malformed) -> [Range<Int>] {
    var units: [Range<Int>] = []
    // Enough for a picture of two eyes with a few slices.
    units.reserveCapacity(8)
    let lengthSize = min(max(lengthSize, 1), 4)
    var offset = 0
    while offset < sample.byteCount {
      guard sample.byteCount - offset >= lengthSize else {
        throw Malformed(offset: offset, length: nil, sampleSize: sample.byteCount)
      }
      var length = 0
      for index in offset..<offset + lengthSize {
        length = length << 8 | Int(sample.unsafeLoad(fromByteOffset: index, as: UInt8.self))
      }
      let begin = offset + lengthSize
      guard length <= sample.byteCount - begin else {
        throw Malformed(offset: offset, length: length, sampleSize: sample.byteCount)
      }
      if length > 0 { units.append(begin..<begin + length) }
      guard units.count <= NALUnitFraming.maximumUnitCount else {
        throw Malformed(
          offset: offset, length: length, hasTooManyUnits: true, sampleSize: sample.byteCount)
      }
      offset = begin + length
    }
    return units
  }
}

/// Writes consecutive NAL units to memory.
struct NALUnitSink {
  private let output: UnsafeMutableRawBufferPointer
  private let framing: NALUnitFraming
  private var offset = 0

  init(_ output: UnsafeMutableRawBufferPointer, _ framing: NALUnitFraming) {
    self.output = output
    self.framing = framing
  }

  /// Writes `nalUnit`, whose payload is a range of `source`.
  mutating func append(_ nalUnit: RewrittenNALUnit, source: RawSpan) {
    appendPrefix(nalUnit.byteCount)
    append(nalUnit.beginning.span.bytes)
    append(source.extracting(nalUnit.payload))
  }

  /// Writes `nalUnit`.
  mutating func append(_ nalUnit: [UInt8]) {
    appendPrefix(nalUnit.count)
    append(nalUnit.span.bytes)
  }

  private mutating func appendPrefix(_ size: Int) {
    let prefix: UInt32 = framing == .annexB ? 1 : UInt32(clamping: size)
    precondition(output.count - offset >= 4 + size, "the output is too small")
    output.storeBytes(of: prefix.bigEndian, toByteOffset: offset, as: UInt32.self)
    offset += 4
  }

  private mutating func append(_ bytes: RawSpan) {
    bytes.withUnsafeBytes {
      UnsafeMutableRawBufferPointer(rebasing: output[offset...]).copyMemory(from: $0)
    }
    offset += bytes.byteCount
  }
}
