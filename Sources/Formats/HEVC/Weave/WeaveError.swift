// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Why two access units cannot be woven.
@nonexhaustive
public enum WeaveError: Error, Hashable, Sendable {
  /// One eye has a picture, the other has none.
  case missingPartner(Eye)
  /// An access unit has more than one picture.
  case severalPictures(Eye, count: Int)
  /// A stream to be woven already has NAL units of a layer above the base.
  case alreadyLayered(Eye, layerID: Int)
  /// The coded sizes or the conformance windows differ.
  case differentSizes(left: RepresentationFormat, right: RepresentationFormat)
  /// The chroma formats (`chroma_format_idc`) differ.
  case differentChromaFormats(left: Int, right: Int)
  /// The luma or chroma bit depths differ.
  case differentBitDepths(left: Int, right: Int)
  /// Only one of the pictures is an IRAP picture.
  case unpairedRandomAccess(left: NALUnitType, right: NALUnitType)
  /// Only one of the pictures is IDR or BLA, or only one is a RASL or RADL picture.
  case differentFrameTypes(left: NALUnitType, right: NALUnitType)
  /// The picture order counts differ.
  case differentPictureOrderCounts(left: Int, right: Int)
  /// The pictures are in different temporal sub-layers.
  case differentTemporalSubLayers(left: Int, right: Int)
  /// The streams have different values of `log2_max_pic_order_cnt_lsb`.
  case differentPictureOrderCountSizes(left: Int, right: Int)
  /// No multiview profile covers the sample format.
  case unsupportedFormat(chromaFormatIDC: Int, bitDepth: Int)
  /// A parameter set that a slice refers to has not been received.
  case missingParameterSet(Eye, String)
  /// Both streams together have more parameter sets than there are ids.
  case tooManyParameterSets
  /// The picture given as predicted keyframe is not a P picture with a single reference, or the
  /// base picture is not an IDR picture.
  case misplacedKeyframe
  /// A field that slice data depends on differs between the stream of predicted keyframes and the
  /// dependent eye's stream.
  case differentKeyframeCoding(field: String)
  /// A NAL unit range lies outside the data.
  case rangeOutsideData(Eye)
  /// A parameter set or slice header is invalid.
  case syntax(Eye, SyntaxError)
}

extension WeaveError: CustomStringConvertible {
  /// Message for the user, with the affected eye and, if known, what to do.
  public var description: String {
    switch self {
    case .missingPartner(let eye):
      return "the \(eye) eye has no picture in this access unit, the \(eye.other) eye has one; "
        + "feed frame-aligned streams of equal length"
    case .severalPictures(let eye, let count):
      return "the \(eye) eye's access unit has \(count) pictures instead of one; "
        + "split the stream into access units (h265parse alignment=au)"
    case .alreadyLayered(let eye, let layer):
      return "the \(eye) eye's stream is already layered (NAL unit of nuh_layer_id \(layer)); "
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
      return "both eyes together have more parameter sets than H.265 has ids for"
    case .misplacedKeyframe:
      return "a predicted keyframe must be a P picture with one reference, in an access unit of an "
        + "IDR picture"
    case .differentKeyframeCoding(let field):
      return "predicted keyframes differ from the pictures that follow them in \(field)"
    case .rangeOutsideData(let eye):
      return "a NAL unit range of the \(eye) eye lies outside its data"
    case .syntax(let eye, let error):
      return "\(eye) eye: \(error)"
    }
  }
}
