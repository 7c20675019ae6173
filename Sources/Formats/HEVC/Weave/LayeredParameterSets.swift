// SPDX-License-Identifier: MPL-2.0

/// The parameter sets of a layered stream, as NAL units.
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
  /// The 3D reference displays information SEI: which view is for which eye.
  public var threeDReferenceDisplays: [UInt8] = []

  /// Sets to be filled in.
  public init() {}

  /// The sets among `nalUnits`, as of `hvcC` and `lhvC` or of an access unit: each layer's in the
  /// order in which they come, repetitions once. Layers above 1 are left out.
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

  /// All in the order in which they stand in a byte stream.
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
