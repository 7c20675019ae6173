// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// The parameter sets of a single-layer stream, as NAL units.
public struct SingleLayerParameterSets: Hashable, Sendable {
  /// The VPS, without extension.
  public var videoParameterSet: [UInt8] = []
  /// The SPSs.
  public var sequenceParameterSets: [[UInt8]] = []
  /// The PPSs.
  public var pictureParameterSets: [[UInt8]] = []

  /// Sets to be filled in.
  public init() {}

  /// All in the order in which they stand in a byte stream.
  public var nalUnits: [[UInt8]] {
    [videoParameterSet] + sequenceParameterSets + pictureParameterSets
  }
}

extension HEVCDecoderConfigurationRecord {
  /// The record of a single-layer stream with the parameter sets `sets`, all complete.
  public init(_ sets: SingleLayerParameterSets) throws(SyntaxError) {
    guard let first = sets.sequenceParameterSets.first else {
      throw SyntaxError(
        structure: "HEVCDecoderConfigurationRecord", element: "general_profile_idc", bitOffset: 0,
        reason: .missing("an SPS"))
    }
    self.init(try SequenceParameterSet(nalUnit: first))
    arrays = ParameterSetArray.complete([
      (.videoParameterSet, [sets.videoParameterSet]),
      (.sequenceParameterSet, sets.sequenceParameterSets),
      (.pictureParameterSet, sets.pictureParameterSets),
    ])
  }
}

extension VideoParameterSet {
  /// This VPS for its base layer alone.
  func baseLayerOnly() -> VideoParameterSet {
    var vps = self
    vps.maxLayersMinus1 = 0
    vps.maxLayerID = 0
    vps.layerSets = []
    vps.multilayer = nil
    vps.timing?.hrd.removeAll { $0.layerSetIndex > 0 }
    return vps
  }
}
