// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import ISOBMFF
internal import SpatialElements
internal import StereoVideo

/// The pipeline that decodes a movie, as text.
struct DecodeGraph {
  /// The part of each frame to decode.
  enum Content: Equatable {
    /// The first audio track.
    case audio(AudioSampleFormat)
    /// Both eyes, or the single picture of a mono movie.
    case eyes
    /// One eye, decoded with as little work as possible.
    case eye(Eye)
  }

  /// The conversion of the pictures.
  struct Conversion: Equatable {
    /// The pixel format; nil for that of the decoder.
    var format: PixelFormat?
    /// The size; nil for that of the movie.
    var size: PictureSize?
    /// The colour space; nil for that of the movie.
    var colour: ColourInformation?
  }

  /// The timing of the output.
  enum Pace: Equatable {
    /// As fast as the frames are consumed.
    case asTaken
    /// In real time, with the movie's audio or without it.
    case realTime(withAudio: Bool)
  }

  /// The pipeline in gst-launch syntax. The file's path has to be set on the element `source`.
  let line: String
  /// The names of the sinks: those of the left and the right eye, or a single one.
  let sinks: [String]

  /// The name of the audio sink.
  static let audioSink = "sound"

  /// Throws if the movie does not have the content.
  ///
  /// - Parameter packing: the arrangement of the eyes, for a packed movie that does not signal it.
  init(
    _ source: MovieSource, _ content: Content, _ conversion: Conversion,
    packing: PackingLayout? = nil, pace: Pace = .asTaken
  ) throws {
    let tail = try Self.queue(pace) + Self.tail(source.facts, conversion)
    let ends = Ends(left: tail + "left", right: tail + "right", only: tail + "only")
    let pictures = try Self.pictures(of: source, content, packing: packing, to: ends)
    sinks = pictures.hasSuffix("only") ? ["only"] : ["left", "right"]
    line = pictures + (pace == .realTime(withAudio: true) ? Self.audio : "")
  }

  /// The downstream part of the pipeline for each eye, or for a single picture.
  struct Ends {
    let left: String
    let right: String
    let only: String
  }

  /// Returns the part that decodes the pictures, in gst-launch syntax. Other tracks are available
  /// from its element `demux`.
  ///
  /// Throws if the movie does not have the content.
  static func pictures(
    of source: MovieSource, _ content: Content, packing: PackingLayout?, to ends: Ends
  ) throws -> String {
    let facts = source.facts
    let demuxer = "filesrc name=source ! mvhevcdemux name=demux demux."
    if case .audio(let format) = content {
      return demuxer
        + "audio_0 ! queue ! decodebin caps=audio/x-raw ! audioconvert ! audioresample "
        + "! \(format.caps) ! appsink name=only"
    }
    guard facts.video != nil else {
      throw StereoMediaError(.missingVideo, "'\(source.name)' has no video")
    }
    let plain = demuxer + "video_0 ! queue ! decodebin caps=video/x-raw ! "
    let both = "eyes.left ! \(ends.left) eyes.right ! \(ends.right)"
    switch (facts.stereo.assuming(packing), content) {
    case (.layered, .eye(let eye)) where eye == facts.baseEye:
      // The base layer's eye is a stream of its own; the other one needs both layers.
      return demuxer + "\(eye.rawValue) ! queue ! decodebin caps=video/x-raw ! \(ends.only)"
    case (.layered, .eye(let eye)):
      return demuxer + "video_0 ! queue ! mvhevcdec name=eyes eyes.\(eye.rawValue) ! \(ends.only)"
    case (.layered, .eyes):
      return demuxer + "video_0 ! queue ! mvhevcdec name=eyes \(both)"
    case (.twoViews, .eye(let eye)):
      let decoder = "mvcdec name=eyes view=\(eye.rawValue)"
      return demuxer + "video_0 ! queue ! \(decoder) eyes.\(eye.rawValue) ! \(ends.only)"
    case (.twoViews, .eyes):
      return demuxer + "video_0 ! queue ! mvcdec name=eyes \(both)"
    case (.packed(let layout), .eye(let eye)):
      return plain + "\(split(layout, facts)) eyes.\(eye.rawValue) ! \(ends.only)"
    case (.packed(let layout), .eyes):
      return plain + "\(split(layout, facts)) \(both)"
    case (.no, _), (_, .audio):
      return plain + ends.only
    }
  }

  /// Sinks that synchronise to the clock need a thread each.
  private static func queue(_ pace: Pace) -> String {
    pace == .asTaken ? "" : "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! "
  }

  /// The part that plays the first audio track of the element `demux`.
  static let audio = audio(to: "autoaudiosink")

  /// Returns the part that sends the first audio track to a sink.
  static func audio(to sink: String) -> String {
    " demux.audio_0 ! queue ! decodebin caps=audio/x-raw ! audioconvert ! audioresample "
      + "! \(sink) name=\(audioSink)"
  }

  private static func split(_ layout: PackingLayout, _ facts: MovieFacts) -> String {
    let mode =
      switch layout.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      // Only the stream tells which of its frames shows which eye.
      case .frameByFrame: "none"
      }
    // Otherwise the element decides by the shape of the frames.
    let half = facts.recognition == nil ? "auto" : layout.halfAspect ? "yes" : "no"
    // Turned first: the display matrix applies to the whole frame.
    let isUpright = facts.video.map { $0.description.orientation == .upright } ?? true
    return "videoconvert ! \(isUpright ? "" : "videoflip video-direction=auto ! ")"
      + "sbssplit name=eyes input-mode-override=\(mode) half-aspect=\(half) "
      + "input-flags-override=\(layout.rightViewFirst ? "right-view-first" : "none")"
  }

  /// Returns the part after each eye, up to the name of its sink.
  private static func tail(_ facts: MovieFacts, _ conversion: Conversion) throws -> String {
    guard conversion != Conversion() else { return "video/x-raw ! appsink name=" }
    var caps = "video/x-raw"
    if let format = conversion.format {
      try format.check()
      caps += ",format=\(format.rawValue)"
    }
    var converter = "videoconvert ! "
    if let colour = conversion.colour {
      guard let name = Colorimetry(colour, unsaid: .unknown).name, colour.fullRange != nil else {
        throw StereoMediaError(.unsupportedFormat, "pictures cannot be converted to \(colour)")
      }
      // Otherwise videoconvert may choose any format, even RGB.
      guard conversion.format != nil else {
        throw StereoMediaError(
          .unsupportedFormat, "a conversion to a colour space also needs a pixel format")
      }
      caps += ",colorimetry=\(name)"
      converter = "videoconvert primaries-mode=fast ! "
    }
    guard let size = conversion.size else { return converter + "\(caps) ! appsink name=" }
    _ = try size.applied(toWidth: 1, height: 1, shape: 1)
    if size.keepsShape {
      // Within ranges of width and height, the scaler keeps the aspect ratio.
      caps += ",width=\(size.width.map { "[1,\($0)]" } ?? "[1,32767]")"
      caps += ",height=\(size.height.map { "[1,\($0)]" } ?? "[1,32767]")"
    } else {
      caps += ",width=\(size.width ?? 1),height=\(size.height ?? 1)"
    }
    caps += ",pixel-aspect-ratio=1/1"
    return converter + "videoscale add-borders=false ! \(caps) ! appsink name="
  }
}

extension MovieFacts.Stereo {
  /// Returns the layout, or the given packing if the movie does not signal two eyes.
  fileprivate func assuming(_ packing: PackingLayout?) -> MovieFacts.Stereo {
    self == .no ? packing.map { .packed($0) } ?? self : self
  }
}
