// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// Extracts from layered access units what a view needs: both layers, the dependent one, or the
/// base layer.
///
/// If both are wanted and a sequence begins without a decodable dependent picture, only the base
/// layer is extracted until the next random access point that has one.
final class LayerExtractor {
  /// Result for one access unit.
  struct Output {
    /// In decoding order; may include pictures of earlier access units.
    var pictures: [SingleLayerAccessUnit]
    /// Number of leading `pictures` to be sent before the parameter sets.
    var earlierCount = 0
    var parameterSets: SingleLayerParameterSets
    /// Whether picture order counts restart.
    var beginsSequence = false
    /// Index of the oldest access unit whose bytes are still needed.
    var oldestNeeded: Int
    /// State of the other eye.
    var pairing: AccessUnitMeta.Pairing
    /// Why the dependent picture was dropped; nil if it was not.
    var failure: FlattenError?
    var warning: FlattenWarning?
  }

  private var flattener: Flattener
  private var extractor = BaseLayerExtractor()
  /// Whether the flattener is in use; false while only the base layer is extracted.
  private var isFlattening: Bool
  /// Whether any picture has been output.
  private var hasBegun = false
  /// Whether the dependent layer is dropped because no decoder supports it.
  private var dropsDependentLayer = false
  private let wantsDependent: Bool
  private let wantsBoth: Bool
  /// The eye in the base layer.
  let baseEye: Eye
  /// A warning about what the stream leaves unspecified or what is ignored; nil for none.
  let warning: String?

  /// Reads the stream's description from its records and its first access unit. Returns nil if the
  /// description is not available yet.
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

  /// Largest delay of a picture so far, in access units.
  var delay: Int { flattener.delay }

  /// Discards all state about earlier pictures: the next access unit is a random access point.
  func reset() { flattener.reset() }

  /// Returns the waiting pictures when no access unit continues their sequence.
  func drain() -> [SingleLayerAccessUnit] { isFlattening ? flattener.drain() : [] }

  /// Drops the dependent layer from now on.
  func dropDependentLayer() { dropsDependentLayer = true }

  /// Returns the pictures of access unit `number` and those that waited for it.
  func make(
    _ bytes: RawSpan, _ units: [Range<Int>], number: Int, isRandomAccess: Bool
  ) throws -> Output {
    guard wantsDependent else { return try makeBase(bytes, units, number, .none) }
    guard wantsBoth else { return try flatten(bytes, units, number) }
    let units = dropsDependentLayer ? units.filter { !isDependent(bytes, $0) } : units
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

  /// Flattens both layers, or extracts only the base layer if a sequence begins without the other.
  private func flattenOrFallBack(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int
  ) throws -> Output {
    let made: Output
    do {
      made = try flatten(bytes, units, number)
    } catch let error as FlattenError where !hasBegun {
      return try fallBack(bytes, units, number, after: [], since: error)
    }
    hasBegun = true
    guard made.beginsSequence, made.failure != nil || !hasDependentPicture(bytes, units) else {
      return made
    }
    return try fallBack(
      bytes, units, number, after: made.pictures.prefix(made.earlierCount), since: made.failure)
  }

  private func fallBack(
    _ bytes: RawSpan, _ units: [Range<Int>], _ number: Int,
    after earlier: ArraySlice<SingleLayerAccessUnit>, since failure: FlattenError?
  ) throws -> Output {
    var output = try makeBase(bytes, units, number, .gap)
    output.pictures = earlier + output.pictures
    output.earlierCount = earlier.count
    output.failure = failure
    (isFlattening, hasBegun) = (false, true)
    return output
  }

  /// Resumes flattening at a random access point. Throws if the dependent layer is unusable there.
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

  /// Returns the parameter sets of an access unit, to keep the unused extraction method up to date.
  private func parameterSets(_ bytes: RawSpan, _ units: [Range<Int>]) -> [[UInt8]] {
    units.compactMap { range in
      let unit = bytes.extracting(range)
      guard NALUnitHeader(unit)?.type.isParameterSet == true else { return nil }
      return unit.withUnsafeBytes { Array($0) }
    }
  }
}
