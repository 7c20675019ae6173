// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

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

/// An access unit of one layer, made of a layered one.
public struct SingleLayerAccessUnit: Sendable {
  /// The NAL units in order, parameter sets left out. Payloads are ranges of the bytes that the
  /// layered access unit was given in, which may be one before the last: see ``accessUnit``.
  public internal(set) var nalUnits: [RewrittenNALUnit]
  /// NAL unit header of the picture.
  public internal(set) var header: NALUnitHeader
  /// PicOrderCntVal of the picture in the single-layer stream; nil for a base layer taken out as
  /// it is, whose slices are not read.
  public internal(set) var pictureOrderCount: Int?
  /// `nuh_layer_id` that the picture had: 0 for the base layer.
  public internal(set) var layerID: Int
  /// Whether decoders output the picture (`pic_output_flag`).
  public internal(set) var isOutput: Bool
  /// The number of the layered access unit that the picture is of.
  public var accessUnit = 0
  /// The parameter sets that stand in front of the picture in a byte stream: at random access
  /// points and where they change.
  public internal(set) var inBandParameterSets: SingleLayerParameterSets?

  /// Type of the picture.
  public var type: NALUnitType { header.type }
  /// Decoding can begin here: what a container calls a sync sample.
  public var isRandomAccess: Bool { type.isIRAP }

  /// Size in bytes of what ``write(framing:source:into:)`` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    let sets = framing == .annexB ? inBandParameterSets?.nalUnits ?? [] : []
    return sets.reduce(0) { $0 + 4 + $1.count }
      + nalUnits.reduce(0) { isLeftOut($1, framing) ? $0 : $0 + 4 + $1.byteCount }
  }

  /// Writes the access unit: as a byte stream with its parameter sets inside, or with prefixes of
  /// four bytes and without parameter sets and delimiters, as in samples of an `hvc1` track.
  ///
  /// - Parameters:
  ///   - framing: how the NAL units are told apart.
  ///   - source: the bytes that the layered access unit was given in.
  ///   - output: at least ``byteCount(framing:)`` bytes.
  /// - Precondition: `output` is large enough, and `source` is what was given.
  public func write(
    framing: NALUnitFraming, source: RawSpan, into output: UnsafeMutableRawBufferPointer
  ) {
    var sink = NALUnitSink(output, framing)
    var sets = framing == .annexB ? inBandParameterSets?.nalUnits ?? [] : []
    for unit in nalUnits where !isLeftOut(unit, framing) {
      if unit.header.type != .accessUnitDelimiter {
        for set in sets { sink.append(set) }
        sets = []
      }
      sink.append(unit, source: source)
    }
  }

  private func isLeftOut(_ unit: RewrittenNALUnit, _ framing: NALUnitFraming) -> Bool {
    framing != .annexB && unit.header.type == .accessUnitDelimiter
  }
}

/// The parameter sets of a single-layer stream, as NAL units.
public struct SingleLayerParameterSets: Hashable, Sendable {
  /// The VPS, without extension.
  public var videoParameterSet: [UInt8] = []
  /// The SPSs.
  public var sequenceParameterSets: [[UInt8]] = []
  /// The PPSs.
  public var pictureParameterSets: [[UInt8]] = []

  /// Sets to be filled in.
  public init() {}

  /// All in the order in which they stand in a byte stream.
  public var nalUnits: [[UInt8]] {
    [videoParameterSet] + sequenceParameterSets + pictureParameterSets
  }
}

extension HEVCDecoderConfigurationRecord {
  /// The record of a single-layer stream with the parameter sets `sets`, all complete.
  public init(_ sets: SingleLayerParameterSets) throws(SyntaxError) {
    guard let first = sets.sequenceParameterSets.first else {
      throw SyntaxError(
        structure: "HEVCDecoderConfigurationRecord", element: "general_profile_idc", bitOffset: 0,
        reason: .missing("an SPS"))
    }
    self.init(try SequenceParameterSet(nalUnit: first))
    arrays = ParameterSetArray.complete([
      (.videoParameterSet, [sets.videoParameterSet]),
      (.sequenceParameterSet, sets.sequenceParameterSets),
      (.pictureParameterSet, sets.pictureParameterSets),
    ])
  }
}

extension VideoParameterSet {
  /// This VPS for its base layer alone.
  func baseLayerOnly() -> VideoParameterSet {
    var vps = self
    vps.maxLayersMinus1 = 0
    vps.maxLayerID = 0
    vps.layerSets = []
    vps.multilayer = nil
    vps.timing?.hrd.removeAll { $0.layerSetIndex > 0 }
    return vps
  }
}
