// SPDX-License-Identifier: MPL-2.0

/// Splits a two-layer stream into one stream per eye with the least work that keeps the pictures
/// exact. The base layer is extracted. The dependent layer is extracted too if it does not refer to
/// the base layer; otherwise the stream is flattened for it. If inter-layer prediction starts
/// later, flattening starts at the next random access point, and the dependent pictures before it
/// are lost.
///
/// The eyes are processed independently: either can be left out, and errors in the dependent layer
/// never affect the base layer.
public struct EyeSplitter: Sendable {
  /// The part of an access unit for one eye.
  public struct Output: Sendable {
    /// Access units in decoding order. For the dependent eye there may be any number, including
    /// some from earlier layered access units. Decoders output the pictures of the eye's own layer;
    /// the others are only references.
    public var pictures: [SingleLayerAccessUnit]
    /// The parameter sets that apply after the first ``earlierCount`` pictures.
    public var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the preceding access unit; true for the first.
    public var parameterSetsChanged: Bool
    /// If the parameter sets change, the number of pictures that still use the previous ones.
    public var earlierCount = 0
    /// Number of the access unit, as in ``SingleLayerAccessUnit/accessUnit``.
    public var number: Int
    /// Number of the oldest access unit whose bytes this eye still needs.
    public var oldestNeeded: Int
    /// Why the dependent picture is missing although the access unit has one; nil if it is not
    /// missing.
    public var failure: FlattenError?
    /// A property of the stream from here on that some decoders do not support; nil if there is
    /// none.
    public var warning: FlattenWarning?
  }

  /// How the dependent layer is extracted.
  private enum Way: Sendable {
    case none
    case unweave(Unweaver)
    /// Flattening starts at the next random access point, because of `why`.
    case flattenNext(Flattener, why: FlattenError)
    case flatten(Flattener)
  }

  private var base = BaseLayerExtractor()
  private var way: Way
  private var baseCount = 0
  private var dependentCount = 0
  private var dependentSets: SingleLayerParameterSets?

  /// Creates a splitter at the start of a stream.
  ///
  /// - Parameter isBaseOnly: whether only the base layer is needed, regardless of the other layers.
  public init(isBaseOnly: Bool = false) {
    way = isBaseOnly ? .none : .unweave(Unweaver())
  }

  /// Whether the dependent eye's stream includes the base eye's pictures, which are decoded but not
  /// output.
  public var isFlattening: Bool {
    if case .flatten = way { true } else { false }
  }

  /// Largest delay of a dependent eye's picture so far, in access units.
  public var delay: Int {
    if case .flatten(let flattener) = way { flattener.delay } else { 0 }
  }

  /// Adds parameter sets from outside the stream, such as those in `hvcC` and `lhvC`.
  public mutating func add(parameterSets sets: [[UInt8]]) throws(FlattenError) {
    try base.add(parameterSets: sets)
    switch way {
    case .none: break
    case .unweave(var unweaver):
      way = .none
      defer { way = .unweave(unweaver) }
      try unweaver.add(parameterSets: sets)
    case .flattenNext(var flattener, let why):
      defer { way = .flattenNext(flattener, why: why) }
      try flattener.add(parameterSets: sets)
    case .flatten(var flattener):
      way = .none
      defer { way = .flatten(flattener) }
      try flattener.add(parameterSets: sets)
    }
  }

  /// Discards all previous pictures, including delayed ones. Call it at a discontinuity, such as a
  /// seek; the next access unit must be a random access point.
  public mutating func reset() {
    switch way {
    case .none, .flattenNext: break
    case .unweave(var unweaver):
      unweaver.reset()
      way = .unweave(unweaver)
    case .flatten(var flattener):
      flattener.reset()
      way = .flatten(flattener)
    }
  }

  /// Returns the delayed pictures of the dependent eye. Call it when no access unit that continues
  /// the preceding ones follows.
  public mutating func drain() -> [SingleLayerAccessUnit] {
    guard case .flatten(var flattener) = way else { return [] }
    let pictures = flattener.drain()
    way = .flatten(flattener)
    return pictures
  }

  /// Returns the base eye's part of an access unit, given as ranges of NAL units in `bytes`.
  ///
  /// - Throws: ``FlattenError`` if the base picture or a parameter set is missing or invalid.
  public mutating func baseEye(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> Output {
    var unit = try base.extract(bytes, nalUnits: nalUnits)
    unit.picture.accessUnit = baseCount
    defer { baseCount += 1 }
    return Output(
      pictures: [unit.picture], parameterSets: unit.parameterSets,
      parameterSetsChanged: unit.parameterSetsChanged, number: baseCount,
      oldestNeeded: baseCount + 1)
  }

  /// Returns the dependent eye's part of an access unit, given as ranges of NAL units in `bytes`.
  ///
  /// - Throws: ``FlattenError/notLayered`` if only the base layer was requested; otherwise the
  ///   errors of ``Unweaver/unweave(_:nalUnits:)`` and ``Flattener/flatten(_:nalUnits:number:)``.
  public mutating func dependentEye(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> Output {
    let output: Output
    switch way {
    case .none: throw .notLayered
    case .unweave(var unweaver):
      // A second reference to the state would cause a copy.
      way = .none
      do throws(FlattenError) {
        let unit = try unweaver.unweave(bytes, nalUnits: nalUnits)
        way = .unweave(unweaver)
        output = self.output(unit)
      } catch {
        way = .unweave(unweaver)
        guard error.requiresFlattening else { throw error }
        let isFirst = dependentSets == nil
        let flattener = Flattener(
          output: .dependentEye, continuing: unweaver.sets, followsDiscontinuity: !isFirst)
        output = try flatten(bytes, nalUnits, flattener, why: error, isFirst: isFirst)
      }
    case .flattenNext(let flattener, let why):
      output = try flatten(bytes, nalUnits, flattener, why: why, isFirst: false)
    case .flatten(var flattener):
      way = .none
      defer { way = .flatten(flattener) }
      output = self.output(
        try flattener.flatten(bytes, nalUnits: nalUnits, number: dependentCount))
    }
    dependentCount += 1
    if output.parameterSetsChanged { dependentSets = output.parameterSets }
    return output
  }

  /// Starts flattening if this access unit allows it.
  private mutating func flatten(
    _ bytes: RawSpan, _ nalUnits: [Range<Int>], _ flattener: Flattener, why: FlattenError,
    isFirst: Bool
  ) throws(FlattenError) -> Output {
    var flattener = flattener
    guard isFirst || isRandomAccess(bytes, nalUnits) else {
      // Keep the parameter sets, which later access units may need.
      try flattener.take(parameterSetsIn: bytes, nalUnits)
      way = .flattenNext(flattener, why: why)
      return Output(
        pictures: [], parameterSets: dependentSets ?? SingleLayerParameterSets(),
        parameterSetsChanged: false, number: dependentCount, oldestNeeded: dependentCount + 1,
        failure: why)
    }
    let unit = try flattener.flatten(bytes, nalUnits: nalUnits, number: dependentCount)
    way = .flatten(flattener)
    return output(unit)
  }

  private func output(_ unit: Flattener.AccessUnit) -> Output {
    Output(
      pictures: unit.pictures, parameterSets: unit.parameterSets,
      parameterSetsChanged: unit.parameterSetsChanged, earlierCount: unit.earlierCount,
      number: unit.number, oldestNeeded: unit.oldestNeeded, failure: unit.dependentFailure,
      warning: unit.warning)
  }

  private func output(_ unit: Unweaver.AccessUnit) -> Output {
    var pictures = unit.picture.map { [$0] } ?? []
    for index in pictures.indices { pictures[index].accessUnit = dependentCount }
    return Output(
      pictures: pictures, parameterSets: unit.parameterSets,
      parameterSetsChanged: unit.parameterSetsChanged, number: dependentCount,
      oldestNeeded: dependentCount + 1)
  }

  /// Whether the base layer's picture is an IRAP picture.
  private func isRandomAccess(_ bytes: RawSpan, _ nalUnits: [Range<Int>]) -> Bool {
    nalUnits.contains { range in
      guard range.lowerBound >= 0, range.upperBound <= bytes.byteCount,
        let header = NALUnitHeader(bytes.extracting(range))
      else { return false }
      return header.layerID == 0 && header.type.isIRAP
    }
  }
}

extension FlattenError {
  /// Whether the layers cannot be extracted separately but may be flattened together.
  fileprivate var requiresFlattening: Bool {
    switch self {
    case .interLayerPrediction, .inferredScalingList, .differentPictureOrderCounts: true
    default: false
    }
  }
}

/// Caller data for access units, such as their bytes and timestamps, kept until all their pictures
/// have come out of a ``Flattener``.
public struct AccessUnitSources<Source> {
  private var sources: [(number: Int, source: Source)] = []

  /// Creates an empty collection.
  public init() {}

  /// Keeps `source` for the access unit `number`.
  public mutating func keep(_ source: Source, as number: Int) {
    sources.append((number, source))
  }

  /// The data of the access unit `number`; nil if it is not kept.
  public subscript(number: Int) -> Source? {
    sources.last { $0.number == number }?.source
  }

  /// All data kept, in the order it was added.
  public var all: [Source] { sources.map(\.source) }

  /// Drops the data of all access units before `number`.
  public mutating func drop(before number: Int) {
    sources.removeAll { $0.number < number }
  }

  /// Drops everything.
  public mutating func removeAll() { sources = [] }
}

extension AccessUnitSources: Sendable where Source: Sendable {}
