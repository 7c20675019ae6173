import GStreamer
import HEVC
import StereoVideo

/// Takes of layered access units what a view needs: both layers, the dependent one, or the base.
final class LayerMaker {
  private enum Work {
    case flatten(Flattener)
    case base(BaseLayerExtractor)
  }

  private var work: Work
  /// The eye in the base layer.
  let baseEye: Eye
  /// What the stream leaves open, or what of it is left out; nil for nothing.
  let warning: String?
  let outputsBoth: Bool
  /// Those of the last access unit.
  private(set) var parameterSets: SingleLayerParameterSets?
  /// Why the last access unit's dependent picture was left out; nil where it was not.
  private(set) var lastFailure: FlattenError?
  /// Whether the numbering of the pictures began anew with the last access unit.
  private(set) var beginsSequence = false

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

  /// Forgets the pictures so far: the next access unit is a random access point.
  func reset() {
    guard case .flatten(var flattener) = work else { return }
    flattener.reset()
    work = .flatten(flattener)
  }

  /// The pictures of an access unit, in decoding order.
  func make(_ bytes: RawSpan, _ units: [Range<Int>]) throws -> [SingleLayerAccessUnit] {
    switch work {
    case .flatten(var flattener):
      // Kept in one place only, or its state would be copied.
      work = .base(BaseLayerExtractor())
      defer { work = .flatten(flattener) }
      let made = try flattener.flatten(bytes, nalUnits: units)
      parameterSets = made.parameterSets
      lastFailure = made.dependentFailure
      beginsSequence = made.beginsSequence
      return made.pictures
    case .base(var extractor):
      let made = try extractor.extract(bytes, nalUnits: units)
      work = .base(extractor)
      parameterSets = made.parameterSets
      return [made.picture]
    }
  }
}
