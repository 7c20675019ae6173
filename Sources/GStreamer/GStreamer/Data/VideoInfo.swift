// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// The layout of raw video: format, size, frame rate, colorimetry, planes (`GstVideoInfo`).
public struct VideoInfo: @unchecked Sendable {
  package var info: GstVideoInfo

  /// Reads the layout from caps; nil if they are not fixed raw video in system memory.
  public init?(_ caps: Caps) {
    info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.pointer) != 0 else { return nil }
  }

  /// Creates GStreamer's default layout of a format and size; nil if it is too large.
  public init?(_ format: VideoFormat, width: Int, height: Int) {
    info = GstVideoInfo()
    guard format.name != VideoFormat.unknown.name, let width = UInt32(exactly: width),
      let height = UInt32(exactly: height),
      gst_video_info_set_format(&info, format.cValue, width, height) != 0
    else { return nil }
  }

  /// The caps that describe this layout.
  public var caps: Caps {
    var info = info
    return Caps(adopting: gst_video_info_to_caps(&info))
  }

  /// The pixel format.
  public var format: VideoFormat { info.finfo.map { VideoFormat($0.pointee.format) } ?? .unknown }
  /// The name of the pixel format, such as `I420`.
  public var formatName: String { format.name }
  /// Width in pixels.
  public var width: Int { Int(info.width) }
  /// Height in pixels.
  public var height: Int { Int(info.height) }
  /// Size of a frame, in bytes.
  public var size: Int { Int(clamping: info.size) }
  /// Frames per second; 0/1 if variable.
  public var frameRate: Fraction { Fraction(info.fps_n, info.fps_d) }
  /// Width of a pixel divided by its height.
  public var pixelAspectRatio: Fraction { Fraction(info.par_n, info.par_d) }
  /// The meaning of the sample values as colours.
  public var colorimetry: Colorimetry { Colorimetry(info.colorimetry) }
  /// Empty if unknown.
  public var chromaSiting: ChromaSiting { ChromaSiting(rawValue: info.chroma_site.rawValue) }
  /// Whether the video is interlaced.
  public var isInterlaced: Bool { info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE }

  /// The arrangement of views in frames.
  public var multiviewMode: MultiviewMode { MultiviewMode(info.ABI.abi.multiview_mode) }
  /// Further properties of the views.
  public var multiviewFlags: MultiviewFlags {
    MultiviewFlags(rawValue: info.ABI.abi.multiview_flags.rawValue)
  }

  /// The relation of a plane's samples to the pixels of the picture.
  public struct SampleGrid: Sendable {
    /// Width of a sample in pixels, as a power of two.
    public let widthShift: Int
    /// Height of a sample in pixels, as a power of two.
    public let heightShift: Int
    /// Distance between samples of the same component, in bytes.
    public let step: Int
  }

  /// Returns the grid of the first component in a plane.
  public func sampleGrid(_ plane: Int) -> SampleGrid {
    guard let format = formatInfo else { return SampleGrid(widthShift: 0, heightShift: 0, step: 0) }
    let component = withUnsafeBytes(of: format.plane) { planes in
      planes.bindMemory(to: guint.self).prefix(Int(format.n_components)).firstIndex {
        Int($0) == plane
      } ?? 0
    }
    func entry<Tuple, Element>(_ tuple: Tuple, _: Element.Type) -> Element {
      withUnsafeBytes(of: tuple) { $0.bindMemory(to: Element.self)[component] }
    }
    return SampleGrid(
      widthShift: Int(entry(format.w_sub, guint.self)),
      heightShift: Int(entry(format.h_sub, guint.self)),
      step: Int(entry(format.pixel_stride, gint.self)))
  }

  /// Whether a part of a picture can be referred to by address: no tiles, no packed groups of
  /// pixels, no palette.
  public var isAddressable: Bool {
    guard let format = formatInfo else { return false }
    let flags = UInt32(format.flags.rawValue)
    let groups =
      UInt32(GST_VIDEO_FORMAT_FLAG_COMPLEX.rawValue) | UInt32(GST_VIDEO_FORMAT_FLAG_TILED.rawValue)
      | UInt32(GST_VIDEO_FORMAT_FLAG_PALETTE.rawValue)
    return flags & groups == 0 && (0..<planeCount).allSatisfy { sampleGrid($0).step > 0 }
  }

  /// Number of horizontally adjacent pixels that share bytes of a plane, such as 2 in YUY2; 1 if
  /// none do.
  public var pixelGroup: Int {
    guard let format = formatInfo else { return 1 }
    let shifts = withUnsafeBytes(of: format.w_sub) { Array($0.bindMemory(to: guint.self)) }
    let planes = withUnsafeBytes(of: format.plane) { Array($0.bindMemory(to: guint.self)) }
    let components = zip(planes, shifts).prefix(Int(format.n_components))
    let shared = Dictionary(grouping: components, by: \.0).values.map { plane in
      (plane.map(\.1).max() ?? 0) - (plane.map(\.1).min() ?? 0)
    }
    return 1 << Int(shared.max() ?? 0)
  }

  /// Number of planes.
  public var planeCount: Int { Int(info.finfo?.pointee.n_planes ?? 0) }
  /// Offset of each plane, in bytes.
  public var offsets: PlaneValues {
    withUnsafeBytes(of: info.offset) { offsets in
      PlaneValues(count: planeCount) { Int(clamping: offsets.bindMemory(to: gsize.self)[$0]) }
    }
  }
  /// Stride of each plane, in bytes.
  public var strides: PlaneValues {
    withUnsafeBytes(of: info.stride) { strides in
      PlaneValues(count: planeCount) { Int(strides.bindMemory(to: gint.self)[$0]) }
    }
  }
  /// The definition of the format: components, planes, bits, subsampling.
  package var formatInfo: GstVideoFormatInfo? { info.finfo?.pointee }
}

/// A pixel format: `GstVideoFormat`, the caps field `format`.
public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  /// The value of `GstVideoFormat`.
  public let rawValue: UInt32

  /// Creates a format from its value.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// Creates a format from its name, such as `I420`; ``unknown`` if there is none of that name.
  public init(name: String) {
    self.init(cgst_video_format_from_string(name))
  }

  init(_ format: GstVideoFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstVideoFormat { GstVideoFormat(rawValue) }

  /// The value of the caps field; `UNKNOWN` if GStreamer does not have the format.
  public var name: String {
    // GStreamer logs a critical warning for the unknown format.
    guard self != .unknown, let name = gst_video_format_to_string(cValue) else { return "UNKNOWN" }
    return String(cString: name)
  }

  /// Whether pictures have planes; false for encoded video and the unknown format.
  public var hasPlanes: Bool {
    gst_video_format_get_info(cValue).map { $0.pointee.n_planes > 0 } ?? false
  }

  /// `GST_VIDEO_FORMAT_UNKNOWN`
  public static let unknown = VideoFormat(GST_VIDEO_FORMAT_UNKNOWN)
}

/// The meaning of sample values as colours: `GstVideoColorimetry`, with the code points of H.273
/// (ISO/IEC 23091-2), which H.265 and movie files use too.
public struct Colorimetry: Equatable, Sendable {
  /// The values of black and white.
  public enum Range: Sendable {
    case unknown, full, limited
  }

  /// `ColourPrimaries`; 2 if unknown.
  public var primaries: UInt8
  /// `TransferCharacteristics`; 2 if unknown.
  public var transferCharacteristics: UInt8
  /// `MatrixCoefficients`; 0 for RGB, 2 if unknown.
  public var matrixCoefficients: UInt8
  /// The values of black and white.
  public var range: Range

  /// Creates a colorimetry from code points.
  public init(
    primaries: UInt8, transferCharacteristics: UInt8, matrixCoefficients: UInt8, range: Range
  ) {
    self.primaries = primaries
    self.transferCharacteristics = transferCharacteristics
    self.matrixCoefficients = matrixCoefficients
    self.range = range
  }

  /// Parses the caps field `colorimetry`, such as `bt709` or `2:3:5:1`; nil if the text is invalid.
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

  /// The value of the caps field `colorimetry`; nil if nothing is known.
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

/// The position of chroma samples relative to luma samples: `GstVideoChromaSite`.
public struct ChromaSiting: OptionSet, Sendable {
  /// The bits, as in `GstVideoChromaSite`.
  public let rawValue: UInt32

  /// Creates a position from its bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  private init(_ site: GstVideoChromaSite) { rawValue = site.rawValue }

  /// `GST_VIDEO_CHROMA_SITE_NONE`: between the luma samples.
  public static let centred = ChromaSiting(GST_VIDEO_CHROMA_SITE_NONE)
  /// `GST_VIDEO_CHROMA_SITE_H_COSITED`: horizontally aligned with luma samples.
  public static let horizontallyCosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_H_COSITED)
  /// `GST_VIDEO_CHROMA_SITE_V_COSITED`: vertically aligned with luma samples.
  public static let verticallyCosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_V_COSITED)
  /// `GST_VIDEO_CHROMA_SITE_MPEG2`
  public static let mpeg2 = ChromaSiting(GST_VIDEO_CHROMA_SITE_MPEG2)
  /// `GST_VIDEO_CHROMA_SITE_JPEG`
  public static let jpeg = ChromaSiting(GST_VIDEO_CHROMA_SITE_JPEG)
  /// `GST_VIDEO_CHROMA_SITE_COSITED`
  public static let cosited = ChromaSiting(GST_VIDEO_CHROMA_SITE_COSITED)
}

extension VideoInfo {
  /// Returns the sample values of a picture of one colour, converted with the matrix and range of
  /// this layout: for each plane, the components in memory order. Alpha is opaque; padding is 0.
  ///
  /// - Parameter colour: 0xAARRGGBB, as in properties of GStreamer's elements; alpha is ignored.
  public func samples(ofColour colour: UInt32) -> [[UInt16]] {
    guard let format = info.finfo else { return [] }
    let isRGB = hasFlag(GST_VIDEO_FORMAT_FLAG_RGB)
    let (red, green, blue) = (part(colour, 16), part(colour, 8), part(colour, 0))
    var values = [red, green, blue, 1]
    if !isRGB {
      let (redWeight, blueWeight) = lumaWeights
      let luma = redWeight * red + (1 - redWeight - blueWeight) * green + blueWeight * blue
      values[0] = luma
      values[1] = (blue - luma) / (2 * (1 - blueWeight))
      values[2] = (red - luma) / (2 * (1 - redWeight))
    }
    var range = info.colorimetry.range
    if range == GST_VIDEO_COLOR_RANGE_UNKNOWN, !isRGB { range = GST_VIDEO_COLOR_RANGE_16_235 }
    var (offsets, scales) = ([gint](repeating: 0, count: 4), [gint](repeating: 0, count: 4))
    gst_video_color_range_offsets(range, format, &offsets, &scales)
    var samples = [[UInt16]](repeating: [], count: planeCount)
    for component in 0..<min(4, Int(format.pointee.n_components)) {
      let plane = Int(entry(format.pointee.plane, component))
      let bits = entry(format.pointee.depth, component) + entry(format.pointee.shift, component)
      let bytes = bits > 8 ? 2 : 1
      // Rounded up: GStreamer 1.22 gives 1 byte instead of 2 for P010's second chroma component.
      let place = (Int(entry(format.pointee.poffset, component)) + bytes - 1) / bytes
      let count = Int(entry(format.pointee.pixel_stride, component)) / bytes
      guard samples.indices.contains(plane), place < count else { continue }
      samples[plane] += Array(repeating: 0, count: max(0, count - samples[plane].count))
      let value = Double(offsets[component]) + Double(scales[component]) * values[component]
      // The maximum of a full-range chroma component exceeds the range of values by half a step.
      let most = Double(1 << UInt64(entry(format.pointee.depth, component))) - 1
      samples[plane][place] = UInt16(min(max(value.rounded(), 0), min(most, 65535)))
    }
    return samples
  }

  /// The weights of red and blue in luma; if the colorimetry does not give them, GStreamer's
  /// default for the picture size.
  private var lumaWeights: (red: Double, blue: Double) {
    var (red, blue) = (0.0, 0.0)
    if gst_video_color_matrix_get_Kr_Kb(info.colorimetry.matrix, &red, &blue) == 0 {
      let usual = VideoInfo(VideoFormat(name: "I420"), width: width, height: height)
      let matrix = usual?.info.colorimetry.matrix ?? GST_VIDEO_COLOR_MATRIX_BT709
      gst_video_color_matrix_get_Kr_Kb(matrix, &red, &blue)
    }
    return (red, blue)
  }

  private func hasFlag(_ flag: GstVideoFormatFlags) -> Bool {
    (info.finfo?.pointee.flags.rawValue ?? 0) & flag.rawValue != 0
  }
}

/// Returns eight bits of a colour as a value from 0 to 1.
private func part(_ colour: UInt32, _ shift: UInt32) -> Double {
  Double(colour >> shift & 0xFF) / 255
}

/// Returns one of a format's four values per component.
private func entry<Figure>(_ figures: (Figure, Figure, Figure, Figure), _ index: Int) -> Figure {
  [figures.0, figures.1, figures.2, figures.3][index]
}
