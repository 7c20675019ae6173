// SPDX-License-Identifier: MPL-2.0

internal import HEVC
package import StereoVideo

/// The parameter sets of a slice. A class, since they are large and every slice has them.
package final class ActiveParameterSets: Sendable {
  /// The SPS, or the part of the subset SPS that is like one.
  package let sps: SequenceParameterSet
  package let pps: PictureParameterSet
  /// The subset SPS; nil for the base view.
  package let subset: SubsetSequenceParameterSet?

  init(sps: SequenceParameterSet, pps: PictureParameterSet, subset: SubsetSequenceParameterSet?) {
    self.sps = sps
    self.pps = pps
    self.subset = subset
  }
}

/// The parameter sets received so far.
///
/// SPSs and subset SPSs have id spaces of their own. If both views come in one stream, a PPS may
/// serve both (H.7.4.1.2.1); of two streams, the dependent view's has PPSs of its own. Sets are
/// read when a slice refers to them, so that a damaged one affects only the view that uses it.
package struct ParameterSetStore: Sendable {
  /// Largest size of a parameter set in bytes; those with all scaling lists have about 700.
  private static let maximumSize = 1 << 14

  private var sps: [Int: [UInt8]] = [:]
  private var subsets: [Int: [UInt8]] = [:]
  /// PPSs by the view of their stream.
  private var pps: [[Int: [UInt8]]] = [[:], [:]]
  /// The sets that slices have used since the last change, by view and PPS id.
  private var active: [[Int: ActiveParameterSets]] = [[:], [:]]

  /// Creates an empty store.
  package init() {}

  /// Adds `nalUnit` if it is an SPS, subset SPS or PPS; other NAL units are ignored.
  ///
  /// - Parameter stream: the view whose elementary stream it comes from; base if both views come in
  ///   one.
  /// - Throws: `SyntaxError` if the ids cannot be read.
  package mutating func add(
    _ nalUnit: RawSpan, from stream: MVCView = .base
  ) throws(SyntaxError) {
    guard let header = NALUnitHeader(nalUnit), nalUnit.byteCount <= Self.maximumSize else { return }
    var isNew = false
    switch header.type {
    case .sequenceParameterSet:
      isNew = Self.update(&sps[try SequenceParameterSet.id(of: nalUnit)], nalUnit)
    case .subsetSequenceParameterSet:
      isNew = Self.update(&subsets[try SequenceParameterSet.id(of: nalUnit)], nalUnit)
    case .pictureParameterSet:
      let id = try PictureParameterSet.ids(of: nalUnit).pps
      isNew = Self.update(&pps[stream.rawValue][id], nalUnit)
    default: break
    }
    if isNew { active = [[:], [:]] }
  }

  /// Stores `nalUnit`, and returns whether it is new.
  private static func update(_ stored: inout [UInt8]?, _ nalUnit: RawSpan) -> Bool {
    guard stored?.hasSameBytes(as: nalUnit) != true else { return false }
    stored = [UInt8](copying: nalUnit)
    return true
  }

  /// Returns the PPS with this id for slices of `view`, and the SPS it refers to.
  ///
  /// - Throws: ``MVCError`` if one is missing, damaged or not supported.
  package mutating func activate(
    pps id: Int, for view: MVCView
  ) throws(MVCError) -> ActiveParameterSets {
    if let known = active[view.rawValue][id] { return known }
    guard let bytes = pps(id, for: view) else { throw .missingParameterSet("PPS \(id)") }
    let spsID = try readingSyntax { () throws(SyntaxError) in
      try PictureParameterSet.ids(of: bytes.span.bytes).sps
    }
    var subset: SubsetSequenceParameterSet?
    let sps: SequenceParameterSet
    switch view {
    case .base: sps = try baseSPS(spsID)
    case .dependent:
      let set = try subsetSPS(spsID)
      (subset, sps) = (set, set.sps)
    }
    guard !sps.format.separatesColourPlanes else { throw .separateColourPlanes }
    let sets = ActiveParameterSets(
      sps: sps, pps: try PictureParameterSet(nalUnit: bytes, format: sps.format), subset: subset)
    active[view.rawValue][id] = sets
    return sets
  }

  /// Returns the NAL units of the PPS with this id for `view`, and of its SPS or subset SPS; nil if
  /// one is missing.
  func nalUnits(pps id: Int, for view: MVCView) -> (sps: [UInt8], pps: [UInt8])? {
    guard let bytes = pps(id, for: view),
      let spsID = try? PictureParameterSet.ids(of: bytes.span.bytes).sps,
      let set = view == .base ? sps[spsID] : subsets[spsID]
    else { return nil }
    return (set, bytes)
  }

  /// The subset SPS to expect if no dependent picture has come yet: the readable one with the
  /// lowest id.
  var expectedSubset: SubsetSequenceParameterSet? {
    for id in subsets.keys.sorted() {
      if let set = try? subsetSPS(id) { return set }
    }
    return nil
  }

  private func pps(_ id: Int, for view: MVCView) -> [UInt8]? {
    pps[view.rawValue][id] ?? pps[MVCView.base.rawValue][id]
  }

  private func baseSPS(_ id: Int) throws(MVCError) -> SequenceParameterSet {
    guard let bytes = sps[id] else { throw .missingParameterSet("SPS \(id)") }
    return try readingSyntax { () throws(SyntaxError) in try SequenceParameterSet(nalUnit: bytes) }
  }

  private func subsetSPS(_ id: Int) throws(MVCError) -> SubsetSequenceParameterSet {
    guard let bytes = subsets[id] else { throw .missingParameterSet("subset SPS \(id)") }
    return try SubsetSequenceParameterSet(nalUnit: bytes)
  }
}
