// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Why a layered access unit cannot be made into single-layer ones.
public enum FlattenError: Error, Hashable, Sendable {
  /// The VPS has no extension for two layers, or none that this reader understands.
  case notLayered
  /// The access unit has no picture of the base layer.
  case missingBasePicture
  /// The access unit has several pictures of one layer.
  case severalPictures(layerID: Int, count: Int)
  /// The layers differ in size, chroma format or bit depth.
  case differentFormats(base: RepresentationFormat, dependent: RepresentationFormat)
  /// The layers are coded with different tools, so no single SPS holds for both.
  case differentCodingTools(base: CodingTools, dependent: CodingTools)
  /// The pictures of the layers have different picture order counts.
  case differentPictureOrderCounts(base: Int, dependent: Int)
  /// The base layer begins a coded video sequence and the dependent layer does not.
  case unalignedRandomAccess(base: NALUnitType, dependent: NALUnitType)
  /// The layer uses POC resetting (`poc_reset_info_present_flag`).
  case pictureOrderCountReset
  /// The layer takes scaling lists from the base layer's picture parameter set.
  case inferredScalingList
  /// The layer refers to a part of the base layer's pictures, or to one between samples.
  case resampledReferenceLayer
  /// Slices of one picture differ in `inter_layer_pred_enabled_flag`.
  case mixedInterLayerPrediction
  /// The dependent layer refers to the base layer, so that it cannot be taken out alone.
  case interLayerPrediction
  /// The pictures that both layers keep are more than the decoded picture buffer holds.
  case tooManyReferencePictures(count: Int)
  /// Both layers together have more parameter sets than there are numbers.
  case tooManyParameterSets
  /// A parameter set that a slice refers to has not been received.
  case missingParameterSet(String)
  /// A NAL unit range does not lie inside the data.
  case rangeOutsideData
  /// A parameter set or slice header cannot be read.
  case syntax(SyntaxError)
}

/// What decoders may stumble over in a flattened stream.
public enum FlattenWarning: Hashable, Sendable {
  /// From here on the stream uses long-term reference pictures as short-term ones, against H.265
  /// 8.3.2: references live longer than sixteen picture buffers allow. FFmpeg and libde265 decode
  /// that all the same, stateless decoders and the reference decoder do not.
  case remarkedReferences
}

extension FlattenWarning: CustomStringConvertible {
  public var description: String {
    switch self {
    case .remarkedReferences:
      return
        "the reference pictures of both layers live longer than sixteen picture buffers allow, "
        + "so the dependent eye needs a decoder that takes long-term pictures for short-term ones, "
        + "as FFmpeg's does"
    }
  }
}

extension FlattenError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notLayered:
      return "the stream has no VPS extension for two layers; only its base layer can be decoded"
    case .missingBasePicture:
      return "the access unit has no picture of the base layer"
    case .severalPictures(let layer, let count):
      return "the access unit has \(count) pictures of layer \(layer) instead of one"
    case .differentFormats(let base, let dependent):
      return "the layers differ in format: base \(base.width)x\(base.height), dependent "
        + "\(dependent.width)x\(dependent.height) (size, chroma format and bit depth must be equal)"
    case .differentCodingTools:
      return "the layers are coded with different tools (block sizes, SAO, PCM, scaling lists or "
        + "the like): the dependent eye cannot be decoded as a single layer"
    case .differentPictureOrderCounts(let base, let dependent):
      return "the pictures of an access unit differ in picture order count: base \(base), "
        + "dependent \(dependent)"
    case .unalignedRandomAccess(let base, let dependent):
      return "the base layer begins a sequence with \(base), the dependent layer goes on with "
        + "\(dependent)"
    case .pictureOrderCountReset: return "the stream resets picture order counts in mid-sequence"
    case .inferredScalingList:
      return "the dependent layer takes scaling lists from the base layer"
    case .resampledReferenceLayer:
      return
        "the dependent layer refers to a region of the base layer or to resampled pictures of it"
    case .mixedInterLayerPrediction:
      return "slices of one picture differ in inter-layer prediction"
    case .interLayerPrediction:
      return "the dependent layer is predicted from the base layer; it must be flattened"
    case .tooManyReferencePictures(let count):
      return "both layers keep \(count) reference pictures together or more, which a single-layer "
        + "decoder does not hold"
    case .tooManyParameterSets:
      return "both layers together have more parameter sets than H.265 has numbers for"
    case .missingParameterSet(let what):
      return "slices refer to \(what), which has not been received"
    case .rangeOutsideData: return "a NAL unit range lies outside the data"
    case .syntax(let error): return error.description
    }
  }
}
