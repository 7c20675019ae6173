// SPDX-License-Identifier: MPL-2.0

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
