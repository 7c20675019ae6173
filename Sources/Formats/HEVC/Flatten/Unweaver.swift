// SPDX-License-Identifier: MPL-2.0

/// Extracts the dependent layer of a layered stream in which no slice uses inter-layer prediction:
/// the inverse of ``Weaver``.
///
/// The resulting stream has only the dependent eye's pictures, so decoding it takes half the work
/// of decoding a flattened stream. If a slice does use inter-layer prediction, or if the layers
/// cannot be separated for another reason, it throws; use ``Flattener`` then.
public struct Unweaver: Sendable {
  /// An access unit of the dependent layer.
  public struct AccessUnit: Sendable {
    /// The picture; nil if the access unit has no picture of this layer.
    public internal(set) var picture: SingleLayerAccessUnit?
    /// The parameter sets that apply to it.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the preceding access unit; true for the first.
    public internal(set) var parameterSetsChanged: Bool
  }

  private var stream = LayeredStream()
  private var parameterSets = DerivedParameterSets<SingleLayerParameterSets>()
  /// Ids of base layer PPSs that slices of the dependent layer refer to.
  private var borrowed: [Int] = []

  /// The parameter sets received so far.
  var sets: ParameterSetStore { stream.sets }

  /// Creates an unweaver at the start of a stream.
  public init() {}

  /// Adds parameter sets from outside the stream, such as those in `hvcC` and `lhvC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// Discards all previous pictures. Call it at a discontinuity, such as a seek.
  public mutating func reset() { stream.reset() }

  /// Extracts the dependent layer of an access unit, given as ranges of NAL units in `bytes`.
  ///
  /// - Throws: ``FlattenError/interLayerPrediction`` if the dependent picture is predicted from the
  ///   base picture; other ``FlattenError`` values for missing, invalid or inseparable data.
  public mutating func unweave(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> AccessUnit {
    let beginning = try stream.begin(bytes, nalUnits)
    let (units, base) = (beginning.units, beginning.base)
    let dependent = try stream.picture(1, units.dependent, bytes, beginning.pair, base: base)
    borrow(dependent)
    let (sets, changed) = try updateParameterSets(beginning.vps, base.sps)
    var picture: SingleLayerAccessUnit?
    if let dependent {
      picture = try accessUnit(dependent, units, bytes)
      if changed || dependent.first.header.type.isIRAP { picture?.inBandParameterSets = sets }
    }
    if units.endsSequence { stream.endSequence() }
    return AccessUnit(picture: picture, parameterSets: sets, parameterSetsChanged: changed)
  }

  private func accessUnit(
    _ picture: LayeredStream.Picture, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan
  ) throws(FlattenError) -> SingleLayerAccessUnit {
    var header = picture.first.header
    header.layerID = 0
    var rewritten = SupplementalUnits.before(1, units, bytes, movesBaseSEI: false)
    for (slice, range) in picture.slices {
      if slice.usesInterLayerPrediction { throw .interLayerPrediction }
      if try stream.activeSets(slice).pps.set.pocResetInfoPresent { throw .pictureOrderCountReset }
      guard !header.type.isIDR || slice.pocLSB == 0 else {
        throw .differentPictureOrderCounts(base: 0, dependent: slice.pocLSB)
      }
      rewritten.append(
        RewrittenNALUnit(
          header: header, beginning: slice.singleLayerBeginning(header),
          payload: range.lowerBound + slice.dataOffset..<range.upperBound))
    }
    rewritten += SupplementalUnits.after(1, units, bytes)
    rewritten += SupplementalUnits.ends(units)
    return SingleLayerAccessUnit(
      nalUnits: rewritten, header: header, pictureOrderCount: picture.pictureOrderCount,
      layerID: 1, isOutput: picture.first.isOutput)
  }

  private mutating func borrow(_ picture: LayeredStream.Picture?) {
    guard let picture else { return }
    for index in picture.slices.indices {
      let id = picture.slices[index].header.pictureParameterSetID
      guard stream.sets.pps[1][id] == nil, !borrowed.contains(id) else { continue }
      borrowed.append(id)
    }
  }

  private mutating func updateParameterSets(
    _ vps: VideoParameterSet, _ base: SequenceParameterSet
  ) throws(FlattenError) -> (SingleLayerParameterSets, changed: Bool) {
    let sources = [stream.sets.generation, base.id, borrowed.count]
    if let sets = parameterSets.current(from: sources) { return (sets, false) }
    let store = stream.sets
    var ordering = vps.subLayerOrdering
    if let size = vps.multilayer?.pair?.dpbSize.last, let own = size.maxDecPicBufferingMinus1.last {
      ordering = [
        .init(
          maxDecPicBufferingMinus1: own, maxNumReorderPics: min(size.maxNumReorderPics, own),
          maxLatencyIncreasePlus1: size.maxLatencyIncreasePlus1)
      ]
    }
    var single = vps.baseLayerOnly()
    single.subLayerOrdering = ordering
    single.timing?.hrd = []
    var sets = SingleLayerParameterSets()
    sets.videoParameterSet = single.nalUnit()
    let all =
      store.pps[1].compactMap { $0?.set }
      + borrowed.filter { store.pps[1][$0] == nil }.compactMap {
        store.pictureParameterSet($0, layer: 0)
      }
    for id in Set(all.map(\.sequenceParameterSetID)).sorted() {
      guard let sps = store.sequenceParameterSet(id, layer: 1) else { continue }
      if sps.tools.scalingList == .inferred { throw .inferredScalingList }
      sets.sequenceParameterSets.append(
        sps.singleLayerNALUnit(
          profileTierLevel: base.profileTierLevel, ordering: ordering, base: base))
    }
    for pps in all {
      if pps.infersScalingList { throw .inferredScalingList }
      sets.pictureParameterSets.append(pps.singleLayerNALUnit())
    }
    return (sets, parameterSets.update(sets, from: sources))
  }
}
