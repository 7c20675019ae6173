// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// The parameter sets of a layered stream, as NAL units with emulation prevention and without start
/// codes.
public struct LayeredParameterSets: Hashable, Sendable {
  /// The VPS, with its extension.
  public var videoParameterSet: [UInt8] = []
  /// The SPSs of the base layer.
  public var baseSequenceParameterSets: [[UInt8]] = []
  /// The PPSs of the base layer.
  public var basePictureParameterSets: [[UInt8]] = []
  /// The SPSs of the dependent layer.
  public var dependentSequenceParameterSets: [[UInt8]] = []
  /// The PPSs of the dependent layer.
  public var dependentPictureParameterSets: [[UInt8]] = []
  /// The 3D reference displays information SEI, which maps views to eyes.
  public var threeDReferenceDisplays: [UInt8] = []

  /// Creates empty sets, to be filled in.
  public init() {}

  /// Takes the sets from `nalUnits`, such as those of `hvcC` and `lhvC` or of an access unit. The
  /// sets of a layer keep their order, without repetitions. Layers above 1 are ignored.
  public init(nalUnits: [[UInt8]]) {
    for unit in nalUnits {
      guard let header = NALUnitHeader(unit.span.bytes) else { continue }
      switch (header.type, header.layerID) {
      case (.videoParameterSet, 0): videoParameterSet = unit
      case (.sequenceParameterSet, 0): baseSequenceParameterSets.appendOnce(unit)
      case (.pictureParameterSet, 0): basePictureParameterSets.appendOnce(unit)
      case (.sequenceParameterSet, 1): dependentSequenceParameterSets.appendOnce(unit)
      case (.pictureParameterSet, 1): dependentPictureParameterSets.appendOnce(unit)
      case (.prefixSEI, 0):
        if ThreeDReferenceDisplaysInformation(nalUnits: [unit]) != nil {
          threeDReferenceDisplays = unit
        }
      default: break
      }
    }
  }

  /// All sets, in byte stream order.
  public var nalUnits: [[UInt8]] {
    [videoParameterSet] + baseSequenceParameterSets + basePictureParameterSets
      + dependentSequenceParameterSets + dependentPictureParameterSets + [threeDReferenceDisplays]
  }
}

extension [[UInt8]] {
  fileprivate mutating func appendOnce(_ unit: [UInt8]) {
    if !contains(unit) { append(unit) }
  }
}

extension VideoParameterSet {
  /// Returns this VPS with an extension for two views (H.265 F.7.3.2.1.1, G.11.1): the base layer,
  /// and a dependent layer that declares it as a reference but activates it per picture.
  ///
  /// The dependency is declared because FFmpeg 7 and 8 refuse an independent second layer.
  ///
  /// - Parameters:
  ///   - base: the SPS of the base layer.
  ///   - dependent: the SPS of the other eye's stream.
  func stereo(
    base: SequenceParameterSet, dependent: SequenceParameterSet
  ) throws(WeaveError) -> VideoParameterSet {
    var vps = self
    vps.baseLayerInternal = true
    vps.baseLayerAvailable = true
    vps.maxLayersMinus1 = 1
    vps.maxLayerID = 1
    vps.layerSets = [0b11]
    vps.temporalIDNesting = temporalIDNesting && dependent.temporalIDNesting
    vps.timing?.hrd.removeAll { $0.layerSetIndex > 0 }
    var levels = profileTierLevel
    levels.profile = nil
    for index in levels.subLayers.indices { levels.subLayers[index].profile = nil }
    var multiview = levels
    multiview.profile = try profileTierLevel.profile?.multiview(base.format)
    // The dependent layer gets the higher level of the two streams.
    for case let eye? in [base.profileTierLevel, dependent.profileTierLevel] {
      multiview.levelIDC = max(multiview.levelIDC, eye.levelIDC)
      if eye.profile?.tierFlag == true { multiview.profile?.tierFlag = true }
      for (index, level) in eye.subLayers.enumerated() where index < multiview.subLayers.count {
        multiview.subLayers[index].levelIDC = Self.higher(
          multiview.subLayers[index].levelIDC, level.levelIDC)
      }
    }
    var pair = LayerPairParameters()
    pair.profileTierLevels = [multiview]
    pair.profileTierLevelIndexes = [1, 2]
    pair.representationFormats = [base.format]
    pair.dpbSize = [LayerPairParameters.SubLayerDPBSize(base: base, dependent: dependent)]
    vps.multilayer = VideoParameterSetExtension(
      baseProfileTierLevel: levels,
      scalabilityMask: 1 << 1,
      layers: [
        .init(nuhLayerID: 0, viewOrderIndex: 0, viewID: 0, directReferenceLayers: 0),
        .init(nuhLayerID: 1, viewOrderIndex: 1, viewID: 1, directReferenceLayers: 1),
      ],
      pair: pair)
    return vps
  }

  /// Returns the higher of two levels; nil, which stands for the general level, if either is nil.
  private static func higher(_ one: Int?, _ other: Int?) -> Int? {
    guard let one, let other else { return nil }
    return max(one, other)
  }
}

extension ProfileTierLevel.Profile {
  /// Returns Multiview Main for 8-bit formats and Multiview Extended 10 for higher bit depths, with
  /// this profile's tier and source flags.
  func multiview(_ format: RepresentationFormat) throws(WeaveError) -> Self {
    let sample = format.sampleFormat
    let depth = max(sample?.bitDepthLuma ?? 8, sample?.bitDepthChroma ?? 8)
    guard sample?.chromaFormatIDC == 1, depth <= 10 else {
      throw .unsupportedFormat(chromaFormatIDC: sample?.chromaFormatIDC ?? 0, bitDepth: depth)
    }
    let number = depth == 8 ? 6 : 13
    // The progressive, interlaced, non-packed and frame-only flags are copied from the source; then
    // max 12 bits, 10 bits, 8 bits, 4:2:2 and 4:2:0, as AVFoundation sets them.
    let limits: UInt64 = depth == 8 ? 0b11111 : 0b11011
    return Self(
      profileSpace: 0, tierFlag: tierFlag, profileIDC: number,
      compatibilityFlags: 1 << UInt32(31 - number),
      constraintFlags: constraintFlags & 0xF000_0000_0000 | limits << 39)
  }
}

extension LayerPairParameters.SubLayerDPBSize {
  /// Creates the DPB requirements of both streams together.
  init(base: SequenceParameterSet, dependent: SequenceParameterSet) {
    let needs = [base.dpb, dependent.dpb].compactMap { $0 }
    maxDecPicBufferingMinus1 = needs.map(\.maxDecPicBufferingMinus1)
    maxNumReorderPics = needs.map(\.maxNumReorderPics).max() ?? 0
    let latencies = Set(needs.map(\.maxLatencyIncreasePlus1))
    // 0 means no limit.
    maxLatencyIncreasePlus1 = latencies.count == 1 ? latencies.first ?? 0 : 0
  }
}
