/// Splits a stream of two layers into one stream an eye, by the cheapest way that is exact: the base
/// layer is taken out, and so is the dependent layer where nothing in it refers to the base layer;
/// else the stream is flattened for it.
///
/// The eyes are independent of each other: either may be left alone, and what is wrong with the
/// dependent layer never touches the base layer.
public struct EyeSplitter: Sendable {
  /// What one access unit gives for one eye.
  public struct Output: Sendable {
    /// Access units in decoding order; only the last is output by decoders, the one before is what
    /// it refers to.
    public var pictures: [SingleLayerAccessUnit]
    /// The parameter sets that hold for them.
    public var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the access unit before; true for the first.
    public var parameterSetsChanged: Bool
    /// Why the dependent picture is missing, where it is there but damaged.
    public var failure: FlattenError?
  }

  private var base = BaseLayerExtractor()
  private let isBaseOnly: Bool
  /// One of the two: how the dependent layer is had.
  private var unweaver: Unweaver?
  private var flattener: Flattener?
  private var parameterSets: [[UInt8]] = []

  /// A splitter at the start of a stream.
  ///
  /// - Parameter isBaseOnly: nothing but the base layer is wanted, whatever the others are.
  public init(isBaseOnly: Bool = false) {
    self.isBaseOnly = isBaseOnly
    unweaver = isBaseOnly ? nil : Unweaver()
  }

  /// Whether the dependent eye's stream has the base eye's pictures in it, to be decoded and not
  /// shown.
  public var isFlattening: Bool { flattener != nil }

  /// Takes in parameter sets that came beside the stream, as in `hvcC` and `lhvC`.
  public mutating func add(parameterSets sets: [[UInt8]]) throws(FlattenError) {
    parameterSets += sets
    try base.add(parameterSets: sets)
    try unweaver?.add(parameterSets: sets)
    try flattener?.add(parameterSets: sets)
  }

  /// Forgets the pictures so far: call it at a discontinuity, as after a seek. The next access unit
  /// is a random access point.
  public mutating func reset() {
    unweaver?.reset()
    flattener?.reset()
  }

  /// The base eye's part of an access unit, given as ranges of NAL units in `bytes`.
  public mutating func baseEye(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> Output {
    let unit = try base.extract(bytes, nalUnits: nalUnits)
    return Output(
      pictures: [unit.picture], parameterSets: unit.parameterSets,
      parameterSetsChanged: unit.parameterSetsChanged)
  }

  /// The dependent eye's part of an access unit, given as ranges of NAL units in `bytes`.
  public mutating func dependentEye(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> Output {
    guard !isBaseOnly else { throw .notLayered }
    do throws(FlattenError) {
      if let unit = try unweaver?.unweave(bytes, nalUnits: nalUnits) {
        return Output(
          pictures: unit.picture.map { [$0] } ?? [], parameterSets: unit.parameterSets,
          parameterSetsChanged: unit.parameterSetsChanged)
      }
    } catch {
      guard error.asksForFlattening else { throw error }
      unweaver = nil
    }
    if flattener == nil {
      var flattener = Flattener(output: .dependentEye)
      try flattener.add(parameterSets: parameterSets)
      self.flattener = flattener
    }
    guard let unit = try flattener?.flatten(bytes, nalUnits: nalUnits) else { throw .notLayered }
    return Output(
      pictures: unit.pictures, parameterSets: unit.parameterSets,
      parameterSetsChanged: unit.parameterSetsChanged, failure: unit.dependentFailure)
  }
}

extension FlattenError {
  /// The layers cannot be had one by one, but may be had together.
  fileprivate var asksForFlattening: Bool {
    switch self {
    case .interLayerPrediction, .inferredScalingList, .differentPictureOrderCounts: true
    default: false
    }
  }
}
