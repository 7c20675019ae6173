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

  /// All in the order in which they stand in a byte stream.
  public var nalUnits: [[UInt8]] {
    [videoParameterSet] + baseSequenceParameterSets + basePictureParameterSets
      + dependentSequenceParameterSets + dependentPictureParameterSets + [threeDReferenceDisplays]
  }
}
