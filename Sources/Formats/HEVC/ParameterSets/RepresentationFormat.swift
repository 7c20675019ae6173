// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

/// `rep_format()`, H.265 (F.7.3.2.1.2): size and sample format of the pictures of a layer.
public struct RepresentationFormat: Hashable, Sendable {
  /// Chroma format and bit depths.
  public struct SampleFormat: Hashable, Sendable {
    /// `chroma_format_vps_idc`: 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormatIDC: Int
    /// `separate_colour_plane_vps_flag`
    public var separateColourPlanes: Bool
    /// Bits a luma sample, 8 to 16.
    public var bitDepthLuma: Int
    /// Bits a chroma sample, 8 to 16.
    public var bitDepthChroma: Int

    /// A format of these values.
    public init(
      chromaFormatIDC: Int, separateColourPlanes: Bool, bitDepthLuma: Int, bitDepthChroma: Int
    ) {
      self.chromaFormatIDC = chromaFormatIDC
      self.separateColourPlanes = separateColourPlanes
      self.bitDepthLuma = bitDepthLuma
      self.bitDepthChroma = bitDepthChroma
    }
  }

  /// Coded width in luma samples.
  public var width: Int
  /// Coded height in luma samples.
  public var height: Int
  /// Chroma format and bit depths; nil where taken from the structure before.
  public var sampleFormat: SampleFormat?
  /// `conformance_window_vps`; nil where all of the picture is shown.
  public var conformanceWindow: PictureWindow?

  /// A format of these values.
  public init(
    width: Int, height: Int, sampleFormat: SampleFormat?, conformanceWindow: PictureWindow?
  ) {
    self.width = width
    self.height = height
    self.sampleFormat = sampleFormat
    self.conformanceWindow = conformanceWindow
  }

  init(_ reader: inout BitReader) throws(SyntaxError) {
    width = try reader.u(16, "pic_width_vps_in_luma_samples")
    height = try reader.u(16, "pic_height_vps_in_luma_samples")
    if try reader.flag("chroma_and_bit_depth_vps_present_flag") {
      let chroma = try reader.u(2, "chroma_format_vps_idc")
      let planes = chroma == 3 ? try reader.flag("separate_colour_plane_vps_flag") : false
      sampleFormat = SampleFormat(
        chromaFormatIDC: chroma,
        separateColourPlanes: planes,
        bitDepthLuma: try reader.u(4, "bit_depth_vps_luma_minus8", in: 0...8) + 8,
        bitDepthChroma: try reader.u(4, "bit_depth_vps_chroma_minus8", in: 0...8) + 8)
    }
    if try reader.flag("conformance_window_vps_flag") {
      conformanceWindow = try PictureWindow(&reader)
    }
  }

  func write(to writer: inout BitWriter) {
    writer.u(width, 16)
    writer.u(height, 16)
    writer.flag(sampleFormat != nil)
    if let sampleFormat {
      writer.u(sampleFormat.chromaFormatIDC, 2)
      if sampleFormat.chromaFormatIDC == 3 { writer.flag(sampleFormat.separateColourPlanes) }
      writer.u(sampleFormat.bitDepthLuma - 8, 4)
      writer.u(sampleFormat.bitDepthChroma - 8, 4)
    }
    writer.flag(conformanceWindow != nil)
    conformanceWindow?.write(to: &writer)
  }
}

/// Offsets of a rectangle inside a picture, in chroma sample units (`SubWidthC`, `SubHeightC`).
public struct PictureWindow: Hashable, Sendable {
  /// Distance from the left edge.
  public var left: Int
  /// Distance from the right edge.
  public var right: Int
  /// Distance from the top edge.
  public var top: Int
  /// Distance from the bottom edge.
  public var bottom: Int

  init(_ reader: inout BitReader) throws(SyntaxError) {
    left = try reader.ue("win_left_offset", in: 0...65535)
    right = try reader.ue("win_right_offset", in: 0...65535)
    top = try reader.ue("win_top_offset", in: 0...65535)
    bottom = try reader.ue("win_bottom_offset", in: 0...65535)
  }

  func write(to writer: inout BitWriter) {
    writer.ue(left)
    writer.ue(right)
    writer.ue(top)
    writer.ue(bottom)
  }
}
