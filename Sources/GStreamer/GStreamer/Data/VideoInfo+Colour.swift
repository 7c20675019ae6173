// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

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
