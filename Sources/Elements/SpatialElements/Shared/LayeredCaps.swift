// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The caps of layered H.265: both eyes in each buffer.
///
/// `codec_data` is the base layer's record (hvcC), so that an element that knows no layers handles
/// the base eye; the dependent layer's record (lhvC) has a field of its own. The profile says that
/// this is not ordinary H.265, and keeps plain decoders and parsers from taking it by accident.
enum LayeredCaps {
  static let layeredCodecData = "layered_codec_data"
  /// The boxes of a movie's sample entry, one behind the other, but for the records: what it says
  /// of the pair of eyes (vexu, st3d), of shape and colour and whatever else, of which caps and tags
  /// carry what they can. So nothing is lost on the way into another movie.
  static let sampleEntryBoxes = "sample_entry_boxes"
  static let profiles = ["multiview-main", "multiview-extended", "multiview-extended-10"]

  static let template = Caps(
    "video/x-h265",
    [
      "stream-format": .strings(["hvc1", "byte-stream"]), "alignment": "au",
      "profile": .strings(profiles), "views": 2,
    ])

  /// Layered streams as any source gives them: with records or as a byte stream.
  static let decodable: Caps = {
    let caps = Caps(
      "video/x-h265",
      ["stream-format": .strings(["hvc1", "hev1", "byte-stream"]), "alignment": "au"])
    return caps
  }()

  /// The caps of a stream that is coded as `configuration` says.
  ///
  /// - Parameters:
  ///   - raw: the caps of the base eye's pictures, which say colour and shape.
  ///   - isByteStream: the parameter sets are inside, and there are no records.
  static func caps(
    _ configuration: LayeredConfiguration, like raw: Caps?, frameRate: Fraction?,
    isByteStream: Bool = false
  ) -> Caps {
    var fields: [(key: String, value: Value)] = [
      ("stream-format", isByteStream ? "byte-stream" : "hvc1"), ("alignment", "au"),
      ("profile", .string(configuration.bitDepth == 8 ? profiles[0] : profiles[2])),
      ("views", 2), ("parsed", true),
      ("width", .int(Int32(clamping: configuration.width))),
      ("height", .int(Int32(clamping: configuration.height))),
    ]
    if !isByteStream {
      fields.append(("codec_data", .buffer(Buffer(configuration.hvcC))))
      fields.append((layeredCodecData, .buffer(Buffer(configuration.lhvC))))
    }
    if let frameRate { fields.append(("framerate", .fraction(frameRate))) }
    let kept = [
      "pixel-aspect-ratio", "colorimetry", "chroma-site", "mastering-display-info",
      "content-light-level",
    ]
    for field in kept {
      if let value = raw?.first?[field] { fields.append((field, value)) }
    }
    return Caps("video/x-h265", fields)
  }
}
