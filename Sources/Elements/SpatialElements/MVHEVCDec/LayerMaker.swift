// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// Takes of layered access units what a view needs: both layers, the dependent one, or the base.
///
/// Where both are wanted and a sequence begins without a dependent picture that can be decoded, the
/// base layer is taken out alone, up to the next random access point that has one.
final class LayerMaker {
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
    /// What there is of the other eye.
    var pairing: AccessUnitMeta.Pairing
    /// Why the dependent picture was left out; nil where it was not.
    var failure: FlattenError?
    var warning: FlattenWarning?
  }

  private var flattener: Flattener
  private var extractor = BaseLayerExtractor()
  /// Whether the layers come together, as things are.
  private var isFlattening: Bool
  /// Whether a picture has been made.
  private var hasBegun = false
  /// Whether the decoder does not decode the dependent layer.
  private var hasGivenUp = false
  private let wantsDependent: Bool
  private let wantsBoth: Bool
  /// The eye in the base layer.
  let baseEye: Eye
  /// What the stream leaves open, or what of it is left out; nil for nothing.
  let warning: String?

  /// Reads the stream's description from its records and its first access unit; nil where there is
  /// none yet.
  init?(_ input: LayeredInput, _ bytes: RawSpan, _ units: [Range<Int>], view: ViewChoice) throws {
    guard let information = try input.information(bytes, units) else { return nil }
    baseEye = information.baseEye ?? .left
    warning = information.warning
    wantsBoth = view == .both
    let isWanted =
      switch view {
      case .both: true
      case .base: false
      case .left: baseEye == .right
      case .right: baseEye == .left
      }
    wantsDependent = isWanted && information.isStereo
    isFlattening = wantsDependent
    flattener = Flattener(output: wantsBoth ? .bothEyes : .dependentEye)
    if !wantsDependent || wantsBoth { try extractor.add(parameterSets: input.parameterSets) }
    if wantsDependent { try flattener.add(parameterSets: input.parameterSets) }
  }

  /// By how many access units a picture has come late, at the most so far.
  var delay: Int { flattener.delay }

  /// Forgets the pictures so far: the next access unit is a random access point.
  func reset() { flattener.reset() }

  /// The pictures that wait, where no access unit comes that goes on from these.
  func drain() -> [SingleLayerAccessUnit] { isFlattening ? flattener.drain() : [] }

  /// Leaves out the dependent layer from now on.
  func giveUpDependents() { hasGivenUp = true }

  /// The pictures of the access unit `number`, and those that waited for it.
  func make(
    _ bytes: RawSpan, _ units: [Range<Int>], number: Int, isRandomAccess: Bool
  ) throws -> Output {
    guard wantsDependent else { return try makeBase(bytes, units, number, .none) }
    guard wantsBoth else { return try flatten(bytes, units, number) }
    let units = hasGivenUp ? units.filter { !isDependent(bytes, $0) } : units
    if isFlattening {
      try? extractor.add(parameterSets: parameterSets(bytes, units))
      return try flattenOrFallBack(bytes, units, number)
    }
    guard isRandomAccess, hasDependentPicture(bytes, units),
      let output = try? returnToFlattening(bytes, units, number)
    else {
      try? flattener.add(parameterSets: parameterSets(bytes, units))
      return try makeBase(bytes, units, number, .gap)
    }
    return output
  }

  private func flatten(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int
  ) throws -> Output {
    let made = try flattener.flatten(bytes, nalUnits: units, number: number)
    return Output(
      pictures: made.pictures, earlierCount: made.earlierCount,
      parameterSets: made.parameterSets, beginsSequence: made.beginsSequence,
      oldestNeeded: made.oldestNeeded, pairing: wantsBoth ? .pair : .none,
      failure: made.dependentFailure, warning: made.warning)
  }

  /// Both layers; the base layer alone where a sequence begins without the other.
  private func flattenOrFallBack(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int
  ) throws -> Output {
    let made: Output
    do {
      made = try flatten(bytes, units, number)
    } catch let error as FlattenError where !hasBegun {
      return try fallBack(bytes, units, number, behind: [], since: error)
    }
    hasBegun = true
    guard made.beginsSequence, made.failure != nil || !hasDependentPicture(bytes, units) else {
      return made
    }
    return try fallBack(
      bytes, units, number, behind: made.pictures.prefix(made.earlierCount), since: made.failure)
  }

  private func fallBack(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int,
    behind earlier: ArraySlice<SingleLayerAccessUnit>, since failure: FlattenError?
  ) throws -> Output {
    var output = try makeBase(bytes, units, number, .gap)
    output.pictures = earlier + output.pictures
    output.earlierCount = earlier.count
    output.failure = failure
    (isFlattening, hasBegun) = (false, true)
    return output
  }

  /// Both layers again, from a random access point on; throws where that does not go.
  private func returnToFlattening(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int
  ) throws -> Output {
    let kept = flattener
    do {
      flattener.reset()
      let made = try flatten(bytes, units, number)
      if let failure = made.failure { throw failure }
      isFlattening = true
      return made
    } catch {
      flattener = kept
      throw error
    }
  }

  private func makeBase(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int, _ pairing: AccessUnitMeta.Pairing
  ) throws -> Output {
    let made = try extractor.extract(bytes, nalUnits: units)
    var picture = made.picture
    picture.accessUnit = number
    return Output(
      pictures: [picture], parameterSets: made.parameterSets, oldestNeeded: number + 1,
      pairing: pairing)
  }

  // MARK: NAL units

  private func isDependent(_ bytes: RawSpan, _ range: Range<Int>) -> Bool {
    NALUnitHeader(bytes.extracting(range))?.layerID == 1
  }

  private func hasDependentPicture(_ bytes: RawSpan, _ units: [Range<Int>]) -> Bool {
    units.contains { range in
      let header = NALUnitHeader(bytes.extracting(range))
      return header?.layerID == 1 && header?.type.isSliceSegment == true
    }
  }

  /// What an access unit says of later ones, for the way that is not taken now.
  private func parameterSets(_ bytes: RawSpan, _ units: [Range<Int>]) -> [[UInt8]] {
    units.compactMap { range in
      let unit = bytes.extracting(range)
      guard NALUnitHeader(unit)?.type.isParameterSet == true else { return nil }
      return unit.withUnsafeBytes { Array($0) }
    }
  }
}
