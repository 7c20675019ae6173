// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// One of the two single-layer streams to be woven: its parameter sets and its position in output
/// order.
struct EyeStream: Sendable {
  /// An access unit, split into NAL units.
  struct Picture {
    var firstSlice: SliceSegmentHeader
    let storedSPS: ParameterSetStore.Stored<SequenceParameterSet>
    var pictureOrderCount: Int
    /// The NAL units, without parameter sets.
    var nalUnits: [(header: NALUnitHeader, range: Range<Int>)]

    var sps: SequenceParameterSet { storedSPS.set }
  }

  let eye: Eye
  private(set) var sets = ParameterSetStore()
  private var counter = PictureOrderCounter()

  init(_ eye: Eye) { self.eye = eye }

  /// Adds parameter sets from outside the stream.
  mutating func add(parameterSets: [[UInt8]]) throws(WeaveError) {
    for unit in parameterSets { try add(unit.span.bytes) }
  }

  /// Reads an access unit up to its first slice segment header.
  mutating func read(_ bytes: RawSpan, _ ranges: [Range<Int>]) throws(WeaveError) -> Picture {
    var units: [(header: NALUnitHeader, range: Range<Int>)] = []
    units.reserveCapacity(ranges.count)
    var first: Range<Int>?
    var pictureCount = 0
    var endsSequence = false
    for range in ranges {
      guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else {
        throw .rangeOutsideData(eye)
      }
      let unit = bytes.extracting(range)
      guard let header = NALUnitHeader(unit) else { continue }
      guard header.layerID == 0 else {
        throw .alreadyLayered(eye, layerID: Int(header.layerID))
      }
      if header.type.isParameterSet {
        try add(unit)
        continue
      }
      if header.type.isVCL, unit.byteCount > 2,
        unit.unsafeLoad(fromByteOffset: 2, as: UInt8.self) & 0x80 != 0
      {
        pictureCount += 1
        first = first ?? range
      }
      if header.type == .endOfSequence { endsSequence = true }
      units.append((header, range))
    }
    guard let first else { throw .missingPartner(eye) }
    guard pictureCount == 1 else { throw .severalPictures(eye, count: pictureCount) }
    let slice = try readSlice(bytes.extracting(first))
    let sps = try activeSets(slice).sps
    let poc = counter.next(slice.header, lsb: slice.pocLSB, log2MaxLSB: sps.set.log2MaxPOCLSB)
    if endsSequence { counter.endSequence() }
    return Picture(
      firstSlice: slice, storedSPS: sps, pictureOrderCount: poc, nalUnits: units)
  }

  /// Reads a slice segment header.
  func readSlice(_ nalUnit: RawSpan) throws(WeaveError) -> SliceSegmentHeader {
    do {
      return try SliceSegmentHeader(nalUnit: nalUnit, sets: sets)
    } catch {
      if case .missing(let what) = error.reason { throw .missingParameterSet(eye, what) }
      throw .syntax(eye, error)
    }
  }

  private mutating func add(_ nalUnit: RawSpan) throws(WeaveError) {
    do {
      _ = try sets.add(nalUnit)
    } catch {
      throw .syntax(eye, error)
    }
  }

  private func activeSets(
    _ slice: SliceSegmentHeader
  ) throws(WeaveError) -> ParameterSetStore.ActiveSets {
    do {
      return try sets.activeSets(pps: slice.pictureParameterSetID, layer: 0)
    } catch {
      throw .missingParameterSet(eye, error.name)
    }
  }
}
