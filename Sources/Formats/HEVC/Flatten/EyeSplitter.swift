// SPDX-License-Identifier: MPL-2.0

/// Splits a stream of two layers into one stream an eye, by the cheapest way that is exact: the base
/// layer is taken out, and so is the dependent layer where nothing in it refers to the base layer;
/// else the stream is flattened for it. Where inter-layer prediction begins later, flattening does at
/// the next random access point, and the dependent pictures up to it are lost.
///
/// The eyes are independent of each other: either may be left alone, and what is wrong with the
/// dependent layer never touches the base layer.
public struct EyeSplitter: Sendable {
  /// What one access unit gives for one eye.
  public struct Output: Sendable {
    /// Access units in decoding order: of the dependent eye, any number of them, some of layered
    /// access units before. Decoders output those of the eye's own layer; the others are what they
    /// refer to.
    public var pictures: [SingleLayerAccessUnit]
    /// The parameter sets that hold behind the first ``earlierCount`` of them.
    public var parameterSets: SingleLayerParameterSets
    /// Whether they differ from those of the access unit before; true for the first.
    public var parameterSetsChanged: Bool
    /// How many of the pictures belong in front of the new parameter sets, where they change.
    public var earlierCount = 0
    /// The number that the access unit has in ``SingleLayerAccessUnit/accessUnit``.
    public var number: Int
    /// The number of the oldest access unit whose bytes are still needed for the eye.
    public var oldestNeeded: Int
    /// Why the dependent picture is missing, where it is there but damaged.
    public var failure: FlattenError?
    /// What decoders may stumble over from here on.
    public var warning: FlattenWarning?
  }

  /// How the dependent layer is had.
  private enum Way: Sendable {
    case none
    case unweave(Unweaver)
    /// From the next random access point on, whose pictures `why` asks for it.
    case flattenNext(Flattener, why: FlattenError)
    case flatten(Flattener)
  }

  private var base = BaseLayerExtractor()
  private var way: Way
  private var baseCount = 0
  private var dependentCount = 0
  private var dependentSets: SingleLayerParameterSets?

  /// A splitter at the start of a stream.
  ///
  /// - Parameter isBaseOnly: nothing but the base layer is wanted, whatever the others are.
  public init(isBaseOnly: Bool = false) {
    way = isBaseOnly ? .none : .unweave(Unweaver())
  }

  /// Whether the dependent eye's stream has the base eye's pictures in it, to be decoded and not
  /// shown.
  public var isFlattening: Bool {
    if case .flatten = way { true } else { false }
  }

  /// By how many access units a picture of the dependent eye has come late, at the most so far.
  public var delay: Int {
    if case .flatten(let flattener) = way { flattener.delay } else { 0 }
  }

  /// Takes in parameter sets that came beside the stream, as in `hvcC` and `lhvC`.
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

  /// Forgets the pictures so far, those that wait too: call it at a discontinuity, as after a seek.
  /// The next access unit is a random access point.
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

  /// The dependent eye's pictures that wait, where no more access units come that go on from these.
  public mutating func drain() -> [SingleLayerAccessUnit] {
    guard case .flatten(var flattener) = way else { return [] }
    let pictures = flattener.drain()
    way = .flatten(flattener)
    return pictures
  }

  /// The base eye's part of an access unit, given as ranges of NAL units in `bytes`.
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

  /// The dependent eye's part of an access unit, given as ranges of NAL units in `bytes`.
  public mutating func dependentEye(
    _ bytes: RawSpan, nalUnits: [Range<Int>]
  ) throws(FlattenError) -> Output {
    let output: Output
    switch way {
    case .none: throw .notLayered
    case .unweave(var unweaver):
      // Kept in one place only, or its state would be copied.
      way = .none
      do throws(FlattenError) {
        let unit = try unweaver.unweave(bytes, nalUnits: nalUnits)
        way = .unweave(unweaver)
        output = self.output(unit)
      } catch {
        way = .unweave(unweaver)
        guard error.asksForFlattening else { throw error }
        let isFirst = dependentSets == nil
        let flattener = Flattener(
          output: .dependentEye, continuing: unweaver.sets, isBehindDiscontinuity: !isFirst)
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

  /// Begins to flatten, where that can be done with this access unit.
  private mutating func flatten(
    _ bytes: RawSpan, _ nalUnits: [Range<Int>], _ flattener: Flattener, why: FlattenError,
    isFirst: Bool
  ) throws(FlattenError) -> Output {
    var flattener = flattener
    guard isFirst || isRandomAccess(bytes, nalUnits) else {
      // What the access unit says of later ones must not be lost.
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
  /// The layers cannot be had one by one, but may be had together.
  fileprivate var asksForFlattening: Bool {
    switch self {
    case .interLayerPrediction, .inferredScalingList, .differentPictureOrderCounts: true
    default: false
    }
  }
}

/// What a caller keeps of access units until all of their pictures have come out of a
/// ``Flattener``: their bytes, and what they are stamped with.
public struct AccessUnitSources<Source> {
  private var sources: [(number: Int, source: Source)] = []

  /// Nothing kept.
  public init() {}

  /// Keeps what belongs to the access unit `number`.
  public mutating func keep(_ source: Source, as number: Int) {
    sources.append((number, source))
  }

  /// What belongs to the access unit `number`; nil where it is not kept.
  public subscript(number: Int) -> Source? {
    sources.last { $0.number == number }?.source
  }

  /// What is kept, in the order in which it came.
  public var all: [Source] { sources.map(\.source) }

  /// Drops what belongs to the access units in front of `number`.
  public mutating func drop(before number: Int) {
    sources.removeAll { $0.number < number }
  }

  /// Drops everything.
  public mutating func removeAll() { sources = [] }
}

extension AccessUnitSources: Sendable where Source: Sendable {}
