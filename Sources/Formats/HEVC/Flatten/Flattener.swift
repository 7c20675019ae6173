// SPDX-License-Identifier: MPL-2.0

/// Makes an MV-HEVC stream of two layers into one single-layer stream that any H.265 decoder
/// decodes to exactly the pictures of the layered stream.
///
/// Each access unit gives two: that of its base picture, and that of its dependent picture, whose
/// inter-layer reference has become a long-term reference. Base pictures keep their POC, dependent
/// pictures get theirs plus 2^14: distances inside a layer stay what they were, and so does motion
/// vector scaling.
///
/// A dependent picture comes some access units after its base picture, when no later base picture
/// refers to that any more: the order of pictures that H.265 8.3.2 allows wants it so. So keep the bytes of the access units from
/// ``AccessUnit/oldestNeeded`` on, and call ``drain()`` at the end.
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
    /// Those of both layers. They come out in another order than they are shown in, so pair the
    /// eyes by what travels with the buffers, not by time.
    case bothEyes
  }

  /// What comes of an access unit.
  public struct AccessUnit: Sendable {
    /// The number of the access unit.
    public internal(set) var number: Int
    /// In decoding order: dependent pictures of access units before, the base picture, and what can
    /// be coded behind it. Nothing where the base picture cannot be decoded, since decoding began
    /// behind what it refers to.
    public internal(set) var pictures: [SingleLayerAccessUnit]
    /// How many of the pictures belong in front of the new parameter sets, where they change.
    public internal(set) var earlierCount: Int
    /// The number of the oldest access unit whose bytes are still needed.
    public internal(set) var oldestNeeded: Int
    /// The parameter sets that hold from the base picture on.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the access unit before; true for the first.
    public internal(set) var parameterSetsChanged: Bool
    /// Whether a coded video sequence begins here, and with it a new numbering of the pictures.
    public internal(set) var beginsSequence: Bool
    /// Why the dependent picture was left out, where it is there but damaged. The base picture is
    /// not affected.
    public internal(set) var dependentFailure: FlattenError?
    /// What decoders may stumble over from here on.
    public internal(set) var warning: FlattenWarning?
  }

  /// What is added to the POC of dependent pictures.
  public static let pictureOrderCountOffset = 1 << 14

  /// Which pictures are output.
  public let output: Output
  /// By how many access units a dependent picture has come later than its base picture, at the most
  /// so far.
  public private(set) var delay = 0
  /// Whether the stream obeys H.265 8.3.2 so far: see ``FlattenWarning/remarkedReferences``.
  public var isStrict: Bool { order.isStrict }

  var stream = LayeredStream()
  private var ppsNumbers = DependentNumbering(count: 64)
  private var parameterSets = DerivedParameterSets<SingleLayerParameterSets>()
  /// The id of the dependent layer's active SPS.
  private var dependentSPS = -1
  private var order = FlattenedOrder()
  /// The dependent pictures that wait, by the number of their access unit.
  private var waiting: [Int: FlattenedPicture] = [:]
  /// The pictures of the dependent layer that later ones may refer to.
  private var dependents = ReferencePictures()
  private var isBehindDiscontinuity = false
  /// Decoding began at an IRAP picture whose RASL pictures refer to what is not there.
  private var skipsLeadingPictures = false
  /// Room in the decoder for base pictures that wait for their dependent pictures.
  private var hasRoomToWait = false
  private var nextNumber = 0

  /// A flattener whose stream outputs `output`.
  public init(output: Output) { self.output = output }

  /// A flattener that goes on where another way of taking a stream apart has ended, at a random
  /// access point.
  init(output: Output, continuing sets: ParameterSetStore, isBehindDiscontinuity: Bool) {
    self.output = output
    stream = LayeredStream(sets: sets)
    self.isBehindDiscontinuity = isBehindDiscontinuity
  }

  /// Takes in parameter sets that came beside the stream, as in `hvcC` and `lhvC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// Takes in the parameter sets of an access unit that is not flattened.
  mutating func take(
    parameterSetsIn bytes: RawSpan, _ nalUnits: [Range<Int>]
  ) throws(FlattenError) {
    _ = try stream.split(bytes, nalUnits)
  }

  /// Forgets the pictures so far, those that wait too: call it at a discontinuity, as after a seek.
  /// The next access unit is a random access point.
  public mutating func reset() {
    stream.reset()
    order.reset()
    waiting = [:]
    dependents = ReferencePictures()
    isBehindDiscontinuity = true
  }

  /// The dependent pictures that wait, where no more access units come, or where the next one is a
  /// random access point that has nothing to do with those before: then call ``reset()`` next.
  public mutating func drain() -> [SingleLayerAccessUnit] {
    let steps = order.drain()
    return coded(steps, at: nextNumber - 1)
  }

  /// Flattens an access unit of both layers, given as ranges of NAL units in `bytes`.
  ///
  /// Layers that do not go together are an error at the start of a stream. Later, where damage is
  /// the likelier reason, that is the dependent picture's failure.
  ///
  /// - Parameters:
  ///   - bytes: those of the access unit.
  ///   - nalUnits: where its NAL units lie in them, start codes and lengths left out.
  ///   - number: what the access unit is called in ``SingleLayerAccessUnit/accessUnit``; nil to count
  ///     those that were flattened.
  public mutating func flatten(
    _ bytes: RawSpan, nalUnits: [Range<Int>], number: Int? = nil
  ) throws(FlattenError) -> AccessUnit {
    let beginning = try stream.begin(bytes, nalUnits)
    let (units, base, vps) = (beginning.units, beginning.base, beginning.vps)
    let (dependent, failure) = try readDependent(units, bytes, beginning.pair, base)
    if base.first.header.type.isIRAP {
      skipsLeadingPictures = base.beginsSequence && !base.first.header.type.isIDR
    }
    if base.beginsSequence, dependent?.first.usesInterLayerPrediction ?? false {
      hasRoomToWait = true
    }
    let number = number ?? nextNumber
    nextNumber = number + 1
    var result = AccessUnit(
      number: number, pictures: [], earlierCount: 0, oldestNeeded: number,
      parameterSets: SingleLayerParameterSets(), parameterSetsChanged: false,
      beginsSequence: base.beginsSequence, dependentFailure: failure)
    let maker = FlattenedParameterSets(
      vps, base: base.sps, dependent: dependent?.sps, output: output, hasRoomToWait: hasRoomToWait)
    let (sets, changed) = try updateParameterSets(maker, vps, base, dependent)
    result.parameterSets = sets
    result.parameterSetsChanged = changed
    let wasStrict = isStrict
    if !skipsLeadingPictures || !base.first.header.type.isRASL {
      try arrange(base, dependent, units, bytes, maker, &result)
    }
    if units.endsSequence {
      result.pictures += drain()
      if let last = result.pictures.indices.last {
        result.pictures[last].nalUnits += SupplementalUnits.ends(units)
      }
      stream.endSequence()
    }
    if order.hasLostDependents, result.dependentFailure == nil {
      result.dependentFailure = .tooManyReferencePictures(count: order.capacity + 1)
      waiting = [:]
      dependents = ReferencePictures()
    }
    if wasStrict, !isStrict { result.warning = .remarkedReferences }
    result.oldestNeeded = waiting.keys.min() ?? number + 1
    return result
  }

  /// The picture of the dependent layer, or why it is left out.
  private mutating func readDependent(
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, _ pair: InterLayerSyntax,
    _ base: LayeredStream.Picture
  ) throws(FlattenError) -> (LayeredStream.Picture?, FlattenError?) {
    let dependent: LayeredStream.Picture?
    do throws(FlattenError) {
      dependent = try stream.picture(1, units.dependent, bytes, pair, base: base)
    } catch {
      stream.countDependentAsBase()
      return (nil, error)
    }
    guard let dependent else {
      stream.countDependentAsBase()
      return (nil, nil)
    }
    do throws(FlattenError) {
      try check(base, dependent)
    } catch {
      guard parameterSets.last != nil else { throw error }
      stream.countDependentAsBase()
      return (nil, error)
    }
    return (dependent, nil)
  }

  // MARK: Order

  /// Puts the pictures of an access unit, and those that waited for them, in order.
  private mutating func arrange(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture?,
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, _ maker: FlattenedParameterSets,
    _ result: inout AccessUnit
  ) throws(FlattenError) {
    let number = result.number
    if base.beginsSequence { dependents = ReferencePictures() }
    let own = references(base, known: order.base)
    let dependentOwn = dependent.map { references($0, known: dependents) } ?? dependents
    // Where nothing is kept across it, an IRAP picture is a point to start at.
    let isFresh =
      base.beginsSequence
      || base.first.header.type.isIRAP && own.keepingPresent(in: order.base).count == 0
        && dependentOwn.count == 0
    let basePicture = try picture(
      base, units, bytes, number, isFresh: isFresh,
      isReference: dependent?.first.usesInterLayerPrediction ?? false,
      movesSEI: output == .dependentEye && dependent != nil)
    let dependentPicture = try dependent.map { picture throws(FlattenError) in
      try self.picture(
        picture, units, bytes, number, basePOC: base.pictureOrderCount, own: dependentOwn)
    }
    let offset = Self.pictureOrderCountOffset
    let present = dependents.moved(by: offset)
    var steps: [FlattenedOrder.Step] = []
    if isFresh {
      steps = order.begin()
      (order.capacity, order.reordering) = (maker.capacity, maker.reordering)
    } else if result.parameterSetsChanged {
      steps = order.drain(before: own)
    }
    result.pictures = coded(steps, at: number)
    let baseSteps = order.code(
      base: base.pictureOrderCount, own,
      keeping: dependentOwn.present(in: dependents).moved(by: offset),
      isOutput: basePicture.isOutput)
    result.pictures += coded(baseSteps.dropLast(), at: number)
    result.earlierCount = result.pictures.count
    if let step = baseSteps.last {
      var coded = basePicture.coded(step.references)
      if result.parameterSetsChanged || coded.type.isIRAP {
        coded.inBandParameterSets = result.parameterSets
      }
      result.pictures.append(coded)
    }
    if let dependent, let dependentPicture, !order.hasLostDependents {
      waiting[number] = dependentPicture
      steps = order.add(
        FlattenedOrder.Dependent(
          accessUnit: number, poc: dependentPicture.poc, basePOC: base.pictureOrderCount,
          usesBase: dependent.first.usesInterLayerPrediction,
          references: dependentOwn.moved(by: offset), present: present,
          isOutput: dependentPicture.isOutput))
      result.pictures += coded(steps, at: number)
      dependents = dependentOwn.present(in: dependents)
      dependents.keep(dependent.pictureOrderCount)
    }
  }

  /// The dependent pictures of `steps`.
  private mutating func coded(
    _ steps: some Sequence<FlattenedOrder.Step>, at number: Int
  ) -> [SingleLayerAccessUnit] {
    steps.compactMap { step in
      guard case .dependent(let dependent) = step.picture,
        let picture = waiting.removeValue(forKey: dependent.accessUnit)
      else { return nil }
      delay = max(delay, number - dependent.accessUnit)
      return picture.coded(step.references)
    }
  }

  /// The reference pictures of `picture`; none for one that nothing is in front of.
  private func references(
    _ picture: LayeredStream.Picture, known: ReferencePictures
  ) -> ReferencePictures {
    if picture.beginsSequence { return ReferencePictures() }
    return ReferencePictures(
      picture.first, poc: picture.pictureOrderCount, log2MaxLSB: picture.sps.log2MaxPOCLSB,
      known: known)
  }

  // MARK: Pictures

  /// The base picture of an access unit in the flattened stream.
  private mutating func picture(
    _ base: LayeredStream.Picture, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan,
    _ number: Int, isFresh: Bool, isReference: Bool, movesSEI: Bool
  ) throws(FlattenError) -> FlattenedPicture {
    var header = base.first.header
    header.type = header.type.flattened(isReference: isReference)
    if isFresh {
      // To a decoder that goes on, a CRA picture would be one in mid-sequence.
      let goesOn = isBehindDiscontinuity || !base.beginsSequence
      header.type = goesOn && base.first.header.type == .cra ? .blaWLP : base.first.header.type
    }
    isBehindDiscontinuity = false
    let poc = base.pictureOrderCount
    return FlattenedPicture(
      header: header, poc: poc, isOutput: output == .bothEyes && base.first.isOutput,
      layeredLists: references(base, known: order.base).initialLists(poc: poc),
      temporalMVPEnabled: base.sps.tools.temporalMotionVectorPrediction, layerID: 0,
      accessUnit: number, slices: try slices(base),
      prefix: SupplementalUnits.before(0, units, bytes, movesBaseSEI: movesSEI),
      suffix: SupplementalUnits.after(0, units, bytes))
  }

  /// The dependent picture of an access unit in the flattened stream.
  private func picture(
    _ dependent: LayeredStream.Picture, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan,
    _ number: Int, basePOC: Int, own: ReferencePictures
  ) throws(FlattenError) -> FlattenedPicture {
    var header = dependent.first.header
    header.layerID = 0
    header.type = header.type.flattened(isReference: false)
    let poc = dependent.pictureOrderCount &+ Self.pictureOrderCountOffset
    let moved = own.moved(by: Self.pictureOrderCountOffset)
    var lists = moved.initialLists(poc: poc)
    if dependent.first.usesInterLayerPrediction {
      // F.8.3.4: with two views, the base picture is in RefPicSetInterLayer0: behind StCurrBefore
      // in list 0, at the end of list 1.
      lists.0.insert(basePOC, at: moved.shortTerm.count { $0.isUsed && $0.poc < poc })
      lists.1.append(basePOC)
    }
    return FlattenedPicture(
      header: header, poc: poc, isOutput: dependent.first.isOutput, layeredLists: lists,
      temporalMVPEnabled: dependent.sps.tools.temporalMotionVectorPrediction, layerID: 1,
      accessUnit: number, slices: try slices(dependent),
      prefix: SupplementalUnits.before(
        1, units, bytes, movesBaseSEI: output == .dependentEye),
      suffix: SupplementalUnits.after(1, units, bytes))
  }

  private func slices(
    _ picture: LayeredStream.Picture
  ) throws(FlattenError) -> [FlattenedPicture.Slice] {
    var slices: [FlattenedPicture.Slice] = []
    for (header, range) in picture.slices {
      slices.append(.init(header: header, range: range, pictureParameterSetID: try number(header)))
    }
    return slices
  }

  /// The number of a slice segment's PPS in the flattened stream.
  private func number(_ slice: SliceSegmentHeader) throws(FlattenError) -> Int {
    let id = slice.pictureParameterSetID
    guard slice.header.layerID > 0, stream.sets.pps[1][id] != nil else { return id }
    guard let number = ppsNumbers[id] else { throw .missingParameterSet("PPS \(id)") }
    return number
  }

  // MARK: Parameter sets

  private mutating func updateParameterSets(
    _ maker: FlattenedParameterSets, _ vps: VideoParameterSet, _ base: LayeredStream.Picture,
    _ dependent: LayeredStream.Picture?
  ) throws(FlattenError) -> (sets: SingleLayerParameterSets, changed: Bool) {
    // Where the dependent picture is lost, its SPS is what it was.
    dependentSPS = dependent?.sps.id ?? dependentSPS
    let store = stream.sets
    let sources = [store.generation, base.sps.id, dependentSPS, hasRoomToWait ? 1 : 0]
    if let sets = parameterSets.current(from: sources) { return (sets, false) }
    do throws(DependentNumbering.Exhausted) {
      try ppsNumbers.update(
        base: store.pps[0].map { $0 != nil }, dependent: store.pps[1].map { $0 != nil })
    } catch {
      throw .tooManyParameterSets
    }
    let sets = maker.make(vps, base: base.sps, from: store, numbers: ppsNumbers)
    return (sets, parameterSets.update(sets, from: sources))
  }
}

extension NALUnitType {
  /// The type of a picture in the flattened stream that is no random access point there. Leading
  /// pictures and switching points are none: the pictures of the other layer are between them.
  ///
  /// - Parameter isReference: the picture is a reference of one of the other layer.
  fileprivate func flattened(isReference: Bool) -> NALUnitType {
    isSubLayerNonReference && !isReference ? .trailN : .trailR
  }
}
