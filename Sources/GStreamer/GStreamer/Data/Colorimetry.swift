// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What the numbers of a picture mean as colours: `GstVideoColorimetry`, in the code points of H.273
/// (ISO/IEC 23091-2), which H.265 and movie files use too.
public struct Colorimetry: Equatable, Sendable {
  /// Which numbers stand for black and white.
  public enum Range: Sendable {
    case unknown, full, limited
  }

  /// `ColourPrimaries`; 2 where it is not known.
  public var primaries: UInt8
  /// `TransferCharacteristics`; 2 where it is not known.
  public var transferCharacteristics: UInt8
  /// `MatrixCoefficients`; 0 for RGB, 2 where it is not known.
  public var matrixCoefficients: UInt8
  public var range: Range

  public init(
    primaries: UInt8, transferCharacteristics: UInt8, matrixCoefficients: UInt8, range: Range
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.range = range
  }

  /// From the text of the caps field `colorimetry`, such as `bt709` or `2:3:5:1`; nil for one that is
  /// none.
  public init?(_ text: String) {
    var colorimetry = GstVideoColorimetry()
    guard gst_video_colorimetry_from_string(&colorimetry, text) != 0 else { return nil }
    self.init(colorimetry)
  }

  init(_ colorimetry: GstVideoColorimetry) {
    self.init(
      primaries: UInt8(clamping: gst_video_color_primaries_to_iso(colorimetry.primaries)),
      transferCharacteristics: UInt8(
        clamping: gst_video_transfer_function_to_iso(colorimetry.transfer)),
      matrixCoefficients: UInt8(clamping: gst_video_color_matrix_to_iso(colorimetry.matrix)),
      range: colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255
        ? .full : colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235 ? .limited : .unknown)
  }

  /// The text for the caps field `colorimetry`; nil where nothing of it is known.
  public var name: String? {
    var colorimetry = GstVideoColorimetry()
    colorimetry.primaries = gst_video_color_primaries_from_iso(guint(primaries))
    colorimetry.transfer = gst_video_transfer_function_from_iso(guint(transferCharacteristics))
    colorimetry.matrix = gst_video_color_matrix_from_iso(guint(matrixCoefficients))
    colorimetry.range =
      switch range {
      case .unknown: GST_VIDEO_COLOR_RANGE_UNKNOWN
      case .full: GST_VIDEO_COLOR_RANGE_0_255
      case .limited: GST_VIDEO_COLOR_RANGE_16_235
      }
    return adopt(gst_video_colorimetry_to_string(&colorimetry))
  }
}

/// Where the chroma samples stand among the luma samples: `GstVideoChromaSite`.
public struct ChromaSiting: OptionSet, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ site: GstVideoChromaSite) { rawValue = site.rawValue }

  /// `GST_VIDEO_CHROMA_SITE_NONE`: between the luma samples.
  public static let centred = ChromaSiting(GST_VIDEO_CHROMA_SITE_NONE)
  /// `GST_VIDEO_CHROMA_SITE_H_COSITED`: in the columns of luma samples.
  public static let horizontallyCosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_H_COSITED)
  /// `GST_VIDEO_CHROMA_SITE_V_COSITED`: in the rows of luma samples.
  public static let verticallyCosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_V_COSITED)
  /// `GST_VIDEO_CHROMA_SITE_MPEG2`
  public static let mpeg2 = ChromaSiting(GST_VIDEO_CHROMA_SITE_MPEG2)
  /// `GST_VIDEO_CHROMA_SITE_JPEG`
  public static let jpeg = ChromaSiting(GST_VIDEO_CHROMA_SITE_JPEG)
  /// `GST_VIDEO_CHROMA_SITE_COSITED`
  public static let cosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_COSITED)
}
