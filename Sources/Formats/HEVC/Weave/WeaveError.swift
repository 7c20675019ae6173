// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Why two access units cannot be woven.
public enum WeaveError: Error, Hashable, Sendable {
  /// One eye has no picture where the other has one.
  case missingPartner(Eye)
  /// An access unit has several pictures.
  case severalPictures(Eye, count: Int)
  /// A stream to be woven has NAL units of a layer above the base already.
  case alreadyLayered(Eye, layerID: Int)
  /// The coded or the visible sizes differ, or the conformance windows.
  case differentSizes(left: RepresentationFormat, right: RepresentationFormat)
  /// The chroma formats (`chroma_format_idc`) differ.
  case differentChromaFormats(left: Int, right: Int)
  /// The bit depths (luma) differ, or those of chroma.
  case differentBitDepths(left: Int, right: Int)
  /// Only one of the pictures is a random access point.
  case unpairedRandomAccess(left: NALUnitType, right: NALUnitType)
  /// Only one of the pictures begins a coded video sequence, or is skipped behind a random access.
  case differentFrameTypes(left: NALUnitType, right: NALUnitType)
  /// The picture order counts differ.
  case differentPictureOrderCounts(left: Int, right: Int)
  /// The pictures are of different temporal sub-layers.
  case differentTemporalSubLayers(left: Int, right: Int)
  /// The streams count pictures with fields of different sizes (`log2_max_pic_order_cnt_lsb`).
  case differentPictureOrderCountSizes(left: Int, right: Int)
  /// No multiview profile covers the sample format.
  case unsupportedFormat(chromaFormatIDC: Int, bitDepth: Int)
  /// A parameter set that a slice refers to has not been received.
  case missingParameterSet(Eye, String)
  /// Both streams together have more parameter sets than there are numbers.
  case tooManyParameterSets
  /// What is to be a predicted keyframe is no P picture with one reference, or stands beside a picture
  /// that is no IDR picture.
  case misplacedKeyframe
  /// The stream of predicted keyframes and the dependent eye's have different values of a field that
  /// slice data depends on.
  case differentKeyframeCoding(field: String)
  /// A NAL unit range does not lie inside the data.
  case rangeOutsideData(Eye)
  /// A parameter set or slice header cannot be read.
  case syntax(Eye, SyntaxError)
}

extension WeaveError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missingPartner(let eye):
      return "the \(eye) eye has no picture in this access unit, the \(eye.other) eye has one; "
        + "feed frame-aligned streams of equal length"
    case .severalPictures(let eye, let count):
      return "the \(eye) eye's access unit has \(count) pictures instead of one; "
        + "split the stream into access units (h265parse alignment=au)"
    case .alreadyLayered(let eye, let layer):
      return "the \(eye) eye's stream is layered already (NAL unit of nuh_layer_id \(layer)); "
        + "only single-layer streams can be woven"
    case .differentSizes(let left, let right):
      return "the eyes differ in size: left \(left.width)x\(left.height), "
        + "right \(right.width)x\(right.height) (coded size and conformance window must be equal)"
    case .differentChromaFormats(let left, let right):
      return "the eyes differ in chroma format: left \(left), right \(right) (chroma_format_idc)"
    case .differentBitDepths(let left, let right):
      return "the eyes differ in bit depth: left \(left), right \(right)"
    case .unpairedRandomAccess(let left, let right):
      return "only one eye has a random access picture here: left \(left), right \(right); "
        + "encode both eyes with the same keyframe positions"
    case .differentFrameTypes(let left, let right):
      return "the eyes differ in picture type: left \(left), right \(right); "
        + "encode both eyes with the same GOP structure"
    case .differentPictureOrderCounts(let left, let right):
      return "the eyes differ in picture order count: left \(left), right \(right); "
        + "encode both eyes with the same GOP structure"
    case .differentTemporalSubLayers(let left, let right):
      return "the eyes differ in temporal sub-layers: left \(left), right \(right)"
    case .differentPictureOrderCountSizes(let left, let right):
      return "the eyes differ in log2_max_pic_order_cnt_lsb: left \(left), right \(right); "
        + "encode both eyes with the same settings"
    case .unsupportedFormat(let chroma, let depth):
      return "MV-HEVC has no profile for chroma_format_idc \(chroma) at \(depth) bits; "
        + "use 4:2:0 with 8 or 10 bits"
    case .missingParameterSet(let eye, let what):
      return "the \(eye) eye's slices refer to \(what), which has not been received"
    case .tooManyParameterSets:
      return "both eyes together have more parameter sets than H.265 has numbers for"
    case .misplacedKeyframe:
      return "a predicted keyframe must be a P picture with one reference beside an IDR picture"
    case .differentKeyframeCoding(let field):
      return "predicted keyframes are coded with another \(field) than the pictures behind them"
    case .rangeOutsideData(let eye):
      return "a NAL unit range of the \(eye) eye lies outside its data"
    case .syntax(let eye, let error):
      return "\(eye) eye: \(error)"
    }
  }
}
