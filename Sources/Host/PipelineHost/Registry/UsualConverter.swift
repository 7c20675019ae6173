// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The element that people put between two others whose caps do not fit.
enum UsualConverter {
  private static let decoded = ["video/x-raw", "audio/x-raw"]

  /// The element's type, or nil where there is no usual one.
  static func name(from source: Caps, to sink: Caps) -> String? {
    guard !source.isAny, !sink.isAny, let given = source.mediaType, let taken = sink.mediaType
    else { return nil }
    if given == taken { return adapter(given, source, sink) }
    if decoded.contains(taken) {
      return decoded.contains(given) || !isMedia(given) ? nil : "decodebin"
    }
    return decoded.contains(given) ? encoder(sink, kind: given.prefix(5)) : nil
  }

  private static func isMedia(_ type: String) -> Bool {
    ["video/", "audio/", "image/", "application/"].contains { type.hasPrefix($0) }
  }

  /// For the same media type: what changes the field that keeps them apart.
  private static func adapter(_ type: String, _ source: Caps, _ sink: Caps) -> String? {
    let adapters: [(fields: [String], element: String)] =
      switch type {
      case "video/x-raw":
        [
          (["format", "colorimetry", "chroma-site"], "videoconvert"),
          (["width", "height", "pixel-aspect-ratio"], "videoscale"), (["framerate"], "videorate"),
          (["interlace-mode"], "deinterlace"),
        ]
      case "audio/x-raw":
        [
          (["format", "channels", "channel-mask", "layout"], "audioconvert"),
          (["rate"], "audioresample"),
        ]
      case "video/x-h264": [(["stream-format", "alignment", "parsed"], "h264parse")]
      case "video/x-h265": [(["stream-format", "alignment", "parsed"], "h265parse")]
      case "audio/mpeg": [(["stream-format", "framed", "parsed"], "aacparse")]
      default: []
      }
    return adapters.first {
      source.with(removing: $0.fields).canIntersect(sink.with(removing: $0.fields))
    }?
    .element
  }

  private static func encoder(_ sink: Caps, kind: Substring) -> String? {
    let encoders: [(output: String, element: String)] =
      kind == "video"
      ? [
        ("video/x-h265", "x265enc"), ("video/x-h264", "x264enc"), ("image/jpeg", "jpegenc"),
        ("image/png", "pngenc"),
      ]
      : [
        ("audio/mpeg, mpegversion=4", "avenc_aac"), ("audio/x-opus", "opusenc"),
        ("audio/x-flac", "flacenc"),
      ]
    return encoders.first { Caps(parsing: $0.output)?.canIntersect(sink) == true }?.element
  }
}
