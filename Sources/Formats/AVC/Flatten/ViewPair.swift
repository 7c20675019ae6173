// SPDX-License-Identifier: MPL-2.0

/// The decoding processes of both views, from a random access point on.
struct ViewPair: Sendable {
  private var base = ViewState(.base)
  private var dependent = ViewState(.dependent)
  private var isBaseStarted = false
  private var isDependentStarted = false
  /// Whether decoding began at a picture that is no IDR picture, after which pictures can follow
  /// that refer to earlier ones.
  private var hasLeadingPictures = false
  /// The sets of the base picture that began the sequence.
  private var format: SequenceParameterSet.Format?

  /// Forgets all pictures: the next access unit must be a random access point.
  mutating func reset() { self = ViewPair() }

  /// Decodes the headers of an access unit.
  ///
  /// - Throws: ``MVCError`` if the base picture is missing or cannot be decoded.
  mutating func decode(_ unit: CodedAccessUnit) throws(MVCError) -> PicturePair {
    guard let head = unit.base.first?.header else { throw .unpaired }
    let begins = try begin(head, unit)
    let count = base.current?.continuedCount ?? 0
    let isSecondField = base.current?.isSecondField ?? false
    let picture = Self.finish(&base, .base, unit.base, interView: nil)
    var pair = PicturePair(
      base: picture, dependentError: unit.dependentError, beginsSequence: begins,
      isLeading: hasLeadingPictures && count < 0, sei: unit.sei)
    if begins { isDependentStarted = false }
    if !unit.dependent.isEmpty {
      do throws(MVCError) {
        let interView = unit.isInterViewReference ? picture.frame : nil
        pair.dependent = try decodeDependent(
          unit.dependent, picture, count, isSecondField, interView)
      } catch {
        isDependentStarted = false
        pair.dependentError = error
      }
    }
    check(&pair)
    return pair
  }

  /// Begins the base picture, and returns whether it begins a sequence.
  private mutating func begin(
    _ head: SliceHeader, _ unit: CodedAccessUnit
  ) throws(MVCError) -> Bool {
    var begins = false
    if !isBaseStarted {
      guard unit.base.allSatisfy({ $0.header.kind.isIntra }) else { throw .missingReferences }
      begins = true
      hasLeadingPictures = !head.isIDR
      if !head.isIDR { base.start(head) }
    } else if format != head.sets.sps.format, !head.isIDR {
      isBaseStarted = false
      throw .parameterSetChange
    }
    isBaseStarted = true
    base.begin(head)
    if head.isIDR, base.current?.isSecondField == false {
      begins = true
      hasLeadingPictures = false
    }
    if begins {
      format = head.sets.sps.format
      // An IDR picture has the count 0 (8.2.1).
      base.align(to: 0)
    }
    return begins
  }

  private mutating func decodeDependent(
    _ slices: [CodedSlice], _ base: ViewPicture, _ count: Int, _ isSecondField: Bool,
    _ interView: Int?
  ) throws(MVCError) -> ViewPicture {
    let head = slices[0].header
    if let name = base.head.sets.sps.format.difference(from: head.sets.sps.format) {
      throw .differentParameters(name)
    }
    guard head.structure == base.structure else { throw .differentPictures }
    let isStart = !isDependentStarted || head.isIDR && !isSecondField
    if isStart {
      guard !isSecondField, slices.allSatisfy({ $0.header.isIDR || $0.header.header.isAnchor })
      else { throw .missingReferences }
      dependent.start(head)
    }
    guard !dependent.isReferenceLost(before: head) else { throw .missingReferences }
    dependent.begin(head)
    // The sizes of the LSBs may differ, so after a start in the middle the counts do, too.
    if isStart { dependent.align(to: count) }
    guard dependent.current?.continuedCount == count else { throw .differentPictures }
    isDependentStarted = true
    return Self.finish(&dependent, .dependent, slices, interView: interView)
  }

  /// Decodes the slices of the current picture of a view, and ends it.
  private static func finish(
    _ state: inout ViewState, _ view: MVCView, _ slices: [CodedSlice], interView: Int?
  ) -> ViewPicture {
    var isChangedByDoubling = false
    var decoded: [ViewPicture.Slice] = []
    for slice in slices {
      let lists = state.lists(slice.header, base: interView)
      if lists.joined().contains(where: { $0 != nil && $0?.frame == interView }) {
        state.noteInterViewReference()
      }
      isChangedByDoubling =
        isChangedByDoubling || state.isChangedByDoubling(slice.header, lists)
      let colocated = (lists.count == 2 ? lists[1].first ?? nil : nil).flatMap {
        state.frame($0.frame)
      }
      decoded.append(
        ViewPicture.Slice(
          coded: slice, lists: lists,
          colocatedUsesInterView: colocated?.usesInterView ?? false))
    }
    return ViewPicture(
      view, ending: &state, decoded, isChangedByDoubling: isChangedByDoubling)
  }

  // MARK: Checks

  /// Looks for what makes pictures of the flattened stream differ.
  private func check(_ pair: inout PicturePair) {
    if pair.base.refers(where: { $0 == nil }) { pair.warnings.insert(.missingReferences) }
    guard let picture = pair.dependent else { return }
    if picture.refers(where: { $0 == nil }) { pair.warnings.insert(.missingReferences) }
    for slice in picture.slices where slice.header.kind == .b {
      check(slice, &pair)
    }
  }

  private func check(_ slice: ViewPicture.Slice, _ pair: inout PicturePair) {
    let base = pair.base.frame
    if slice.header.sets.pps.biPrediction == .implicit,
      slice.lists.joined().contains(where: { $0?.frame == base })
    {
      pair.warnings.insert(.implicitWeights)
    }
    guard let colocated = slice.lists.last?.first ?? nil else { return }
    let isInterView = colocated.frame == base
    if !slice.header.usesSpatialDirect {
      if isInterView || slice.colocatedUsesInterView {
        pair.warnings.insert(.temporalDirect)
      }
    } else if isInterView, !pair.base.isIntra {
      // colZeroFlag is 0 for an inter-view reference (H.8.4), and for a long-term one (8.4.1.2.2).
      if pair.base.head.isReference {
        pair.warnings.insert(.colocatedInterViewReference)
      } else {
        pair.needsLongTermBase = true
      }
    }
  }
}

extension SequenceParameterSet.Format {
  /// Returns the name of a property in which `other` differs; nil if they are equal.
  fileprivate func difference(from other: Self) -> String? {
    if self == other { return nil }
    if (widthInMBs, heightInMBs) != (other.widthInMBs, other.heightInMBs) { return "size" }
    if chromaFormat != other.chromaFormat { return "chroma format" }
    if (bitDepthLumaMinus8, bitDepthChromaMinus8)
      != (other.bitDepthLumaMinus8, other.bitDepthChromaMinus8)
    {
      return "bit depth"
    }
    if (isFrameOnly, isMBAFF) != (other.isFrameOnly, other.isMBAFF) { return "field coding" }
    return "coding tools"
  }
}

extension NALUnitHeader {
  /// Whether all references are of the same access unit.
  fileprivate var isAnchor: Bool { mvc?.isAnchor ?? false }
}
