// SPDX-License-Identifier: MPL-2.0

/// In which order the pictures of both layers are coded in a flattened stream, and which reference
/// pictures each of them names.
///
/// The base picture of an access unit becomes a long-term reference of its dependent picture, and a
/// long-term picture may not become a short-term one again (H.265 8.3.2). So a dependent picture is
/// held back until no later base picture lists its base picture. A base picture that a reference
/// picture set leaves out is never used again: its dependent picture goes in front of the first
/// base picture of which the set lacks it.
///
/// POCs are those of the flattened stream.
struct FlattenedOrder: Sendable {
  /// A dependent picture that has not been coded yet.
  struct Dependent: Sendable {
    /// Counts access units.
    var accessUnit: Int
    var poc: Int
    var basePOC: Int
    /// The base picture is a reference.
    var usesBase: Bool
    /// Its references within its layer.
    var references: ReferencePictures
    /// The pictures of its layer that were in the buffer when it came.
    var present: ReferencePictures
    /// Decoders output it.
    var isOutput: Bool
  }

  /// A picture that is to be coded now.
  struct Step: Sendable {
    enum Picture: Sendable {
      case base
      case dependent(Dependent)
    }

    var picture: Picture
    var references: ReferencePictures
  }

  /// As many pictures as H.265 lets a set name.
  static let maximumSetSize = 15

  /// How many pictures a set may name, and how many may be in the buffer beside the current one.
  var capacity = Self.maximumSetSize
  /// `sps_max_num_reorder_pics`
  var reordering = 0
  /// Whether no picture has turned from a long-term reference into a short-term one.
  private(set) var isStrict = true
  /// Whether the dependent pictures of the sequence had to be given up.
  private(set) var hasLostDependents = false
  /// The dependent pictures that wait, in their order.
  private(set) var waiting: [Dependent] = []
  /// The pictures of the base layer that are in the buffer for the base layer's sake.
  private(set) var base = ReferencePictures()
  /// Base pictures that are long-term references of the base layer itself.
  private var longTerm: Set<Int> = []
  /// POCs of pictures that have been decoded and wait for output (C.5.2).
  private var waitsForOutput: [Int] = []

  /// What the set of the next dependent picture has to find in the buffer.
  private func needs(of next: ReferencePictures?) -> ReferencePictures {
    if let first = waiting.first { return first.references.present(in: first.present) }
    return next ?? ReferencePictures()
  }

  /// Begins a sequence: what waits is coded first, and nothing is in the buffer after it.
  mutating func begin() -> [Step] {
    let steps = drain()
    base = ReferencePictures()
    longTerm = []
    waitsForOutput = []
    hasLostDependents = false
    return steps
  }

  /// Codes what waits, since no more pictures refer to what there is.
  mutating func drain() -> [Step] { release(all: true, for: ReferencePictures()) }

  /// Codes what waits although base pictures of `next` may refer to what turns long-term by that.
  mutating func drain(before next: ReferencePictures) -> [Step] {
    if waiting.contains(where: { !mayGo($0, before: next) }) { isStrict = false }
    return release(all: true, for: next)
  }

  /// Forgets all pictures.
  mutating func reset() {
    waiting = []
    _ = begin()
  }

  /// The steps up to and with a base picture.
  ///
  /// Where the pictures of both layers are more than the buffer holds, those of the dependent layer
  /// are given up, and ``hasLostDependents`` says so until the next sequence.
  ///
  /// - Parameters:
  ///   - references: those of the base picture.
  ///   - dependentReferences: the pictures that the access unit's dependent picture, or a later one,
  ///     has to find in the buffer.
  ///   - isOutput: whether decoders output the base picture.
  mutating func code(
    base poc: Int, _ references: ReferencePictures, keeping dependentReferences: ReferencePictures,
    isOutput: Bool
  ) -> [Step] {
    let own = references.keepingPresent(in: base)
    var steps = release(all: !isStrict, for: own)
    var set = baseSet(own, dependentReferences)
    if isStrict, !waiting.isEmpty,
      count(set) > capacity || !canStillEndWaiting(behind: poc, own, dependentReferences, set)
    {
      isStrict = false
      steps += release(all: true, for: own)
      set = baseSet(own, dependentReferences)
    }
    if set.count > capacity || hasLostDependents {
      hasLostDependents = true
      set = own
    }
    longTerm.formUnion(own.longTerm.map(\.poc))
    base = own.present(in: base)
    base.keep(poc)
    steps.append(Step(picture: .base, references: set))
    output(poc, isOutput)
    return steps
  }

  /// Whether behind this base picture all that waits, its own dependent picture too, could be coded
  /// at once: the way out where references turn out to live too long.
  private func canStillEndWaiting(
    behind poc: Int, _ own: ReferencePictures, _ dependentReferences: ReferencePictures,
    _ set: ReferencePictures
  ) -> Bool {
    // Each picture takes one place at the most.
    guard set.count + waiting.count + 2 > capacity else { return true }
    var trial = self
    trial.waiting.append(
      Dependent(
        accessUnit: 0, poc: .max, basePOC: poc, usesBase: true, references: dependentReferences,
        present: dependentReferences, isOutput: false))
    trial.base = own.present(in: base)
    trial.base.keep(poc)
    _ = trial.release(all: true, for: trial.base)
    return !trial.hasLostDependents
  }

  /// Takes the dependent picture of the base picture that was coded last; gives what can be coded
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

  /// Whether a picture may be coded in front of the next base picture, which has these references.
  private func mayGo(_ dependent: Dependent, before next: ReferencePictures) -> Bool {
    !dependent.usesBase || longTerm.contains(dependent.basePOC)
      || !next.shortTerm.contains { $0.poc == dependent.basePOC }
  }

  /// Codes what may be coded in front of a base picture that has the references `next`.
  ///
  /// - Parameter all: and what had better wait.
  private mutating func release(all: Bool, for next: ReferencePictures) -> [Step] {
    var steps: [Step] = []
    while let first = waiting.first, all || mayGo(first, before: next) {
      waiting.removeFirst()
      var set = first.references.keepingPresent(in: first.present)
      if first.usesBase { set.longTerm.append(.init(poc: first.basePOC, isUsed: true)) }
      for held in waiting where held.usesBase {
        set.keep(held.basePOC, isLongTerm: longTerm.contains(held.basePOC))
      }
      set.keep(next)
      guard set.count <= capacity else {
        hasLostDependents = true
        waiting = []
        break
      }
      steps.append(Step(picture: .dependent(first), references: set))
      output(first.poc, first.isOutput)
    }
    return steps
  }

  // MARK: Output

  /// Pictures in the buffer beside the current one.
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

/// A picture that is to be coded in a flattened stream, with all that is known of it when its access
/// unit comes.
struct FlattenedPicture: Sendable {
  /// A slice segment and the PPS that it refers to in the flattened stream.
  struct Slice: Sendable {
    var header: SliceSegmentHeader
    /// The NAL unit, in the bytes of the access unit.
    var range: Range<Int>
    var pictureParameterSetID: Int
  }

  /// NAL unit header in the flattened stream.
  var header: NALUnitHeader
  /// POC in the flattened stream.
  var poc: Int
  /// `pic_output_flag`
  var isOutput: Bool
  /// RefPicListTemp0 and RefPicListTemp1 that the layered picture had, in POCs of the flattened
  /// stream.
  var layeredLists: ([Int], [Int])
  /// `sps_temporal_mvp_enabled_flag`
  var temporalMVPEnabled: Bool
  /// `nuh_layer_id` that the picture had.
  var layerID: Int
  /// Counts access units.
  var accessUnit: Int
  var slices: [Slice]
  /// What comes in front of the slice segments, and behind them.
  var prefix: [RewrittenNALUnit]
  var suffix: [RewrittenNALUnit]

  /// The picture as an access unit that names these reference pictures.
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
