// SPDX-License-Identifier: MPL-2.0

/// Converts an MV-HEVC stream of two layers to a single-layer stream that any H.265 decoder decodes
/// to exactly the pictures of the layered stream.
///
/// Each access unit becomes two: one with its base picture, and one with its dependent picture,
/// whose inter-layer reference becomes a long-term reference. Base pictures keep their POC; 2^14 is
/// added to that of dependent pictures. Distances within a layer, and so motion vector scaling, are
/// unchanged.
///
/// A dependent picture comes some access units after its base picture, once no later base
/// picture refers to that base picture; H.265 8.3.2 requires this order. So keep the bytes of the
/// access units from ``AccessUnit/oldestNeeded`` on, and call ``drain()`` at the end.
///
/// ```swift
/// var flattener = Flattener(output: .dependentEye)
/// try flattener.add(parameterSets: hvcC.nalUnits + lhvC.nalUnits)
/// let flat = try flattener.flatten(sample, nalUnits: LengthPrefixed.nalUnits(in: sample))
/// ```
public struct Flattener: Sendable {
  /// The pictures that a decoder of the flattened stream outputs.
  public enum Output: Sendable {
    /// Pictures of the dependent layer; base pictures are only decoded.
    case dependentEye
    /// Pictures of both layers. Decoders do not output them in display order, so pair the eyes by
    /// metadata on the buffers, not by time.
    case bothEyes
  }

  /// The result of flattening an access unit.
  public struct AccessUnit: Sendable {
    /// The number of the access unit.
    public internal(set) var number: Int
    /// Pictures in decoding order: dependent pictures of earlier access units, the base picture,
    /// and dependent pictures that can follow it. Empty if the base picture cannot be decoded
    /// because decoding started after its references.
    public internal(set) var pictures: [SingleLayerAccessUnit]
    /// If the parameter sets change, the number of pictures that still use the previous ones.
    public internal(set) var earlierCount: Int
    /// Number of the oldest access unit whose bytes are still needed.
    public internal(set) var oldestNeeded: Int
    /// The parameter sets that apply from the base picture on.
    public internal(set) var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the preceding access unit; true for the first.
    public internal(set) var parameterSetsChanged: Bool
    /// Whether a coded video sequence, and with it a new numbering of the pictures, begins here.
    public internal(set) var beginsSequence: Bool
    /// Why the dependent picture was left out although the access unit has one; nil if it was not.
    /// The base picture is not affected.
    public internal(set) var dependentFailure: FlattenError?
    /// A property of the stream from here on that some decoders do not support; nil if there is
    /// none.
    public internal(set) var warning: FlattenWarning?
  }

  /// Offset added to the POC of dependent pictures.
  public static let pictureOrderCountOffset = 1 << 14

  /// The pictures that decoders output.
  public let output: Output
  /// Largest delay of a dependent picture after its base picture so far, in access units.
  public private(set) var delay = 0
  /// Whether the stream has conformed to H.265 8.3.2 so far: see
  /// ``FlattenWarning/remarkedReferences``.
  public var isStrict: Bool { order.isStrict }

  var stream = LayeredStream()
  private var dependentPPSIDs = DependentParameterSetIDs(count: 64)
  private var parameterSets = DerivedParameterSets<SingleLayerParameterSets>()
  /// Id of the dependent layer's active SPS.
  private var dependentSPS = -1
  private var order = FlattenedOrder()
  /// The delayed dependent pictures by the number of their access unit.
  private var waiting: [Int: FlattenedPicture] = [:]
  /// Pictures of the dependent layer that later ones may refer to.
  private var dependents = ReferencePictures()
  private var followsDiscontinuity = false
  /// Whether decoding started at an IRAP picture whose RASL pictures refer to missing pictures.
  private var skipsLeadingPictures = false
  /// Whether the decoder's buffer has space for base pictures whose dependent pictures are delayed.
  private var needsDelayBuffers = false
  private var nextNumber = 0

  /// Creates a flattener for a stream that outputs `output`.
  public init(output: Output) { self.output = output }

  /// Creates a flattener that continues where another way of extracting the layer ended, at a
  /// random access point.
  init(output: Output, continuing sets: ParameterSetStore, followsDiscontinuity: Bool) {
    self.output = output
    stream = LayeredStream(sets: sets)
    self.followsDiscontinuity = followsDiscontinuity
  }

  /// Adds parameter sets from outside the stream, such as those in `hvcC` and `lhvC`.
  public mutating func add(parameterSets: [[UInt8]]) throws(FlattenError) {
    try stream.add(parameterSets: parameterSets)
  }

  /// Adds the parameter sets of an access unit that is not flattened.
  mutating func take(
    parameterSetsIn bytes: RawSpan, _ nalUnits: [Range<Int>]
  ) throws(FlattenError) {
    _ = try stream.split(bytes, nalUnits)
  }

  /// Discards all previous pictures, including delayed ones. Call it at a discontinuity, such as a
  /// seek; the next access unit must be a random access point.
  public mutating func reset() {
    stream.reset()
    order.reset()
    waiting = [:]
    dependents = ReferencePictures()
    followsDiscontinuity = true
  }

  /// Returns the delayed dependent pictures. Call it at the end of the stream, or before a random
  /// access point that is unrelated to the preceding access units; in that case call ``reset()``
  /// next.
  public mutating func drain() -> [SingleLayerAccessUnit] {
    let steps = order.drain()
    return coded(steps, at: nextNumber - 1)
  }

  /// Flattens an access unit of both layers, given as ranges of NAL units in `bytes`.
  ///
  /// At the start of a stream, incompatible layers are an error. Later, when damage is more likely,
  /// they are reported as ``AccessUnit/dependentFailure``.
  ///
  /// - Parameters:
  ///   - bytes: the bytes of the access unit.
  ///   - nalUnits: ranges of its NAL units, without start codes or lengths.
  ///   - number: number of the access unit in ``SingleLayerAccessUnit/accessUnit``; nil to count
  ///     the flattened access units.
  /// - Throws: ``FlattenError`` if the base picture or a parameter set is missing or invalid, or,
  ///   at the start of a stream, if the layers are incompatible.
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
      needsDelayBuffers = true
    }
    let number = number ?? nextNumber
    nextNumber = number + 1
    var result = AccessUnit(
      number: number, pictures: [], earlierCount: 0, oldestNeeded: number,
      parameterSets: SingleLayerParameterSets(), parameterSetsChanged: false,
      beginsSequence: base.beginsSequence, dependentFailure: failure)
    let maker = FlattenedParameterSets(
      vps, base: base.sps, dependent: dependent?.sps, output: output,
      needsDelayBuffers: needsDelayBuffers)
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
    if order.hasDroppedDependents, result.dependentFailure == nil {
      result.dependentFailure = .tooManyReferencePictures(count: order.capacity + 1)
      waiting = [:]
      dependents = ReferencePictures()
    }
    if wasStrict, !isStrict { result.warning = .remarkedReferences }
    result.oldestNeeded = waiting.keys.min() ?? number + 1
    return result
  }

  /// Returns the picture of the dependent layer, or the reason why it is left out.
  private mutating func readDependent(
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, _ pair: InterLayerSyntax,
    _ base: LayeredStream.Picture
  ) throws(FlattenError) -> (LayeredStream.Picture?, FlattenError?) {
    let dependent: LayeredStream.Picture?
    do throws(FlattenError) {
      dependent = try stream.picture(1, units.dependent, bytes, pair, base: base)
    } catch {
      stream.copyBaseCounterToDependent()
      return (nil, error)
    }
    guard let dependent else {
      stream.copyBaseCounterToDependent()
      return (nil, nil)
    }
    do throws(FlattenError) {
      try check(base, dependent)
    } catch {
      guard parameterSets.last != nil else { throw error }
      stream.copyBaseCounterToDependent()
      return (nil, error)
    }
    return (dependent, nil)
  }

  // MARK: Order

  /// Puts the pictures of an access unit, and the delayed ones it releases, in order.
  private mutating func arrange(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture?,
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, _ maker: FlattenedParameterSets,
    _ result: inout AccessUnit
  ) throws(FlattenError) {
    let number = result.number
    if base.beginsSequence { dependents = ReferencePictures() }
    let own = references(base, known: order.base)
    let dependentOwn = dependent.map { references($0, known: dependents) } ?? dependents
    // An IRAP picture is a random access point if no pictures are kept across it.
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
    if let dependent, let dependentPicture, !order.hasDroppedDependents {
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

  /// Returns the dependent pictures of `steps`.
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

  /// Returns the references of `picture`; empty if it begins a sequence.
  private func references(
    _ picture: LayeredStream.Picture, known: ReferencePictures
  ) -> ReferencePictures {
    if picture.beginsSequence { return ReferencePictures() }
    return ReferencePictures(
      picture.first, poc: picture.pictureOrderCount, log2MaxLSB: picture.sps.log2MaxPOCLSB,
      known: known)
  }

  // MARK: Pictures

  /// Returns the base picture of an access unit for the flattened stream.
  private mutating func picture(
    _ base: LayeredStream.Picture, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan,
    _ number: Int, isFresh: Bool, isReference: Bool, movesSEI: Bool
  ) throws(FlattenError) -> FlattenedPicture {
    var header = base.first.header
    header.type = header.type.flattened(isReference: isReference)
    if isFresh {
      // A decoder that continues would take a CRA picture for one within a sequence.
      let continues = followsDiscontinuity || !base.beginsSequence
      header.type = continues && base.first.header.type == .cra ? .blaWLP : base.first.header.type
    }
    followsDiscontinuity = false
    let poc = base.pictureOrderCount
    return FlattenedPicture(
      header: header, poc: poc, isOutput: output == .bothEyes && base.first.isOutput,
      layeredLists: references(base, known: order.base).initialLists(poc: poc),
      temporalMVPEnabled: base.sps.tools.temporalMotionVectorPrediction, layerID: 0,
      accessUnit: number, slices: try slices(base),
      prefix: SupplementalUnits.before(0, units, bytes, movesBaseSEI: movesSEI),
      suffix: SupplementalUnits.after(0, units, bytes))
  }

  /// Returns the dependent picture of an access unit for the flattened stream.
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
      // F.8.3.4: with two views, the base picture is in RefPicSetInterLayer0, which comes after
      // StCurrBefore in list 0 and at the end of list 1.
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

  /// Returns the id of a slice segment's PPS in the flattened stream.
  private func number(_ slice: SliceSegmentHeader) throws(FlattenError) -> Int {
    let id = slice.pictureParameterSetID
    guard slice.header.layerID > 0, stream.sets.pps[1][id] != nil else { return id }
    guard let number = dependentPPSIDs[id] else { throw .missingParameterSet("PPS \(id)") }
    return number
  }

  // MARK: Parameter sets

  private mutating func updateParameterSets(
    _ maker: FlattenedParameterSets, _ vps: VideoParameterSet, _ base: LayeredStream.Picture,
    _ dependent: LayeredStream.Picture?
  ) throws(FlattenError) -> (sets: SingleLayerParameterSets, changed: Bool) {
    // A lost dependent picture does not change the active SPS.
    dependentSPS = dependent?.sps.id ?? dependentSPS
    let store = stream.sets
    let sources = [store.generation, base.sps.id, dependentSPS, needsDelayBuffers ? 1 : 0]
    if let sets = parameterSets.current(from: sources) { return (sets, false) }
    do throws(DependentParameterSetIDs.Exhausted) {
      try dependentPPSIDs.update(
        base: store.pps[0].map { $0 != nil }, dependent: store.pps[1].map { $0 != nil })
    } catch {
      throw .tooManyParameterSets
    }
    let sets = maker.make(vps, base: base.sps, from: store, numbers: dependentPPSIDs)
    return (sets, parameterSets.update(sets, from: sources))
  }
}

extension NALUnitType {
  /// The type in the flattened stream of a picture that is not a random access point there. Leading
  /// pictures and switching points lose their type, because pictures of the other layer lie between
  /// them.
  ///
  /// - Parameter isReference: whether a picture of the other layer refers to this one.
  fileprivate func flattened(isReference: Bool) -> NALUnitType {
    isSubLayerNonReference && !isReference ? .trailN : .trailR
  }
}
