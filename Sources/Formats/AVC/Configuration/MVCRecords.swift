// SPDX-License-Identifier: MPL-2.0

public import HEVC
internal import StereoVideo

/// The records of an H.264 stream of two views: `avcC`, and `mvcC` of the dependent view or of
/// both.
///
/// MP4 has a box for each (ISO/IEC 14496-15, 7.6.2). In one block, Matroska's CodecPrivate as
/// MakeMKV writes it and the caps field `codec_data`, the second follows the first, after a size of
/// four bytes and the four characters `mvcC`.
public struct MVCRecords: Hashable, Sendable {
  /// The record of the base view.
  public var avcC: [UInt8]
  /// The record of the dependent view; nil if there is none.
  public var mvcC: [UInt8]?

  private static let name = Array("mvcC".utf8)
  private static let sizeLength = 4
  /// Multiview High and Stereo High.
  private static let profiles: Set<UInt8> = [118, 128]

  /// Creates records.
  public init(avcC: [UInt8], mvcC: [UInt8]? = nil) {
    self.avcC = avcC
    self.mvcC = mvcC
  }

  /// Splits a block with one or both records.
  public init(_ block: [UInt8]) {
    // The tail of avcC in High profiles is of variable length, and some writers leave it out.
    let positions = block.indices.dropFirst(Self.sizeLength).dropLast(Self.name.count - 1)
    let position = positions.first {
      block[$0] == Self.name[0] && Array(block[$0..<$0 + Self.name.count]) == Self.name
    }
    avcC = Array(block[..<(position.map { $0 - Self.sizeLength } ?? block.count)])
    mvcC = position.map { Array(block[($0 + Self.name.count)...]) }
  }

  /// Whether the record of the base view has an SPS. Parsers that know no MVC may have put a subset
  /// SPS in its place.
  public var hasSPS: Bool {
    let sets = (try? MVCDecoderConfiguration(.avcC, bytes: avcC))?.sequenceParameterSets ?? []
    return sets.contains { NALUnitHeader($0.span.bytes)?.type == .sequenceParameterSet }
  }

  /// Both records in one block.
  public var block: [UInt8] {
    guard let mvcC else { return avcC }
    let size = UInt32(clamping: mvcC.count + Self.name.count)
    return avcC + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) } + Self.name + mvcC
  }

  /// Adds a record of the dependent view made from its parameter sets in a sample, if there is none
  /// and the sample, or the record of the base view, has a subset SPS.
  ///
  /// - Parameters:
  ///   - sample: an access unit.
  ///   - framing: how its NAL units are delimited.
  public mutating func addRecord(fromSample sample: RawSpan, framing: NALUnitFraming) {
    guard mvcC == nil, let ranges = try? framing.nalUnits(in: sample) else { return }
    let base = try? MVCDecoderConfiguration(.avcC, bytes: avcC)
    var subsets = base?.sequenceParameterSets.filter(Self.isSubset) ?? []
    var all = base?.pictureParameterSets ?? []
    for range in ranges {
      let unit = [UInt8](copying: sample.extracting(range))
      if Self.isSubset(unit) { subsets.append(unit) }
      if NALUnitHeader(unit.span.bytes)?.type == .pictureParameterSet { all.append(unit) }
    }
    let distinct = all.indices.filter { all[..<$0].contains(all[$0]) == false }.map { all[$0] }
    mvcC = Self.mvcC(subsets, distinct, lengthSize: base?.lengthSize ?? 4)
  }

  /// Whether a NAL unit is a subset SPS of MVC. Others are those of Scalable Video Coding.
  private static func isSubset(_ unit: [UInt8]) -> Bool {
    NALUnitHeader(unit.span.bytes)?.type == .subsetSequenceParameterSet && unit.count > 1
      && profiles.contains(unit[1])
  }

  /// Returns whether a sample has a picture of the dependent view.
  ///
  /// - Parameters:
  ///   - sample: an access unit.
  ///   - framing: how its NAL units are delimited.
  public static func hasDependentView(sample: RawSpan, framing: NALUnitFraming) -> Bool {
    guard let ranges = try? framing.nalUnits(in: sample) else { return false }
    return ranges.contains { range in
      let header = NALUnitHeader(sample.extracting(range))
      return header?.type == .sliceExtension && header?.mvc != nil
    }
  }

  /// Returns `MVCDecoderConfigurationRecord` (ISO/IEC 14496-15, 7.6.2.1); nil if the sets do not
  /// fit in one, or if there are none.
  private static func mvcC(
    _ subsets: [[UInt8]], _ pps: [[UInt8]], lengthSize: Int
  ) -> [UInt8]? {
    guard let first = subsets.first, first.count > 3, subsets.count < 128, pps.count < 256,
      (subsets + pps).allSatisfy({ $0.count <= UInt16.max })
    else { return nil }
    func withSize(_ unit: [UInt8]) -> [UInt8] {
      [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)] + unit
    }
    // Both views are in the samples (complete_representation), and no other track has one.
    var record: [UInt8] = [1, first[1], first[2], first[3], 0xBC | UInt8(lengthSize - 1)]
    record.append(UInt8(subsets.count))
    record += subsets.flatMap(withSize)
    record.append(UInt8(pps.count))
    record += pps.flatMap(withSize)
    return record
  }
}
