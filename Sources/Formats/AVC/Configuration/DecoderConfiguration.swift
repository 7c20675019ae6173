// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// `AVCDecoderConfigurationRecord` or `MVCDecoderConfigurationRecord`, ISO/IEC 14496-15 (5.3.3.1,
/// 7.6.2): the content of the boxes `avcC` and `mvcC`.
public struct MVCDecoderConfiguration: Hashable, Sendable {
  /// Which of the two records it is.
  public enum Kind: Sendable {
    /// The record of the base view, `avcC`.
    case avcC
    /// The record of both views or of the dependent one, `mvcC`.
    case mvcC
  }

  /// `AVCProfileIndication`
  public var profile: Int
  /// `profile_compatibility`
  public var profileCompatibility: Int
  /// `AVCLevelIndication`: ten times the level.
  public var level: Int
  /// Size in bytes of the length before each NAL unit: 1, 2 or 4.
  public var lengthSize: Int
  /// The SPSs and, in `mvcC`, subset SPSs, including emulation prevention bytes.
  public var sequenceParameterSets: [[UInt8]]
  /// The PPSs.
  public var pictureParameterSets: [[UInt8]]

  /// All parameter sets, for ``MVCFlattener/add(parameterSets:of:)``.
  public var nalUnits: [[UInt8]] { sequenceParameterSets + pictureParameterSets }
  /// How NAL units are delimited in samples.
  public var framing: NALUnitFraming { .lengthPrefixed(lengthSize: lengthSize) }

  /// Reads a record. What follows the PPSs in `avcC` of the High profiles is ignored.
  ///
  /// - Throws: `SyntaxError` if it is truncated or out of range.
  public init(_ kind: Kind, bytes: [UInt8]) throws(SyntaxError) {
    var reader = BitReader(
      bytes,
      structure: kind == .avcC
        ? "AVCDecoderConfigurationRecord" : "MVCDecoderConfigurationRecord")
    _ = try reader.u(8, "configurationVersion", in: 1...1)
    profile = try reader.u(8, "AVCProfileIndication")
    profileCompatibility = try reader.u(8, "profile_compatibility")
    level = try reader.u(8, "AVCLevelIndication")
    // In mvcC, the first two bits are complete_representation and explicit_au_track.
    _ = try reader.u(6, "reserved")
    lengthSize = try reader.u(2, "lengthSizeMinusOne") + 1
    guard lengthSize != 3 else {
      throw reader.failure("lengthSizeMinusOne", .outOfRange(value: 2, allowed: 0...1))
    }
    // The SPSs of avcC are counted with five bits after three reserved ones, the others with seven
    // bits after one.
    _ = try reader.u(kind == .avcC ? 3 : 1, "reserved")
    sequenceParameterSets = try Self.nalUnits(
      &reader, count: try reader.u(kind == .avcC ? 5 : 7, "numOfSequenceParameterSets"))
    pictureParameterSets = try Self.nalUnits(
      &reader, count: try reader.u(8, "numOfPictureParameterSets"))
  }

  private static func nalUnits(
    _ reader: inout BitReader, count: Int
  ) throws(SyntaxError) -> [[UInt8]] {
    var units: [[UInt8]] = []
    for _ in 0..<count {
      let size = try reader.u(16, "parameterSetLength")
      units.append(try reader.bytes(size, "parameterSetNALUnit"))
    }
    return units
  }

  /// Returns the `mvcC` that follows `avcC` in a CodecPrivate of Matroska, as MakeMKV writes it: a
  /// size of four bytes, the four characters `mvcC`, and the record.
  ///
  /// - Parameter codecPrivate: `avcC`, and what follows it.
  /// - Returns: The record; nil if there is none.
  /// - Throws: `SyntaxError` if it is damaged.
  public static func mvcC(
    inCodecPrivate codecPrivate: [UInt8]
  ) throws(SyntaxError) -> MVCDecoderConfiguration? {
    guard let record = MVCRecords(codecPrivate).mvcC else { return nil }
    return try MVCDecoderConfiguration(.mvcC, bytes: record)
  }
}
