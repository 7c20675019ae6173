import GStreamer
import HEVC
import StereoVideo

/// Takes of layered access units what a view needs: both layers, the dependent one, or the base.
final class LayerMaker {
  private enum Work {
    case flatten(Flattener)
    case base(BaseLayerExtractor)
  }

  /// What comes of an access unit.
  struct Output {
    /// In decoding order; some are of access units before.
    var pictures: [SingleLayerAccessUnit]
    /// How many of them belong in front of the parameter sets.
    var earlierCount = 0
    var parameterSets: SingleLayerParameterSets
    /// Whether the numbering of the pictures begins anew.
    var beginsSequence = false
    /// The oldest access unit whose bytes are still needed.
    var oldestNeeded: Int
    /// Why the dependent picture was left out; nil where it was not.
    var failure: FlattenError?
    var warning: FlattenWarning?
  }

  private var work: Work
  /// The eye in the base layer.
  let baseEye: Eye
  /// What the stream leaves open, or what of it is left out; nil for nothing.
  let warning: String?
  let outputsBoth: Bool

  /// Reads the stream's description from its records and its first access unit; nil where there is
  /// none yet.
  init?(_ input: LayeredInput, _ bytes: RawSpan, _ units: [Range<Int>], view: ViewChoice) throws {
    guard let information = try input.information(bytes, units) else { return nil }
    baseEye = information.baseEye ?? .left
    warning = information.warning
    let wantsDependent =
      switch view {
      case .both: true
      case .base: false
      case .left: baseEye == .right
      case .right: baseEye == .left
      }
    outputsBoth = view == .both && information.isStereo
    if information.isStereo, wantsDependent {
      var flattener = Flattener(output: view == .both ? .bothEyes : .dependentEye)
      try flattener.add(parameterSets: input.parameterSets)
      work = .flatten(flattener)
    } else {
      var extractor = BaseLayerExtractor()
      try extractor.add(parameterSets: input.parameterSets)
      work = .base(extractor)
    }
  }

  /// By how many access units a picture has come late, at the most so far.
  var delay: Int {
    if case .flatten(let flattener) = work { flattener.delay } else { 0 }
  }

  /// Whether every decoder decodes the stream so far.
  var isStrict: Bool {
    if case .flatten(let flattener) = work { flattener.isStrict } else { true }
  }

  /// Forgets the pictures so far: the next access unit is a random access point.
  func reset() {
    guard case .flatten(var flattener) = work else { return }
    flattener.reset()
    work = .flatten(flattener)
  }

  /// The pictures that wait, where no access unit comes that goes on from these.
  func drain() -> [SingleLayerAccessUnit] {
    guard case .flatten(var flattener) = work else { return [] }
    let pictures = flattener.drain()
    work = .flatten(flattener)
    return pictures
  }

  /// The pictures of the access unit `number`, and those that waited for it.
  func make(_ bytes: RawSpan, _ units: [Range<Int>], number: Int) throws -> Output {
    switch work {
    case .flatten(var flattener):
      // Kept in one place only, or its state would be copied.
      work = .base(BaseLayerExtractor())
      defer { work = .flatten(flattener) }
      let made = try flattener.flatten(bytes, nalUnits: units, number: number)
      return Output(
        pictures: made.pictures, earlierCount: made.earlierCount,
        parameterSets: made.parameterSets, beginsSequence: made.beginsSequence,
        oldestNeeded: made.oldestNeeded, failure: made.dependentFailure, warning: made.warning)
    case .base(var extractor):
      let made = try extractor.extract(bytes, nalUnits: units)
      work = .base(extractor)
      var picture = made.picture
      picture.accessUnit = number
      return Output(
        pictures: [picture], parameterSets: made.parameterSets, oldestNeeded: number + 1)
    }
  }
}
