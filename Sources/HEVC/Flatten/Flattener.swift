/// Makes an MV-HEVC stream of two layers into one single-layer stream that any H.265 decoder
/// decodes to exactly the pictures of the layered stream.
///
/// Each access unit gives two: the base picture, then the dependent picture, whose inter-layer
/// reference has become a long-term reference. Base pictures keep their POC, dependent pictures
/// get theirs plus 2^14: distances inside a layer stay what they were, and so does motion vector
/// scaling.
///
/// ```swift
/// var flattener = Flattener(output: .dependentEye)
/// try flattener.add(parameterSets: hvcC.nalUnits + lhvC.nalUnits)
/// let flat = try flattener.flatten(sample, nalUnits: LengthPrefixed.nalUnits(in: sample))
/// ```
public struct Flattener: Sendable {
  /// Which pictures a decoder of the flattened stream outputs.
  public enum Output: Sendable {
    /// Those of the dependent layer; base pictures are decoded only.
    case dependentEye
    /// Those of both layers. Base pictures come out in decoding order, so pair the eyes by what
    /// travels with the buffers, not by time.
    case bothEyes
  }

  /// A flattened access unit.
  public struct AccessUnit: Sendable {
    /// The base picture, then the dependent picture if there is one: an access unit each.
    public internal(set) var pictures: [SingleLayerAccessUnit]
    /// The parameter sets that hold for them.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the access unit before; true for the first.
    public internal(set) var parameterSetsChanged: Bool
    /// Whether a coded video sequence begins here, and with it a new numbering of the pictures.
    public internal(set) var beginsSequence: Bool
    /// Why the dependent picture was left out, where it is there but damaged. The base picture is
    /// not affected.
    public internal(set) var dependentFailure: FlattenError?
  }

  /// What is added to the POC of dependent pictures.
  public static let pictureOrderCountOffset = 1 << 14

  /// Which pictures are output.
  public let output: Output

  private var stream = LayeredStream()
  private var ppsNumbers = DependentNumbering(count: 64)
  private var parameterSets: SingleLayerParameterSets?
  /// What ``parameterSets`` was made of: the generation of the stream's sets, and the active SPSs.
  private var madeOf: [Int] = []
  /// The pictures of each layer that may be in the buffer.
  private var kept = [ReferencePictures(), ReferencePictures()]
  private var isBehindDiscontinuity = false

  /// A flattener whose stream outputs `output`.
  public init(output: Output) { self.output = output }

  /// Takes in parameter sets that came beside the stream, as in `hvcC` and `lhvC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// Forgets the pictures so far: call it at a discontinuity, as after a seek. The next access unit
  /// is a random access point.
  public mutating func reset() {
    stream.reset()
    kept = [ReferencePictures(), ReferencePictures()]
    isBehindDiscontinuity = true
  }

  /// Flattens an access unit of both layers, given as ranges of NAL units in `bytes`.
  ///
  /// Layers that do not go together are an error at the start of a stream. Later, where damage is
  /// the likelier reason, that is the dependent picture's failure.
  public mutating func flatten(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> AccessUnit {
    let units = try stream.split(bytes, nalUnits)
    guard let base = try stream.picture(0, units.base, bytes, InterLayerSyntax()) else {
      throw .missingBasePicture
    }
    guard let vps = stream.sets.videoParameterSet(base.sps.videoParameterSetID),
      let pair = InterLayerSyntax(vps)
    else { throw .notLayered }
    var dependent: LayeredStream.Picture?
    var failure: FlattenError?
    do throws(FlattenError) {
      dependent = try stream.picture(1, units.dependent, bytes, pair, base: base)
    } catch {
      failure = error
    }
    do throws(FlattenError) {
      if let dependent { try check(base, dependent) }
    } catch {
      guard parameterSets != nil else { throw error }
      failure = error
      dependent = nil
    }
    if dependent == nil { stream.countDependentAsBase() }
    let (sets, changed) = try updateParameterSets(vps, base, dependent)
    var pictures = try rewrite(base, dependent, units, bytes)
    if changed || base.first.header.type.isIRAP { pictures[0].inBandParameterSets = sets }
    if units.endsSequence { stream.endSequence() }
    return AccessUnit(
      pictures: pictures, parameterSets: sets, parameterSetsChanged: changed,
      beginsSequence: base.beginsSequence, dependentFailure: failure)
  }

  /// Both pictures in the numbering of the flattened stream.
  private mutating func rewrite(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture?,
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan
  ) throws(FlattenError) -> [SingleLayerAccessUnit] {
    let offset = Self.pictureOrderCountOffset
    if base.beginsSequence { kept = [ReferencePictures(), ReferencePictures()] }
    let baseReferences = references(base, 0)
    // Where the dependent picture is lost, the next one may still need what the last one had.
    let dependentReferences = dependent.map { references($0, 1) } ?? kept[1]
    let isInterLayer = dependent?.first.usesInterLayerPrediction ?? false

    var basePicture = FlattenedPicture(
      header: base.first.header, poc: base.pictureOrderCount, references: baseReferences,
      isOutput: output == .bothEyes && base.first.isOutput,
      layeredLists: baseReferences.initialLists(poc: base.pictureOrderCount),
      temporalMVPEnabled: base.sps.tools.temporalMotionVectorPrediction)
    if isInterLayer { basePicture.header.type = basePicture.header.type.asReference }
    // To a decoder that goes on behind a discontinuity, a CRA picture would be one in mid-sequence.
    if isBehindDiscontinuity, basePicture.header.type == .cra { basePicture.header.type = .blaWLP }
    isBehindDiscontinuity = false
    // A picture that was lost is not asked to be kept: decoders would make one up.
    let dependentPresent = dependentReferences.present(in: kept[1])
    let basePresent = baseReferences.present(in: kept[0])
    basePicture.references.keep(dependentPresent.moved(by: offset))
    remember(basePresent, base.pictureOrderCount, 0)
    var pictures = [try accessUnit(basePicture, base, units, bytes, hasDependent: dependent != nil)]

    if let dependent {
      pictures.append(
        try accessUnit(
          dependentPicture(dependent, base, dependentReferences, basePresent, offset),
          dependent, units, bytes, hasDependent: true))
      remember(dependentPresent, dependent.pictureOrderCount, 1)
    }
    return pictures
  }

  private func dependentPicture(
    _ dependent: LayeredStream.Picture, _ base: LayeredStream.Picture,
    _ own: ReferencePictures, _ baseReferences: ReferencePictures, _ offset: Int
  ) -> FlattenedPicture {
    var header = dependent.first.header
    header.layerID = 0
    if header.type.isIRAP { header.type = .trailR }
    let poc = dependent.pictureOrderCount &+ offset
    let moved = own.moved(by: offset)
    let basePOC = base.pictureOrderCount
    var picture = FlattenedPicture(
      header: header, poc: poc, references: moved, isOutput: dependent.first.isOutput,
      layeredLists: moved.initialLists(poc: poc),
      temporalMVPEnabled: base.sps.tools.temporalMotionVectorPrediction)
    picture.references.keep(baseReferences)
    if dependent.first.usesInterLayerPrediction {
      // F.8.3.4: with two views, the base picture is in RefPicSetInterLayer0: behind StCurrBefore
      // in list 0, at the end of list 1.
      let before = moved.shortTerm.count { $0.isUsed && $0.poc < poc }
      picture.layeredLists.0.insert(basePOC, at: before)
      picture.layeredLists.1.append(basePOC)
      picture.references.longTerm.append(.init(poc: basePOC, isUsed: true))
    } else {
      picture.references.shortTerm.append(.init(poc: basePOC, isUsed: false))
    }
    return picture
  }

  /// The reference pictures of `picture`; none for one that nothing is in front of.
  private func references(_ picture: LayeredStream.Picture, _ layer: Int) -> ReferencePictures {
    if picture.beginsSequence { return ReferencePictures() }
    return ReferencePictures(
      picture.first, poc: picture.pictureOrderCount, log2MaxLSB: picture.sps.log2MaxPOCLSB,
      known: kept[layer])
  }

  private mutating func remember(_ references: ReferencePictures, _ poc: Int, _ layer: Int) {
    kept[layer] = references
    kept[layer].shortTerm.append(.init(poc: poc, isUsed: false))
  }

  private func accessUnit(
    _ picture: FlattenedPicture, _ source: LayeredStream.Picture,
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, hasDependent: Bool
  ) throws(FlattenError) -> SingleLayerAccessUnit {
    guard picture.references.count <= 15 else {
      throw .tooManyReferencePictures(count: picture.references.count)
    }
    let layer = Int(source.first.header.layerID)
    var rewritten: [RewrittenNALUnit] = []
    rewritten.reserveCapacity(source.slices.count + 2)
    let isLast = layer == 1 || !hasDependent
    rewritten += SupplementalUnits.before(
      layer, units, bytes, movesBaseSEI: output == .dependentEye && hasDependent)
    for (slice, range) in source.slices {
      let number = try pictureParameterSetID(slice)
      rewritten.append(
        RewrittenNALUnit(
          header: picture.header,
          beginning: slice.flattenedBeginning(picture, pictureParameterSetID: number),
          payload: range.lowerBound + slice.dataOffset..<range.upperBound))
    }
    rewritten += SupplementalUnits.after(layer, units, bytes, isLast: isLast)
    return SingleLayerAccessUnit(
      nalUnits: rewritten, header: picture.header, pictureOrderCount: picture.poc, layerID: layer,
      isOutput: picture.isOutput)
  }

  private func pictureParameterSetID(_ slice: SliceSegmentHeader) throws(FlattenError) -> Int {
    let id = slice.pictureParameterSetID
    guard slice.header.layerID > 0, stream.sets.pps[1][id] != nil else { return id }
    guard let number = ppsNumbers[id] else { throw .missingParameterSet("PPS \(id)") }
    return number
  }

  /// Makes the flattened stream's parameter sets anew where those of a layer have changed, or
  /// where others of them are active.
  private mutating func updateParameterSets(
    _ vps: VideoParameterSet, _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture?
  ) throws(FlattenError) -> (SingleLayerParameterSets, changed: Bool) {
    // Where the dependent picture is lost, its SPS is what it was.
    let dependentID = dependent?.sps.id ?? madeOf.last ?? -1
    let sources = [stream.sets.generation, base.sps.id, dependentID]
    if let parameterSets, madeOf == sources { return (parameterSets, false) }
    do throws(DependentNumbering.Exhausted) {
      try ppsNumbers.update(
        base: stream.sets.pps[0].map { $0 != nil }, dependent: stream.sets.pps[1].map { $0 != nil })
    } catch {
      throw .tooManyParameterSets
    }
    let maker = FlattenedParameterSets(vps, base: base.sps, dependent: dependent?.sps)
    var sets = SingleLayerParameterSets()
    sets.videoParameterSet = maker.videoParameterSet(vps)
    sets.sequenceParameterSets = [maker.sequenceParameterSet(base.sps)]
    for stored in stream.sets.pps[0] {
      guard let pps = stored?.set, pps.sequenceParameterSetID == base.sps.id else { continue }
      sets.pictureParameterSets.append(
        maker.pictureParameterSet(pps, id: pps.id, sequenceParameterSetID: base.sps.id))
    }
    for stored in stream.sets.pps[1] {
      guard let pps = stored?.set, let number = ppsNumbers[pps.id] else { continue }
      sets.pictureParameterSets.append(
        maker.pictureParameterSet(pps, id: number, sequenceParameterSetID: base.sps.id))
    }
    let changed = sets != parameterSets
    parameterSets = sets
    madeOf = sources
    return (sets, changed)
  }

  /// Checks that the pictures of an access unit can be decoded with the same SPS.
  private func check(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture
  ) throws(FlattenError) {
    guard base.sps.format.width == dependent.sps.format.width,
      base.sps.format.height == dependent.sps.format.height,
      base.sps.format.sampleFormat == dependent.sps.format.sampleFormat
    else { throw .differentFormats(base: base.sps.format, dependent: dependent.sps.format) }
    var tools = dependent.sps.tools
    if tools.scalingList == .inferred { tools.scalingList = base.sps.tools.scalingList }
    guard base.sps.tools == tools else {
      throw .differentCodingTools(base: base.sps.tools, dependent: tools)
    }
    for picture in [base, dependent] {
      let pps = try stream.pps(picture.first)
      if pps.pocResetInfoPresent { throw .pictureOrderCountReset }
      if pps.infersScalingList { throw .inferredScalingList }
    }
    guard !base.beginsSequence || dependent.first.header.type.isIRAP else {
      throw .unalignedRandomAccess(
        base: base.first.header.type, dependent: dependent.first.header.type)
    }
    guard base.pictureOrderCount == dependent.pictureOrderCount else {
      throw .differentPictureOrderCounts(
        base: base.pictureOrderCount, dependent: dependent.pictureOrderCount)
    }
    let isInterLayer = dependent.first.usesInterLayerPrediction
    for (slice, _) in dependent.slices where !slice.isDependent {
      guard slice.usesInterLayerPrediction == isInterLayer else {
        throw .mixedInterLayerPrediction
      }
    }
  }
}
