// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// The stream on the pad of one eye.
enum EyeStreamCaps {
  case raw(VideoInfo, Caps)
  case coded(CodedVideo)

  /// Coded video of one eye.
  struct CodedVideo {
    let caps: Caps
    let framing: NALUnitFraming
    /// Parameter sets of the decoder configuration record, as NAL units.
    let parameterSets: [[UInt8]]
    let frameRate: Fraction?
    let pixelAspectRatio: Fraction?
  }

  init(_ caps: Caps, _ eye: Eye) throws {
    guard let structure = caps.first else {
      throw ElementError(.format, "The \(eye) eye's caps are empty.")
    }
    if structure.name == "video/x-raw" {
      guard let info = VideoInfo(caps), RawFormat(info) != nil else {
        throw ElementError(
          .format,
          "Raw video of the format \(structure.string("format") ?? "?") cannot be "
            + "encoded; put videoconvert before the \(eye) pad.", debug: "\(caps)")
      }
      self = .raw(info, caps)
      return
    }
    guard structure.int("views") ?? 1 == 1 else {
      throw ElementError(
        .format, "The stream on the \(eye) pad has both eyes; link it to the pad video_0.",
        debug: "\(caps)")
    }
    var configuration = StreamConfiguration.byteStream
    if structure.string("stream-format") != "byte-stream" {
      guard let record = structure.buffer("codec_data") else {
        throw ElementError(
          .format, "The \(eye) eye's H.265 has no codec_data; put h265parse before its pad.",
          debug: "\(caps)")
      }
      do {
        configuration = try StreamConfiguration(hvcC: record.bytes)
      } catch {
        throw ElementError(
          .format, "The \(eye) eye's codec_data is not a decoder configuration record.",
          debug: "\(error)")
      }
    }
    self = .coded(
      CodedVideo(
        caps: caps, framing: configuration.framing, parameterSets: configuration.parameterSets,
        frameRate: structure.fraction("framerate"),
        pixelAspectRatio: structure.fraction("pixel-aspect-ratio")))
  }

  var caps: Caps {
    switch self {
    case .raw(_, let caps): caps
    case .coded(let coded): coded.caps
    }
  }

  var frameRate: Fraction? {
    let rate =
      switch self {
      case .raw(let info, _): info.frameRate
      case .coded(let coded): coded.frameRate ?? Fraction(0, 1)
      }
    return rate.numerator > 0 && rate.denominator > 0 ? rate : nil
  }

  var pixelAspectRatio: Fraction? {
    switch self {
    case .raw(let info, _): info.pixelAspectRatio
    case .coded(let coded): coded.pixelAspectRatio
    }
  }

  /// Nil if the rate is unknown.
  var frameDuration: ClockTime? {
    frameRate.flatMap(\.frameDuration)
  }
}

/// Caps of the pad of one eye.
enum StereoEyeCaps {
  /// Raw video, to be encoded by the element.
  static let raw = Caps(
    "video/x-raw",
    [
      "format": .strings(RawFormat.names), "width": .intRange(1...16384),
      "height": .intRange(1...16384),
    ])

  /// Raw video, or single-layer H.265 to be woven: the template of an eye's pad.
  static let template: Caps = {
    let caps = raw.with()
    caps.append("video/x-h265", coded + [("views", 1)])
    return caps
  }()

  /// The same without the field `views`, which few streams have.
  static let any: Caps = {
    let caps = raw.with()
    caps.append("video/x-h265", coded)
    return caps
  }()

  private static let coded: [(String, Value)] = [
    ("stream-format", .strings(["hvc1", "hev1", "byte-stream"])), ("alignment", "au"),
  ]
}
