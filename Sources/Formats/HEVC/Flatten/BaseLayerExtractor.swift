// SPDX-License-Identifier: MPL-2.0

/// Takes the base layer out of a layered stream: what a decoder for one layer decodes.
///
/// Slices, SPSs and PPSs are taken as they are; the VPS loses its extension, and SEI about layers
/// and views goes.
public struct BaseLayerExtractor: Sendable {
  /// An access unit of the base layer.
  public struct AccessUnit: Sendable {
    /// The picture.
    public internal(set) var picture: SingleLayerAccessUnit
    /// The parameter sets that hold for it.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the access unit before; true for the first.
    public internal(set) var parameterSetsChanged: Bool
  }

  private var stream = LayeredStream(highestLayerID: 0)
  private var parameterSets = DerivedParameterSets<SingleLayerParameterSets>()

  /// An extractor at the start of a stream.
  public init() {}

  /// Takes in parameter sets that came beside the stream, as in `hvcC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// The parameter sets of the base layer, as far as they have come.
  ///
  /// - Throws: ``FlattenError/missingParameterSet(_:)``.
  public mutating func currentParameterSets() throws(FlattenError) -> SingleLayerParameterSets {
    try updateParameterSets().0
  }

  /// Takes the base layer out of an access unit, given as ranges of NAL units in `bytes`.
  public mutating func extract(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> AccessUnit {
    let units = try stream.split(bytes, nalUnits)
    guard let header = units.base.first(where: { $0.header.type.isSliceSegment })?.header else {
      throw .missingBasePicture
    }
    let (sets, changed) = try updateParameterSets()
    let picture = SingleLayerAccessUnit(
      nalUnits: SupplementalUnits.ofBaseLayer(units, bytes), header: header, layerID: 0,
      isOutput: true, inBandParameterSets: changed || header.type.isIRAP ? sets : nil)
    return AccessUnit(picture: picture, parameterSets: sets, parameterSetsChanged: changed)
  }

  private mutating func updateParameterSets() throws(FlattenError) -> (
    SingleLayerParameterSets, changed: Bool
  ) {
    let store = stream.sets
    if let sets = parameterSets.current(from: [store.generation]) { return (sets, false) }
    guard let sps = store.sps[0].compactMap({ $0?.set }).first else {
      throw .missingParameterSet("an SPS of the base layer")
    }
    let id = sps.videoParameterSetID
    guard let vps = store.videoParameterSet(id) else { throw .missingParameterSet("VPS \(id)") }
    var sets = SingleLayerParameterSets()
    sets.videoParameterSet = vps.baseLayerOnly().nalUnit()
    sets.sequenceParameterSets = store.sps[0].compactMap { $0?.nalUnit }
    sets.pictureParameterSets = store.pps[0].compactMap { $0?.nalUnit }
    return (sets, parameterSets.update(sets, from: [store.generation]))
  }
}
