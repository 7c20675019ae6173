// SPDX-License-Identifier: MPL-2.0

/// The coding order of both layers' pictures in a flattened stream, and the reference pictures that
/// each of them lists.
///
/// The base picture of an access unit becomes a long-term reference of its dependent picture, and a
/// long-term picture may not become a short-term one again (H.265 8.3.2). So a dependent picture is
/// delayed until no later base picture lists its base picture. Once a base picture is absent from a
/// reference picture set, it is never used again: its dependent picture goes before the first base
/// picture whose set lacks it.
///
/// POCs are those of the flattened stream.
struct FlattenedOrder: Sendable {
  /// A dependent picture that is not in the flattened stream yet.
  struct Dependent: Sendable {
    /// Number of its access unit.
    var accessUnit: Int
    var poc: Int
    var basePOC: Int
    /// Whether the base picture is a reference.
    var usesBase: Bool
    /// References within its own layer.
    var references: ReferencePictures
    /// Pictures of its layer in the buffer when it arrived.
    var present: ReferencePictures
    /// Whether decoders output it.
    var isOutput: Bool
  }

  /// The next picture of the flattened stream, with its references.
  struct Step: Sendable {
    enum Picture: Sendable {
      case base
      case dependent(Dependent)
    }

    var picture: Picture
    var references: ReferencePictures
  }

  /// Maximum number of pictures in a reference picture set in H.265.
  private static let maximumSetSize = 15

  /// Maximum number of pictures in a reference picture set, and in the buffer besides the current
  /// one.
  var capacity = Self.maximumSetSize
  /// `sps_max_num_reorder_pics`
  var reordering = 0
  /// Whether no long-term reference has become a short-term one so far.
  private(set) var isStrict = true
  /// Whether the dependent pictures of the sequence had to be dropped.
  private(set) var hasDroppedDependents = false
  /// The delayed dependent pictures, in order.
  private(set) var waiting: [Dependent] = []
  /// Base layer pictures in the buffer that the base layer itself still needs.
  private(set) var base = ReferencePictures()
  /// Base pictures that the base layer itself uses as long-term references.
  private var longTerm: Set<Int> = []
  /// POCs of decoded pictures that wait for output (C.5.2).
  private var waitsForOutput: [Int] = []

  /// Returns the pictures that the next dependent picture's reference picture set must find in the
  /// buffer.
  private func needs(of next: ReferencePictures?) -> ReferencePictures {
    if let first = waiting.first { return first.references.present(in: first.present) }
    return next ?? ReferencePictures()
  }

  /// Begins a sequence: releases the delayed pictures and empties the buffer.
  mutating func begin() -> [Step] {
    let steps = drain()
    base = ReferencePictures()
    longTerm = []
    waitsForOutput = []
    hasDroppedDependents = false
    return steps
  }

  /// Releases the delayed pictures, at a point after which no picture refers to earlier ones.
  mutating func drain() -> [Step] { release(all: true, for: ReferencePictures()) }

  /// Releases the delayed pictures even if base pictures from `next` on still refer to pictures
  /// that thereby become long-term.
  mutating func drain(before next: ReferencePictures) -> [Step] {
    if waiting.contains(where: { !canPrecede($0, before: next) }) { isStrict = false }
    return release(all: true, for: next)
  }

  /// Discards all pictures.
  mutating func reset() {
    waiting = []
    _ = begin()
  }

  /// Returns the steps up to and including a base picture.
  ///
  /// If both layers need more pictures than the buffer holds, those of the dependent layer are
  /// dropped, and ``hasDroppedDependents`` is true until the next sequence.
  ///
  /// - Parameters:
  ///   - references: references of the base picture.
  ///   - dependentReferences: pictures that this access unit's dependent picture, or a later one,
  ///     must find in the buffer.
  ///   - isOutput: whether decoders output the base picture.
  mutating func code(
    base poc: Int, _ references: ReferencePictures, keeping dependentReferences: ReferencePictures,
    isOutput: Bool
  ) -> [Step] {
    let own = references.keepingPresent(in: base)
    var steps = release(all: !isStrict, for: own)
    var set = baseSet(own, dependentReferences)
    if isStrict, !waiting.isEmpty,
      count(set) > capacity || !canStillReleaseAll(after: poc, own, dependentReferences, set)
    {
      isStrict = false
      steps += release(all: true, for: own)
      set = baseSet(own, dependentReferences)
    }
    if set.count > capacity || hasDroppedDependents {
      hasDroppedDependents = true
      set = own
    }
    longTerm.formUnion(own.longTerm.map(\.poc))
    base = own.present(in: base)
    base.keep(poc)
    steps.append(Step(picture: .base, references: set))
    output(poc, isOutput)
    return steps
  }

  /// Returns whether all delayed pictures, and this base picture's dependent picture, could be
  /// released right after this base picture. That is the fallback if references turn out to live
  /// too long.
  private func canStillReleaseAll(
    after poc: Int, _ own: ReferencePictures, _ dependentReferences: ReferencePictures,
    _ set: ReferencePictures
  ) -> Bool {
    // Each picture takes at most one place.
    guard set.count + waiting.count + 2 > capacity else { return true }
    var trial = self
    trial.waiting.append(
      Dependent(
        accessUnit: 0, poc: .max, basePOC: poc, usesBase: true, references: dependentReferences,
        present: dependentReferences, isOutput: false))
    trial.base = own.present(in: base)
    trial.base.keep(poc)
    _ = trial.release(all: true, for: trial.base)
    return !trial.hasDroppedDependents
  }

  /// Adds the dependent picture of the last base picture and returns the steps that are possible
  /// now.
  mutating func add(_ dependent: Dependent) -> [Step] {
    waiting.append(dependent)
    return release(all: !isStrict, for: base)
  }

  private func baseSet(
    _ own: ReferencePictures, _ dependentReferences: ReferencePictures
  ) -> ReferencePictures {
    var set = own
    for held in waiting where held.usesBase {
      set.keep(held.basePOC, isLongTerm: longTerm.contains(held.basePOC))
    }
    set.keep(needs(of: dependentReferences))
    return set
  }

  /// Returns whether a picture may precede the next base picture, which has the references `next`.
  private func canPrecede(_ dependent: Dependent, before next: ReferencePictures) -> Bool {
    !dependent.usesBase || longTerm.contains(dependent.basePOC)
      || !next.shortTerm.contains { $0.poc == dependent.basePOC }
  }

  /// Releases the delayed pictures that may precede a base picture with the references `next`.
  ///
  /// - Parameter all: whether to also release pictures that should still be delayed.
  private mutating func release(all: Bool, for next: ReferencePictures) -> [Step] {
    var steps: [Step] = []
    while let first = waiting.first, all || canPrecede(first, before: next) {
      waiting.removeFirst()
      var set = first.references.keepingPresent(in: first.present)
      if first.usesBase { set.longTerm.append(.init(poc: first.basePOC, isUsed: true)) }
      for held in waiting where held.usesBase {
        set.keep(held.basePOC, isLongTerm: longTerm.contains(held.basePOC))
      }
      set.keep(next)
      guard set.count <= capacity else {
        hasDroppedDependents = true
        waiting = []
        break
      }
      steps.append(Step(picture: .dependent(first), references: set))
      output(first.poc, first.isOutput)
    }
    return steps
  }

  // MARK: Output

  /// Returns the number of pictures in the buffer besides the current one.
  private func count(_ set: ReferencePictures) -> Int {
    set.count + waitsForOutput.count { !set.contains($0) }
  }

  /// "Bumping" (C.5.2.3).
  private mutating func output(_ poc: Int, _ isOutput: Bool) {
    if isOutput { waitsForOutput.append(poc) }
    while waitsForOutput.count > reordering, let first = waitsForOutput.min() {
      waitsForOutput.removeAll { $0 == first }
    }
  }
}

/// A picture to be written to a flattened stream, as read from its access unit.
struct FlattenedPicture: Sendable {
  /// A slice segment and the id of its PPS in the flattened stream.
  struct Slice: Sendable {
    var header: SliceSegmentHeader
    /// Range of the NAL unit in the bytes of the access unit.
    var range: Range<Int>
    var pictureParameterSetID: Int
  }

  /// NAL unit header in the flattened stream.
  var header: NALUnitHeader
  /// POC in the flattened stream.
  var poc: Int
  /// `pic_output_flag`
  var isOutput: Bool
  /// RefPicListTemp0 and RefPicListTemp1 of the layered picture, as POCs of the flattened stream.
  var layeredLists: ([Int], [Int])
  /// `sps_temporal_mvp_enabled_flag`
  var temporalMVPEnabled: Bool
  /// `nuh_layer_id` of the picture in the layered stream.
  var layerID: Int
  /// Number of its access unit.
  var accessUnit: Int
  var slices: [Slice]
  /// NAL units before and after the slice segments.
  var prefix: [RewrittenNALUnit]
  var suffix: [RewrittenNALUnit]

  /// Returns the picture as an access unit with these reference pictures.
  func coded(_ references: ReferencePictures) -> SingleLayerAccessUnit {
    var units = prefix
    units.reserveCapacity(prefix.count + slices.count + suffix.count)
    for slice in slices {
      let data = slice.range.lowerBound + slice.header.dataOffset..<slice.range.upperBound
      units.append(
        RewrittenNALUnit(
          header: header, beginning: slice.header.flattenedBeginning(slice, self, references),
          payload: data))
    }
    return SingleLayerAccessUnit(
      nalUnits: units + suffix, header: header, pictureOrderCount: poc, layerID: layerID,
      isOutput: isOutput, accessUnit: accessUnit)
  }
}
