// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Converts pictures between formats and sizes: `GstVideoConverter`. For one thread at a time.
public final class VideoConverter: @unchecked Sendable {
  private let converter: OpaquePointer
  public let output: VideoInfo

  /// - Throws: an ``ElementError`` where there is no such conversion.
  public init(from input: VideoInfo, to output: VideoInfo) throws {
    var (from, to) = (input.info, output.info)
    guard let converter = gst_video_converter_new(&from, &to, nil) else {
      throw ElementError(
        .format, "\(input.formatName) cannot be converted to \(output.formatName).")
    }
    (self.converter, self.output) = (converter, output)
  }

  deinit {
    gst_video_converter_free(converter)
  }

  /// Converts all of a picture.
  public func convert(_ input: borrowing VideoFrame, to output: borrowing VideoFrame) {
    input.withFrame { from in
      output.withFrame { to in gst_video_converter_frame(converter, from, to) }
    }
  }
}

extension VideoInfo {
  /// The layout of the same pictures in another format and size; nil where there is no such size.
  ///
  /// The colours stay those of this one, but for the matrix and the range where only one of the two
  /// formats is RGB.
  public func converted(to format: VideoFormat, width: Int, height: Int) -> VideoInfo? {
    guard var result = VideoInfo(format, width: width, height: height) else { return nil }
    result.info.fps_n = info.fps_n
    result.info.fps_d = info.fps_d
    let isRGB = { (info: GstVideoInfo) in
      (info.finfo?.pointee.flags.rawValue ?? 0) & GST_VIDEO_FORMAT_FLAG_RGB.rawValue != 0
    }
    result.info.colorimetry.primaries = info.colorimetry.primaries
    result.info.colorimetry.transfer = info.colorimetry.transfer
    if isRGB(info) == isRGB(result.info) {
      result.info.colorimetry = info.colorimetry
      result.info.chroma_site = info.chroma_site
    }
    return result
  }

  /// The same pictures as caps that say their colours and shape.
  public func with(_ colorimetry: Colorimetry) -> VideoInfo {
    guard let name = colorimetry.name else { return self }
    var result = self
    gst_video_colorimetry_from_string(&result.info.colorimetry, name)
    return result
  }
}
