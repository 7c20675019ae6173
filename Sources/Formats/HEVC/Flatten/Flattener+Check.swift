// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

extension Flattener {
  /// Checks that both pictures of an access unit can be decoded with a single SPS.
  func check(
    _ base: LayeredStream.Picture, _ dependent: LayeredStream.Picture
  ) throws(FlattenError) {
    var (baseFormat, dependentFormat) = (base.sps.format, dependent.sps.format)
    if output == .dependentEye {
      // Only the dependent layer's conformance window is used.
      baseFormat.conformanceWindow = nil
      dependentFormat.conformanceWindow = nil
    }
    guard baseFormat == dependentFormat else {
      throw .differentFormats(base: base.sps.format, dependent: dependent.sps.format)
    }
    var tools = dependent.sps.tools
    if tools.scalingList == .inferred { tools.scalingList = base.sps.tools.scalingList }
    guard base.sps.tools == tools else {
      throw .differentCodingTools(base: base.sps.tools, dependent: tools)
    }
    for picture in [base, dependent] {
      let pps = try stream.activeSets(picture.first).pps.set
      if pps.pocResetInfoPresent { throw .pictureOrderCountReset }
      if pps.infersScalingList { throw .inferredScalingList }
      if pps.resamplesReferenceLayer { throw .resampledReferenceLayer }
    }
    guard !base.beginsSequence || dependent.first.header.type.isIRAP else {
      throw .unalignedRandomAccess(
        base: base.first.header.type, dependent: dependent.first.header.type)
    }
    guard base.pictureOrderCount == dependent.pictureOrderCount else {
      throw .differentPictureOrderCounts(
        base: base.pictureOrderCount, dependent: dependent.pictureOrderCount)
    }
    let isInterLayer = dependent.first.usesInterLayerPrediction
    for (slice, _) in dependent.slices where !slice.isDependent {
      guard slice.usesInterLayerPrediction == isInterLayer else {
        throw .mixedInterLayerPrediction
      }
    }
  }
}

/// The NAL units of a layered access unit, other than slices and parameter sets, that stay in a
/// single-layer stream.
///
/// SEI that only applies to the layered stream is removed: HRD and timing, active parameter sets,
/// nesting, and messages about layers and views. So are access unit delimiters, filler data and
/// unspecified types.
enum SupplementalUnits {
  /// Returns the base layer's NAL units unchanged, without SEI about layers and views.
  static func ofBaseLayer(
    _ units: LayeredStream.AccessUnit, _ bytes: RawSpan
  ) -> [RewrittenNALUnit] {
    units.base.compactMap { header, range in
      guard header.type == .prefixSEI || header.type == .suffixSEI else {
        return RewrittenNALUnit(header: header, payload: range)
      }
      return kept(header, range, bytes) { $0.isLayerMessage }
    }
  }

  /// Returns the prefix SEI for the picture of layer `layer`.
  ///
  /// - Parameter movesBaseSEI: whether the base layer's SEI goes before the dependent picture, as
  ///   the only picture that is output.
  static func before(
    _ layer: Int, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan, movesBaseSEI: Bool
  ) -> [RewrittenNALUnit] {
    var result: [RewrittenNALUnit] = []
    if layer == 0 ? !movesBaseSEI : movesBaseSEI {
      result += kept(.prefixSEI, units.base, bytes)
    }
    if layer > 0 { result += kept(.prefixSEI, units.dependent, bytes) }
    return result
  }

  /// Returns the suffix SEI for the picture of layer `layer`.
  static func after(
    _ layer: Int, _ units: LayeredStream.AccessUnit, _ bytes: RawSpan
  ) -> [RewrittenNALUnit] {
    kept(.suffixSEI, layer == 0 ? units.base : units.dependent, bytes)
  }

  /// Returns the end of sequence and end of bitstream NAL units, which follow the last picture of
  /// the sequence.
  static func ends(_ units: LayeredStream.AccessUnit) -> [RewrittenNALUnit] {
    units.base.filter { $0.header.type.endsSequence }.map {
      RewrittenNALUnit(header: $0.header, beginning: BitWriter().nalUnit($0.header))
    }
  }

  private static func kept(
    _ type: NALUnitType, _ units: [(header: NALUnitHeader, range: Range<Int>)], _ bytes: RawSpan
  ) -> [RewrittenNALUnit] {
    units.compactMap { header, range in
      guard header.type == type else { return nil }
      return kept(header, range, bytes) { $0.isLayerMessage || $0.isHRDMessage }
    }
  }

  /// Returns an SEI NAL unit without the messages for which `isDropped` is true; nil if none are
  /// left or it is unreadable.
  private static func kept(
    _ header: NALUnitHeader, _ range: Range<Int>, _ bytes: RawSpan,
    isDropped: (SEIMessage.PayloadType) -> Bool
  ) -> RewrittenNALUnit? {
    guard let all = try? SEIMessage.messages(in: bytes.extracting(range)) else { return nil }
    let rest = all.filter { !isDropped($0.type) }
    guard !rest.isEmpty else { return nil }
    if rest.count == all.count, header.layerID == 0 {
      return RewrittenNALUnit(header: header, payload: range)
    }
    var header = header
    header.layerID = 0
    return RewrittenNALUnit(header: header, beginning: SEIMessage.nalUnit(rest, header: header))
  }
}

extension SEIMessage.PayloadType {
  /// Whether this is scalable nesting or a message of Annex F, G or I.
  fileprivate var isLayerMessage: Bool { rawValue == 133 || 160...181 ~= rawValue }

  /// Whether this is buffering period, picture timing, active parameter sets or decoding unit
  /// information.
  fileprivate var isHRDMessage: Bool { [0, 1, 129, 130].contains(rawValue) }
}
