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
