// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// Reads a stream of two layers for extraction: keeps its parameter sets and each layer's position
/// in output order.
struct LayeredStream: Sendable {
  /// The picture of one layer in an access unit.
  struct Picture {
    var slices: [(header: SliceSegmentHeader, range: Range<Int>)]
    let storedSPS: ParameterSetStore.Stored<SequenceParameterSet>
    var pictureOrderCount: Int
    /// Whether the picture begins a coded video sequence (an IRAP picture with NoRaslOutputFlag 1).
    var beginsSequence: Bool

    var sps: SequenceParameterSet { storedSPS.set }

    /// The first slice segment, which is never a dependent one.
    var first: SliceSegmentHeader { slices[0].header }
  }

  /// NAL units of an access unit, sorted by layer.
  struct AccessUnit {
    var base: [(header: NALUnitHeader, range: Range<Int>)] = []
    var dependent: [(header: NALUnitHeader, range: Range<Int>)] = []
    var endsSequence = false
  }

  private(set) var sets = ParameterSetStore()
  private var counters = [PictureOrderCounter(), PictureOrderCounter()]
  /// The highest nuh_layer_id that is read.
  private let highestLayerID: UInt8

  init(highestLayerID: UInt8 = 1, sets: ParameterSetStore = ParameterSetStore()) {
    self.highestLayerID = highestLayerID
    self.sets = sets
  }

  /// Adds parameter sets from outside the stream.
  mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    for unit in parameterSets { try add(unit.span.bytes) }
  }

  /// Discards all previous pictures, such as after a seek.
  mutating func reset() { counters = [PictureOrderCounter(), PictureOrderCounter()] }

  /// Notes that the access unit has no usable dependent picture: the next one is numbered from the
  /// base layer's picture, which has the same POC.
  mutating func copyBaseCounterToDependent() { counters[1] = counters[0] }

  /// Notes that an end of sequence NAL unit follows the access unit.
  mutating func endSequence() {
    counters[0].endSequence()
    counters[1].endSequence()
  }

  /// The sorted NAL units, base picture and VPS values that both methods for the dependent layer
  /// start from.
  struct Beginning {
    let units: AccessUnit
    let base: Picture
    let vps: VideoParameterSet
    let pair: InterLayerSyntax
  }

  /// Sorts the NAL units of an access unit of two layers and reads its base picture.
  mutating func begin(
    _ bytes: RawSpan, _ ranges: [Range<Int>]
  ) throws(FlattenError) -> Beginning {
    let units = try split(bytes, ranges)
    guard let base = try picture(0, units.base, bytes, InterLayerSyntax()) else {
      throw .missingBasePicture
    }
    guard let vps = sets.videoParameterSet(base.sps.videoParameterSetID),
      let pair = InterLayerSyntax(vps)
    else { throw .notLayered }
    return Beginning(units: units, base: base, vps: vps, pair: pair)
  }

  /// Sorts the NAL units of an access unit by layer, leaving out higher layers.
  mutating func split(
    _ bytes: RawSpan, _ ranges: [Range<Int>]
  ) throws(FlattenError) -> AccessUnit {
    var unit = AccessUnit()
    unit.base.reserveCapacity(ranges.count)
    for range in ranges {
      guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount else {
        throw .rangeOutsideData
      }
      guard let header = NALUnitHeader(bytes.extracting(range)), header.layerID <= highestLayerID
      else {
        continue
      }
      if header.type.isParameterSet {
        try add(bytes.extracting(range))
      } else if header.layerID == 0 {
        unit.base.append((header, range))
        if header.type.endsSequence { unit.endsSequence = true }
      } else {
        unit.dependent.append((header, range))
      }
    }
    return unit
  }

  /// Reads the picture of layer `layer`; nil if there is none. Slice segments of reserved types are
  /// ignored, as in decoders.
  ///
  /// - Parameter base: the base layer's picture, if `layer` is the layer above it.
  mutating func picture(
    _ layer: Int, _ units: [(header: NALUnitHeader, range: Range<Int>)], _ bytes: RawSpan,
    _ pair: InterLayerSyntax, base: Picture? = nil
  ) throws(FlattenError) -> Picture? {
    var slices: [(header: SliceSegmentHeader, range: Range<Int>)] = []
    var count = 0
    for (header, range) in units where header.type.isSliceSegment {
      let slice = try readSlice(bytes.extracting(range), pair)
      if slice.isFirstInPicture { count += 1 }
      slices.append((slice, range))
    }
    guard let first = slices.first?.header else { return nil }
    guard count == 1, first.isFirstInPicture else {
      throw .severalPictures(layerID: layer, count: count)
    }
    let sps = try activeSets(first).sps
    let isReset = base?.beginsSequence ?? false
    let begins =
      first.header.type.isIRAP
      && (first.header.type.isIDR || first.header.type.isBLA
        || counters[layer].isAtSequenceStart || isReset)
    let poc = counters[layer].next(
      first.header, lsb: first.pocLSB, log2MaxLSB: sps.set.log2MaxPOCLSB, isReset: isReset,
      msbCycle: first.pocMSBCycle)
    return Picture(
      slices: slices, storedSPS: sps, pictureOrderCount: poc, beginsSequence: begins)
  }

  /// Returns the parameter sets of a slice segment.
  func activeSets(
    _ slice: SliceSegmentHeader
  ) throws(FlattenError) -> ParameterSetStore.ActiveSets {
    do {
      return try sets.activeSets(
        pps: slice.pictureParameterSetID, layer: Int(slice.header.layerID))
    } catch {
      throw .missingParameterSet(error.name)
    }
  }

  private func readSlice(
    _ nalUnit: RawSpan, _ pair: InterLayerSyntax
  ) throws(FlattenError) -> SliceSegmentHeader {
    do {
      return try SliceSegmentHeader(nalUnit: nalUnit, sets: sets, pair: pair)
    } catch {
      if case .missing(let what) = error.reason { throw .missingParameterSet(what) }
      throw .syntax(error)
    }
  }

  private mutating func add(_ nalUnit: RawSpan) throws(FlattenError) {
    guard NALUnitHeader(nalUnit)?.layerID ?? 0 <= highestLayerID else { return }
    do {
      _ = try sets.add(nalUnit)
    } catch {
      throw .syntax(error)
    }
  }
}
