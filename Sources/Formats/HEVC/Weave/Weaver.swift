// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Combines two single-layer H.265 streams, one for each eye, into one MV-HEVC stream.
///
/// The streams must be frame-aligned, with the same size, format, decoding order and random access
/// points. Picture and slice types may otherwise differ.
///
/// The base eye's NAL units are copied unchanged. The other eye's slice segment headers and
/// parameter sets are rewritten for nuh_layer_id 1. Slice data is never changed, because it starts
/// byte-aligned after a header whose last byte is not zero.
///
/// ```swift
/// var weaver = Weaver(baseEye: .left)
/// let woven = try weaver.weave(left: leftBytes, right: rightBytes, framing: .annexB)
/// ```
///
/// After an error, the weaver can continue at the next pair of IDR pictures.
public struct Weaver: Sendable {
  /// The eye in the base layer, which single-layer decoders show.
  public let baseEye: Eye

  private var base: EyeStream
  private var dependent: EyeStream
  /// The stream with predicted keyframes of the dependent eye.
  private var keyframes: EyeStream
  private var dependentSPSIDs = DependentParameterSetIDs(count: 16)
  private var dependentPPSIDs = DependentParameterSetIDs(count: 64)
  private var keyframeNumbers = DependentParameterSetIDs(count: 64)
  private var parameterSets = DerivedParameterSets<LayeredParameterSets>()

  /// Creates a weaver that puts `baseEye` (the hero eye) into the base layer.
  public init(baseEye: Eye) {
    self.baseEye = baseEye
    base = EyeStream(baseEye)
    dependent = EyeStream(baseEye.other)
    keyframes = EyeStream(baseEye.other)
  }

  /// Adds parameter sets of `eye` from outside the stream, such as those in `hvcC`.
  public mutating func add(parameterSets: [[UInt8]], of eye: Eye) throws(WeaveError) {
    if eye == baseEye {
      try base.add(parameterSets: parameterSets)
    } else {
      try dependent.add(parameterSets: parameterSets)
    }
  }

  /// Adds parameter sets of the stream with predicted keyframes. If the layered stream's parameter
  /// sets must not change, add them before the first access unit.
  public mutating func add(keyframeParameterSets: [[UInt8]]) throws(WeaveError) {
    try keyframes.add(parameterSets: keyframeParameterSets)
  }

  /// Weaves one access unit of each eye, given with its framing.
  ///
  /// - Throws: ``WeaveError``, or ``LengthPrefixed/Malformed`` if the lengths are inconsistent.
  public mutating func weave(
    left: RawSpan, right: RawSpan, framing: NALUnitFraming
  ) throws -> WovenAccessUnit {
    try weave(
      left: left, leftNALUnits: framing.nalUnits(in: left),
      right: right, rightNALUnits: framing.nalUnits(in: right))
  }

  /// Weaves one access unit of each eye, given as ranges of NAL units in the eye's bytes.
  public mutating func weave(
    left: RawSpan, leftNALUnits: [Range<Int>], right: RawSpan, rightNALUnits: [Range<Int>]
  ) throws(WeaveError) -> WovenAccessUnit {
    try weave(
      left: left, leftNALUnits: leftNALUnits, right: right, rightNALUnits: rightNALUnits,
      keyframe: nil, keyframeBytes: left)
  }

  /// Weaves a keyframe whose dependent picture is predicted from the base picture.
  ///
  /// Both eyes' pictures are IDR pictures. The dependent eye's picture is replaced, but its
  /// parameter sets apply to the pictures that follow.
  ///
  /// - Parameters:
  ///   - left: the left eye's access unit.
  ///   - leftNALUnits: ranges of its NAL units.
  ///   - right: the right eye's access unit.
  ///   - rightNALUnits: ranges of its NAL units.
  ///   - predicted: the access unit of a third stream that replaces the dependent eye's: a P
  ///     picture with a single reference, which stands for the base picture, and without temporal
  ///     motion vector prediction. The payloads of the dependent eye's NAL units are ranges of it.
  ///   - predictedNALUnits: ranges of its NAL units.
  public mutating func weave(
    left: RawSpan, leftNALUnits: [Range<Int>], right: RawSpan, rightNALUnits: [Range<Int>],
    predicted: RawSpan, predictedNALUnits: [Range<Int>]
  ) throws(WeaveError) -> WovenAccessUnit {
    try weave(
      left: left, leftNALUnits: leftNALUnits, right: right, rightNALUnits: rightNALUnits,
      keyframe: predictedNALUnits, keyframeBytes: predicted)
  }

  private mutating func weave(
    left: RawSpan, leftNALUnits: [Range<Int>], right: RawSpan, rightNALUnits: [Range<Int>],
    keyframe: [Range<Int>]?, keyframeBytes: RawSpan
  ) throws(WeaveError) -> WovenAccessUnit {
    let isLeftBase = baseEye == .left
    let baseBytes = isLeftBase ? left : right
    let dependentBytes = isLeftBase ? right : left
    let basePicture = try base.read(
      baseBytes, isLeftBase ? leftNALUnits : rightNALUnits)
    let dependentPicture = try dependent.read(
      dependentBytes, isLeftBase ? rightNALUnits : leftNALUnits)
    try check(
      left: isLeftBase ? basePicture : dependentPicture,
      right: isLeftBase ? dependentPicture : basePicture)
    let predicted = try keyframe.map { (ranges) throws(WeaveError) in
      guard basePicture.firstSlice.header.type.isIDR else { throw .misplacedKeyframe }
      return try keyframes.read(keyframeBytes, ranges)
    }
    let (sets, changed) = try updateParameterSets(basePicture, dependentPicture)
    var units = try arrange(basePicture, baseBytes)
    if let predicted {
      for (header, range) in predicted.nalUnits where header.type.isVCL {
        let unit = try rewriteKeyframe(keyframeBytes, range, basePicture, dependentPicture)
        units.pictures.append(WovenAccessUnit.Unit(nalUnit: unit, eye: baseEye.other))
      }
    } else {
      try arrange(dependentPicture, dependentBytes, after: &units)
    }
    return WovenAccessUnit(
      nalUnits: units.pictures + units.ends,
      parameterSets: sets, parameterSetsChanged: changed,
      header: basePicture.firstSlice.header,
      dependentType: dependentPicture.firstSlice.header.type,
      pictureOrderCount: basePicture.pictureOrderCount)
  }

  /// The NAL units of an access unit: the delimiter, base slices, then dependent slices.
  private struct Arrangement {
    var pictures: [WovenAccessUnit.Unit] = []
    /// End of sequence and end of bitstream, which come last.
    var ends: [WovenAccessUnit.Unit] = []
  }

  /// Returns the base picture's NAL units. Its suffix SEI stays directly after it.
  private func arrange(
    _ picture: EyeStream.Picture, _ bytes: RawSpan
  ) throws(WeaveError) -> Arrangement {
    var units = Arrangement()
    units.pictures.reserveCapacity(picture.nalUnits.count * 2)
    for (header, range) in picture.nalUnits {
      let unit = WovenAccessUnit.Unit(
        nalUnit: RewrittenNALUnit(header: header, payload: range), eye: baseEye)
      switch header.type {
      case .endOfSequence, .endOfBitstream: units.ends.append(unit)
      case .prefixSEI:
        guard let rest = withoutObsoleteMessages(bytes.extracting(range), header) else {
          units.pictures.append(unit)
          continue
        }
        if !rest.isEmpty {
          units.pictures.append(
            .init(nalUnit: RewrittenNALUnit(header: header, beginning: rest), eye: baseEye))
        }
      default: units.pictures.append(unit)
      }
    }
    return units
  }

  /// Adds the dependent picture after the base picture.
  private func arrange(
    _ picture: EyeStream.Picture, _ bytes: RawSpan, after units: inout Arrangement
  ) throws(WeaveError) {
    for (header, range) in picture.nalUnits {
      var layerHeader = header
      layerHeader.layerID = 1
      if header.type.isVCL {
        let unit = try rewrite(bytes, range, layerHeader)
        units.pictures.append(WovenAccessUnit.Unit(nalUnit: unit, eye: baseEye.other))
      } else if header.type == .endOfSequence {
        let end = RewrittenNALUnit(
          header: layerHeader, beginning: BitWriter().nalUnit(layerHeader))
        units.ends.insert(WovenAccessUnit.Unit(nalUnit: end, eye: baseEye.other), at: 0)
      }
    }
  }

  /// Returns the SEI NAL unit `nalUnit` without messages that do not apply to the new layered
  /// stream: the view mapping of an earlier layered stream, and the active parameter sets. Returns
  /// nil if it has no such message, and an empty array if it has no other.
  private func withoutObsoleteMessages(_ nalUnit: RawSpan, _ header: NALUnitHeader) -> [UInt8]? {
    guard let messages = try? SEIMessage.messages(in: nalUnit) else { return nil }
    let rest = messages.filter {
      $0.type != .threeDReferenceDisplays && $0.type != .activeParameterSets
    }
    guard rest.count < messages.count else { return nil }
    return rest.isEmpty ? [] : SEIMessage.nalUnit(rest, header: header)
  }

  private func rewrite(
    _ bytes: RawSpan, _ range: Range<Int>, _ header: NALUnitHeader
  ) throws(WeaveError) -> RewrittenNALUnit {
    let slice = try dependent.readSlice(bytes.extracting(range))
    let id = slice.pictureParameterSetID
    guard let pps = dependent.sets.pictureParameterSet(id, layer: 0),
      let sps = dependent.sets.sequenceParameterSet(pps.sequenceParameterSetID, layer: 0),
      let number = dependentPPSIDs[id]
    else { throw .missingParameterSet(baseEye.other, "PPS \(id)") }
    return RewrittenNALUnit(
      header: header,
      beginning: slice.dependentLayerBeginning(
        pictureParameterSetID: number, log2MaxPOCLSB: sps.log2MaxPOCLSB),
      payload: range.lowerBound + slice.dataOffset..<range.upperBound)
  }

  private func rewriteKeyframe(
    _ bytes: RawSpan, _ range: Range<Int>, _ basePicture: EyeStream.Picture,
    _ dependentPicture: EyeStream.Picture
  ) throws(WeaveError) -> RewrittenNALUnit {
    let slice = try keyframes.readSlice(bytes.extracting(range))
    guard slice.hasOneReference else { throw .misplacedKeyframe }
    // An IDR picture has no temporal motion vector prediction.
    guard !slice.temporalMVP else {
      throw .differentKeyframeCoding(field: "slice_temporal_mvp_enabled_flag")
    }
    guard let number = keyframeNumbers[slice.pictureParameterSetID] else {
      throw .missingParameterSet(baseEye.other, "PPS \(slice.pictureParameterSetID)")
    }
    var header = basePicture.firstSlice.header
    header.layerID = 1
    return RewrittenNALUnit(
      header: header,
      beginning: slice.predictedKeyframeBeginning(
        base: basePicture.firstSlice, pictureParameterSetID: number,
        log2MaxPOCLSB: dependentPicture.sps.log2MaxPOCLSB),
      payload: range.lowerBound + slice.dataOffset..<range.upperBound)
  }

  /// Rebuilds the layered stream's parameter sets if those of an eye have changed or different ones
  /// are active.
  private mutating func updateParameterSets(
    _ basePicture: EyeStream.Picture, _ dependentPicture: EyeStream.Picture
  ) throws(WeaveError) -> (LayeredParameterSets, changed: Bool) {
    let sources = [
      base.sets.generation, dependent.sets.generation, keyframes.sets.generation,
      basePicture.sps.id, dependentPicture.sps.id,
    ]
    if let sets = parameterSets.current(from: sources) { return (sets, false) }
    try assignNumbers()
    let sets = try layeredParameterSets(basePicture, dependentPicture)
    return (sets, parameterSets.update(sets, from: sources))
  }

  private func layeredParameterSets(
    _ basePicture: EyeStream.Picture, _ dependentPicture: EyeStream.Picture
  ) throws(WeaveError) -> LayeredParameterSets {
    let id = basePicture.sps.videoParameterSetID
    guard let vps = base.sets.videoParameterSet(id) else {
      throw .missingParameterSet(baseEye, "VPS \(id)")
    }
    var sets = LayeredParameterSets()
    sets.videoParameterSet = try vps.stereo(base: basePicture.sps, dependent: dependentPicture.sps)
      .nalUnit()
    sets.baseSequenceParameterSets = base.sets.sps[0].compactMap { $0?.nalUnit }
    sets.basePictureParameterSets = base.sets.pps[0].compactMap { $0?.nalUnit }
    for case let stored? in dependent.sets.sps[0] {
      guard let number = dependentSPSIDs[stored.set.id] else { continue }
      sets.dependentSequenceParameterSets.append(
        stored.set.dependentLayerNALUnit(id: number, videoParameterSetID: id))
    }
    for case let stored? in dependent.sets.pps[0] {
      guard let number = dependentPPSIDs[stored.set.id],
        let sps = dependentSPSIDs[stored.set.sequenceParameterSetID]
      else { continue }
      sets.dependentPictureParameterSets.append(
        stored.set.dependentLayerNALUnit(id: number, sequenceParameterSetID: sps))
    }
    for case let stored? in keyframes.sets.sps[0] {
      if let field = stored.set.differingField(from: dependentPicture.sps) {
        throw .differentKeyframeCoding(field: field)
      }
    }
    for case let stored? in keyframes.sets.pps[0] {
      guard let number = keyframeNumbers[stored.set.id],
        let sps = dependentSPSIDs[dependentPicture.sps.id]
      else { continue }
      sets.dependentPictureParameterSets.append(
        stored.set.dependentLayerNALUnit(id: number, sequenceParameterSetID: sps))
    }
    sets.threeDReferenceDisplays =
      ThreeDReferenceDisplaysInformation(
        leftViewID: baseEye == .left ? 0 : 1, rightViewID: baseEye == .left ? 1 : 0
      ).nalUnit
    return sets
  }

  private mutating func assignNumbers() throws(WeaveError) {
    do throws(DependentParameterSetIDs.Exhausted) {
      try dependentSPSIDs.update(
        base: base.sets.sps[0].map { $0 != nil }, dependent: dependent.sets.sps[0].map { $0 != nil }
      )
      try dependentPPSIDs.update(
        base: base.sets.pps[0].map { $0 != nil }, dependent: dependent.sets.pps[0].map { $0 != nil }
      )
      var taken = base.sets.pps[0].map { $0 != nil }
      for id in taken.indices { if let number = dependentPPSIDs[id] { taken[number] = true } }
      try keyframeNumbers.update(
        base: taken, dependent: keyframes.sets.pps[0].map { $0 != nil })
    } catch {
      throw .tooManyParameterSets
    }
  }
}

extension Weaver {
  /// Checks that two pictures can share an access unit.
  func check(left: EyeStream.Picture, right: EyeStream.Picture) throws(WeaveError) {
    let (leftFormat, rightFormat) = (left.sps.format, right.sps.format)
    let (leftSample, rightSample) = (leftFormat.sampleFormat, rightFormat.sampleFormat)
    if let leftSample, let rightSample, leftSample != rightSample {
      guard leftSample.chromaFormatIDC == rightSample.chromaFormatIDC else {
        throw .differentChromaFormats(
          left: leftSample.chromaFormatIDC, right: rightSample.chromaFormatIDC)
      }
      throw .differentBitDepths(left: leftSample.bitDepthLuma, right: rightSample.bitDepthLuma)
    }
    guard leftFormat == rightFormat else {
      throw .differentSizes(left: leftFormat, right: rightFormat)
    }
    guard left.sps.log2MaxPOCLSB == right.sps.log2MaxPOCLSB else {
      throw .differentPictureOrderCountSizes(
        left: left.sps.log2MaxPOCLSB, right: right.sps.log2MaxPOCLSB)
    }
    guard left.sps.maxSubLayersMinus1 == right.sps.maxSubLayersMinus1 else {
      throw .differentTemporalSubLayers(
        left: left.sps.maxSubLayersMinus1 + 1, right: right.sps.maxSubLayersMinus1 + 1)
    }
    try checkPictures(left, right)
  }

  private func checkPictures(
    _ left: EyeStream.Picture, _ right: EyeStream.Picture
  ) throws(WeaveError) {
    let (leftSlice, rightSlice) = (left.firstSlice, right.firstSlice)
    let (leftType, rightType) = (leftSlice.header.type, rightSlice.header.type)
    guard leftType.isIRAP == rightType.isIRAP else {
      throw .unpairedRandomAccess(left: leftType, right: rightType)
    }
    guard left.pictureOrderCount == right.pictureOrderCount else {
      throw .differentPictureOrderCounts(
        left: left.pictureOrderCount, right: right.pictureOrderCount)
    }
    // A coded video sequence begins in both layers or in neither, and pictures skipped after random
    // access are skipped in both (F.7.4.2.2). Otherwise the types may differ.
    guard leftType.refersToNothingEarlier == rightType.refersToNothingEarlier,
      leftType.isRASL == rightType.isRASL, leftType.isRADL == rightType.isRADL
    else { throw .differentFrameTypes(left: leftType, right: rightType) }
    guard leftSlice.header.temporalID == rightSlice.header.temporalID else {
      throw .differentTemporalSubLayers(
        left: Int(leftSlice.header.temporalID), right: Int(rightSlice.header.temporalID))
    }
  }
}

extension NALUnitType {
  /// Whether this is an IDR or BLA picture, which refers to no earlier picture.
  fileprivate var refersToNothingEarlier: Bool { isIDR || isBLA }
}
