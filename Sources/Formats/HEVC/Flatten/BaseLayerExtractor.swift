// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Extracts the base layer of a layered stream, which a single-layer decoder can decode.
///
/// Slices, SPSs and PPSs are passed through unchanged; the VPS extension and SEI messages about
/// layers and views are removed.
public struct BaseLayerExtractor: Sendable {
  /// An access unit of the base layer.
  public struct AccessUnit: Sendable {
    /// The picture.
    public internal(set) var picture: SingleLayerAccessUnit
    /// The parameter sets that apply to it.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the preceding access unit; true for the first.
    public internal(set) var parameterSetsChanged: Bool
  }

  private var stream = LayeredStream(highestLayerID: 0)
  private var parameterSets = DerivedParameterSets<SingleLayerParameterSets>()

  /// Creates an extractor at the start of a stream.
  public init() {}

  /// Adds parameter sets from outside the stream, such as those in `hvcC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// Returns the parameter sets of the base layer received so far.
  ///
  /// - Throws: ``FlattenError/missingParameterSet(_:)`` if there is no SPS or its VPS is missing.
  public mutating func currentParameterSets() throws(FlattenError) -> SingleLayerParameterSets {
    try updateParameterSets().0
  }

  /// Extracts the base layer of an access unit, given as ranges of NAL units in `bytes`.
  ///
  /// - Throws: ``FlattenError`` if the base picture or a parameter set is missing or invalid.
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

/// A single-layer access unit made from a layered one.
public struct SingleLayerAccessUnit: Sendable {
  /// The NAL units in order, without parameter sets. Payloads are ranges of the bytes of the
  /// layered access unit, which may be an earlier one: see ``accessUnit``.
  public internal(set) var nalUnits: [RewrittenNALUnit]
  /// NAL unit header of the picture.
  public internal(set) var header: NALUnitHeader
  /// PicOrderCntVal of the picture in the single-layer stream; nil for a base layer extracted as it
  /// is, whose slice headers are not read.
  public internal(set) var pictureOrderCount: Int?
  /// `nuh_layer_id` of the picture in the layered stream: 0 for the base layer.
  public internal(set) var layerID: Int
  /// Whether decoders output the picture (`pic_output_flag`).
  public internal(set) var isOutput: Bool
  /// Number of the layered access unit that the picture comes from.
  public var accessUnit = 0
  /// The parameter sets to insert before the picture in a byte stream, at random access points and
  /// when they change; nil elsewhere.
  public internal(set) var inBandParameterSets: SingleLayerParameterSets?

  /// NAL unit type of the picture.
  public var type: NALUnitType { header.type }
  /// Whether decoding can start here: a sync sample in ISO base media files.
  public var isRandomAccess: Bool { type.isIRAP }

  /// Returns the number of bytes that ``write(framing:source:into:)`` writes.
  public func byteCount(framing: NALUnitFraming) -> Int {
    let sets = framing == .annexB ? inBandParameterSets?.nalUnits ?? [] : []
    return sets.reduce(0) { $0 + 4 + $1.count }
      + nalUnits.reduce(0) { isLeftOut($1, framing) ? $0 : $0 + 4 + $1.byteCount }
  }

  /// Writes the access unit, either as a byte stream with in-band parameter sets, or with 4-byte
  /// length prefixes and without parameter sets and access unit delimiters, as in samples of an
  /// `hvc1` track.
  ///
  /// - Parameters:
  ///   - framing: how the NAL units are delimited.
  ///   - source: the bytes of the layered access unit.
  ///   - output: at least ``byteCount(framing:)`` bytes.
  /// - Precondition: `output` is large enough, and `source` has the bytes the access unit was read
  ///   from.
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

/// The parameter sets of a single-layer stream, as NAL units with emulation prevention and without
/// start codes.
public struct SingleLayerParameterSets: Hashable, Sendable {
  /// The VPS, without its extension.
  public var videoParameterSet: [UInt8] = []
  /// The SPSs.
  public var sequenceParameterSets: [[UInt8]] = []
  /// The PPSs.
  public var pictureParameterSets: [[UInt8]] = []

  /// Creates empty sets, to be filled in.
  public init() {}

  /// All parameter sets, in byte stream order.
  public var nalUnits: [[UInt8]] {
    [videoParameterSet] + sequenceParameterSets + pictureParameterSets
  }
}

extension HEVCDecoderConfigurationRecord {
  /// Creates the record of a single-layer stream with the parameter sets `sets`, in complete
  /// arrays.
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
  /// Returns this VPS without the layers above the base.
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
