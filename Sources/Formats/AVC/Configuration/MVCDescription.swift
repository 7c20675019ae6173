// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import StereoVideo

/// The facts about an H.264 stream that its container needs, from the parameter sets of an access
/// unit that decoding can start with.
public struct MVCDescription: Hashable, Sendable {
  /// The records of the base view and, if there is one, of the dependent view.
  public let records: MVCRecords
  /// Width of the pictures of each view in samples.
  public let width: Int
  /// Height of the pictures of each view in samples; of frames if they are interlaced.
  public let height: Int
  /// Numerator of the frames per second; nil if the stream does not say it.
  public let frameRateNumerator: Int?
  /// Its denominator.
  public let frameRateDenominator: Int?

  /// The records have lengths of four bytes, and samples have lengths of this size.
  private static let lengthSize = 4

  /// Reads the parameter sets of an access unit; nil if it has no SPS with a PPS.
  ///
  /// - Parameter accessUnit: a byte stream with the NAL units of both views.
  public init?(accessUnit: RawSpan) {
    var (sps, pps): ([[UInt8]], [[UInt8]]) = ([], [])
    for range in AnnexB.nalUnits(in: accessUnit) {
      let unit = accessUnit.extracting(range)
      switch NALUnitHeader(unit)?.type {
      case .sequenceParameterSet: Self.add(unit, to: &sps)
      case .pictureParameterSet: Self.add(unit, to: &pps)
      default: break
      }
    }
    guard let first = sps.first, first.count > 3,
      let read = try? SequenceParameterSet(nalUnit: first)
    else { return nil }
    let ids = Set(sps.compactMap { try? SequenceParameterSet.id(of: $0.span.bytes) })
    // A PPS of the dependent view may refer to a subset SPS with an id of its own.
    let own = pps.filter { pps in
      (try? PictureParameterSet.ids(of: pps.span.bytes)).map { ids.contains($0.sps) } ?? false
    }
    guard !own.isEmpty, sps.count < 32, own.count < 256,
      (sps + own).allSatisfy({ $0.count <= UInt16.max })
    else { return nil }
    var records = MVCRecords(avcC: Self.avcC(sps, own, read))
    records.addRecord(fromSample: accessUnit, framing: .annexB)
    self.records = records
    (width, height) = read.visibleSize
    let timing = read.vui?.timing.flatMap { $0.timeScale > 0 && $0.unitsInTick > 0 ? $0 : nil }
    frameRateNumerator = timing?.timeScale
    frameRateDenominator = timing.map { 2 * $0.unitsInTick }
  }

  /// Adds a parameter set unless it is there: both views may have the same.
  private static func add(_ unit: RawSpan, to sets: inout [[UInt8]]) {
    let set = [UInt8](copying: unit)
    if !sets.contains(set) { sets.append(set) }
  }

  /// Returns `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15, 5.3.3.1.2).
  private static func avcC(
    _ sps: [[UInt8]], _ pps: [[UInt8]], _ first: SequenceParameterSet
  ) -> [UInt8] {
    func withSize(_ unit: [UInt8]) -> [UInt8] {
      [UInt8(truncatingIfNeeded: unit.count >> 8), UInt8(truncatingIfNeeded: unit.count)] + unit
    }
    var record = [1, sps[0][1], sps[0][2], sps[0][3], 0xFC | UInt8(lengthSize - 1)]
    record.append(0xE0 | UInt8(sps.count))
    record += sps.flatMap(withSize)
    record.append(UInt8(pps.count))
    record += pps.flatMap(withSize)
    if [100, 110, 122, 144].contains(first.profile) {
      let format = first.format
      record += [
        0xFC | UInt8(format.chromaFormat), 0xF8 | UInt8(format.bitDepthLumaMinus8 & 7),
        0xF8 | UInt8(format.bitDepthChromaMinus8 & 7), 0,
      ]
    }
    return record
  }

  /// Returns an access unit with lengths of four bytes before its NAL units, as samples have them.
  ///
  /// - Parameter accessUnit: a byte stream.
  public static func sample(_ accessUnit: RawSpan) -> [UInt8] {
    let ranges = AnnexB.nalUnits(in: accessUnit)
    var sample: [UInt8] = []
    sample.reserveCapacity(accessUnit.byteCount + 2 * ranges.count)
    for range in ranges {
      let size = UInt32(clamping: range.count)
      sample += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
      accessUnit.extracting(range).withUnsafeBytes { sample.append(contentsOf: $0) }
    }
    return sample
  }
}
