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

/// NAL units behind their lengths, as in samples of ISO base media files (ISO/IEC 14496-15 4.3.3).
public enum LengthPrefixed {
  /// A sample whose lengths do not add up, or that has more NAL units than any picture.
  public struct Malformed: Error, Hashable, Sendable, CustomStringConvertible {
    /// Offset of the length that is wrong, in bytes from the start of the sample.
    public var offset: Int
    /// The length found there; nil where the sample ends inside the length.
    public var length: Int?
    /// The lengths add up, but there are more than ``NALUnitFraming/maximumUnitCount``.
    public var hasTooManyUnits = false
    /// Size of the sample in bytes.
    public var sampleSize: Int

    public var description: String {
      if hasTooManyUnits {
        return "access unit of \(sampleSize) bytes: more than \(NALUnitFraming.maximumUnitCount) "
          + "NAL units up to byte \(offset)"
      }
      guard let length else {
        return "length-prefixed sample: ends inside the NAL unit length at byte \(offset)"
      }
      return "length-prefixed sample: NAL unit length \(length) at byte \(offset) runs past the "
        + "\(sampleSize) bytes of the sample"
    }
  }

  /// The ranges of the NAL units of `sample`, lengths left out. Empty NAL units are passed over.
  ///
  /// - Parameters:
  ///   - sample: NAL units, each behind its length.
  ///   - lengthSize: bytes of each length: 1, 2 or 4.
  public static func nalUnits(
    in sample: RawSpan, lengthSize: Int = 4
  ) throws(Malformed) -> [Range<Int>] {
    var units: [Range<Int>] = []
    // As many as a picture of two eyes in a few slices has.
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

/// Writes NAL units one behind another into memory.
struct NALUnitSink {
  private let output: UnsafeMutableRawBufferPointer
  private let framing: NALUnitFraming
  private var offset = 0

  init(_ output: UnsafeMutableRawBufferPointer, _ framing: NALUnitFraming) {
    self.output = output
    self.framing = framing
  }

  /// Writes `nalUnit`, whose payload is in `source`.
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
