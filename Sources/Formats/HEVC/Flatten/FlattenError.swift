// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Why a layered access unit cannot be converted to single-layer ones.
@nonexhaustive
public enum FlattenError: Error, Hashable, Sendable {
  /// The VPS has no extension for two layers, or an unsupported one.
  case notLayered
  /// The access unit has no picture of the base layer.
  case missingBasePicture
  /// The access unit has more or fewer than one picture of a layer.
  case severalPictures(layerID: Int, count: Int)
  /// The layers differ in size, chroma format or bit depth.
  case differentFormats(base: RepresentationFormat, dependent: RepresentationFormat)
  /// The layers use different coding tools, so no single SPS fits both.
  case differentCodingTools(base: CodingTools, dependent: CodingTools)
  /// The pictures of the layers have different picture order counts.
  case differentPictureOrderCounts(base: Int, dependent: Int)
  /// The base layer begins a coded video sequence but the dependent layer does not.
  case unalignedRandomAccess(base: NALUnitType, dependent: NALUnitType)
  /// The layer uses POC resetting (`poc_reset_info_present_flag`).
  case pictureOrderCountReset
  /// The layer takes scaling lists from another layer (`pps_infer_scaling_list_flag` or
  /// `sps_infer_scaling_list_flag`).
  case inferredScalingList
  /// The layer refers to a region or to resampled samples of the base layer's pictures.
  case resampledReferenceLayer
  /// Slices of one picture differ in `inter_layer_pred_enabled_flag`.
  case mixedInterLayerPrediction
  /// The dependent layer refers to the base layer and so cannot be extracted alone.
  case interLayerPrediction
  /// Both layers together need more reference pictures than the decoded picture buffer holds.
  case tooManyReferencePictures(count: Int)
  /// Both layers together have more parameter sets than there are ids.
  case tooManyParameterSets
  /// A parameter set that slices refer to has not been received.
  case missingParameterSet(String)
  /// A NAL unit range lies outside the data.
  case rangeOutsideData
  /// A parameter set or slice header is invalid.
  case syntax(SyntaxError)
}

/// A property of a flattened stream that some decoders do not support.
@nonexhaustive
public enum FlattenWarning: Hashable, Sendable {
  /// From here on the stream uses long-term reference pictures as short-term ones, which H.265
  /// 8.3.2 does not allow: references live longer than 16 picture buffers permit. FFmpeg and
  /// libde265 decode such a stream; stateless decoders and the reference decoder do not.
  case remarkedReferences
}

extension FlattenWarning: CustomStringConvertible {
  /// Message for the user.
  public var description: String {
    switch self {
    case .remarkedReferences:
      return
        "the reference pictures of both layers need more than 16 picture buffers, "
        + "so the dependent eye needs a decoder that accepts long-term pictures as short-term "
        + "ones, as FFmpeg does"
    }
  }
}

extension FlattenError: CustomStringConvertible {
  /// Message for the user.
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
      return "the layers use different coding tools (block sizes, SAO, PCM, scaling lists or "
        + "the like), so the dependent eye cannot be decoded as a single layer"
    case .differentPictureOrderCounts(let base, let dependent):
      return "the pictures of an access unit differ in picture order count: base \(base), "
        + "dependent \(dependent)"
    case .unalignedRandomAccess(let base, let dependent):
      return "the base layer begins a sequence with \(base), but the dependent layer continues "
        + "with \(dependent)"
    case .pictureOrderCountReset: return "the stream resets picture order counts within a sequence"
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
      return "both layers together keep at least \(count) reference pictures, more than a "
        + "single-layer decoder can hold"
    case .tooManyParameterSets:
      return "both layers together have more parameter sets than H.265 has ids for"
    case .missingParameterSet(let what):
      return "slices refer to \(what), which has not been received"
    case .rangeOutsideData: return "a NAL unit range lies outside the data"
    case .syntax(let error): return error.description
    }
  }
}
