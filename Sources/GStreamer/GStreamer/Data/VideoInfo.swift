// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// The layout of raw video: format, size, rate, colorimetry, planes; from caps.
public struct VideoInfo: @unchecked Sendable {
  package var info: GstVideoInfo

  /// nil where the caps are not fixed raw video in system memory.
  public init?(_ caps: Caps) {
    info = GstVideoInfo()
    guard gst_video_info_from_caps(&info, caps.pointer) != 0 else { return nil }
  }

  /// The layout of `format` at a size, tightly packed as GStreamer packs it; nil if too large.
  public init?(_ format: VideoFormat, width: Int, height: Int) {
    info = GstVideoInfo()
    guard format.name != VideoFormat.unknown.name, let width = UInt32(exactly: width),
      let height = UInt32(exactly: height),
      gst_video_info_set_format(&info, format.cValue, width, height) != 0
    else { return nil }
  }

  public var caps: Caps {
    var info = info
    return Caps(adopting: gst_video_info_to_caps(&info))
  }

  public var format: VideoFormat { info.finfo.map { VideoFormat($0.pointee.format) } ?? .unknown }
  public var formatName: String { format.name }
  public var width: Int { Int(info.width) }
  public var height: Int { Int(info.height) }
  /// The bytes of one frame.
  public var size: Int { Int(clamping: info.size) }
  /// Frames a second; 0/1 where it varies.
  public var frameRate: Fraction { Fraction(info.fps_n, info.fps_d) }
  public var pixelAspectRatio: Fraction { Fraction(info.par_n, info.par_d) }
  public var colorimetry: Colorimetry { Colorimetry(info.colorimetry) }
  /// Empty where it is not known.
  public var chromaSiting: ChromaSiting { ChromaSiting(rawValue: info.chroma_site.rawValue) }
  public var isInterlaced: Bool { info.interlace_mode != GST_VIDEO_INTERLACE_MODE_PROGRESSIVE }

  public var multiviewMode: MultiviewMode { MultiviewMode(info.ABI.abi.multiview_mode) }
  public var multiviewFlags: MultiviewFlags {
    MultiviewFlags(rawValue: info.ABI.abi.multiview_flags.rawValue)
  }

  /// How the samples of one plane lie against the pixels of the picture.
  public struct SampleGrid: Sendable {
    /// Pixels a sample covers, as powers of two.
    public let widthShift: Int
    public let heightShift: Int
    /// Bytes from a sample to the next of the same component.
    public let step: Int
  }

  /// The grid of the first component that lies in a plane.
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

  /// Whether a part of a picture can be named by an address: no tiles, no packed groups of pixels,
  /// no palette.
  public var isAddressable: Bool {
    guard let format = formatInfo else { return false }
    let flags = UInt32(format.flags.rawValue)
    let groups =
      UInt32(GST_VIDEO_FORMAT_FLAG_COMPLEX.rawValue) | UInt32(GST_VIDEO_FORMAT_FLAG_TILED.rawValue)
      | UInt32(GST_VIDEO_FORMAT_FLAG_PALETTE.rawValue)
    return flags & groups == 0 && (0..<planeCount).allSatisfy { sampleGrid($0).step > 0 }
  }

  /// How many pixels beside each other share bytes of one plane, as two do in YUY2; 1 where none do.
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

  public var planeCount: Int { Int(info.finfo?.pointee.n_planes ?? 0) }
  /// Where each plane starts.
  public var offsets: PlaneValues {
    withUnsafeBytes(of: info.offset) { offsets in
      PlaneValues(count: planeCount) { Int(clamping: offsets.bindMemory(to: gsize.self)[$0]) }
    }
  }
  /// The bytes from a row to the next, for each plane.
  public var strides: PlaneValues {
    withUnsafeBytes(of: info.stride) { strides in
      PlaneValues(count: planeCount) { Int(strides.bindMemory(to: gint.self)[$0]) }
    }
  }
  /// What the format is made of: components, planes, bits, subsampling.
  package var formatInfo: GstVideoFormatInfo? { info.finfo?.pointee }
}

/// How the samples of raw video are laid out: `GstVideoFormat`, the caps field `format`.
public struct VideoFormat: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// The format of a name such as `I420`; ``unknown`` where there is none of that name.
  public init(name: String) {
    self.init(cgst_video_format_from_string(name))
  }

  init(_ format: GstVideoFormat) {
    rawValue = format.rawValue
  }

  var cValue: GstVideoFormat { GstVideoFormat(rawValue) }

  /// As the caps field says it; `UNKNOWN` where GStreamer has no such format.
  public var name: String {
    // GStreamer has a critical for the format that is unknown.
    guard self != .unknown, let name = gst_video_format_to_string(cValue) else { return "UNKNOWN" }
    return String(cString: name)
  }

  /// Whether its pictures lie in planes: those of coded video and of an unknown format do not.
  public var hasPlanes: Bool {
    gst_video_format_get_info(cValue).map { $0.pointee.n_planes > 0 } ?? false
  }

  /// `GST_VIDEO_FORMAT_UNKNOWN`
  public static let unknown = VideoFormat(GST_VIDEO_FORMAT_UNKNOWN)
}

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

extension VideoInfo {
  /// The samples of a picture of one colour, by the matrix and the range of these frames: of each plane, in
  /// the order in which they lie there. Alpha is opaque, and what has no meaning 0.
  ///
  /// - Parameter colour: 0xAARRGGBB, as the properties of GStreamer's elements write it; its alpha is
  ///   ignored.
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
      // Rounded up: of P010's second component of chroma, GStreamer 1.22 says 1 byte instead of 2.
      let place = (Int(entry(format.pointee.poffset, component)) + bytes - 1) / bytes
      let count = Int(entry(format.pointee.pixel_stride, component)) / bytes
      guard samples.indices.contains(plane), place < count else { continue }
      samples[plane] += Array(repeating: 0, count: max(0, count - samples[plane].count))
      let value = Double(offsets[component]) + Double(scales[component]) * values[component]
      // All of a chroma component of the full range is half a step more than there is.
      let most = Double(1 << UInt64(entry(format.pointee.depth, component))) - 1
      samples[plane][place] = UInt16(min(max(value.rounded(), 0), min(most, 65535)))
    }
    return samples
  }

  /// How much of red and of blue there is in luma; where the colorimetry does not say it, what GStreamer
  /// supposes for the size.
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

/// Eight bits of a colour, from 0 to 1.
private func part(_ colour: UInt32, _ shift: UInt32) -> Double {
  Double(colour >> shift & 0xFF) / 255
}

/// One of a format's four figures of its components.
private func entry<Figure>(_ figures: (Figure, Figure, Figure, Figure), _ index: Int) -> Figure {
  [figures.0, figures.1, figures.2, figures.3][index]
}
