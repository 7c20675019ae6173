// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements
internal import StereoVideo

/// The graph that decodes a movie.
struct DecodeGraph {
  /// What is wanted of each frame.
  enum Content: Equatable {
    /// The first track of sound.
    case sound(SoundFormat)
    /// Both eyes; of a movie with one picture for both, that.
    case eyes
    /// One of them, with as little work as that takes.
    case eye(Eye)
  }

  /// What the pictures are to be.
  struct Conversion: Equatable {
    /// Nil: as decoded.
    var format: PixelFormat?
    /// Nil: as stored.
    var size: PictureSize?
    /// Nil: as the movie says.
    var colour: ColourInformation?
  }

  /// When the pictures come.
  enum Pace: Equatable {
    /// As fast as they are taken.
    case asTaken
    /// When they are due, with the movie's sound or without.
    case realTime(withSound: Bool)
  }

  /// As gst-launch writes it. The file's name is to be set on `source`.
  let line: String
  /// The names of the sinks: that of the left eye and that of the right one, or one for the only
  /// picture.
  let sinks: [String]

  /// The element that plays the sound.
  static let soundSink = "sound"

  /// Throws where the movie has no such content.
  ///
  /// - Parameter packing: how the eyes share a frame of a movie that does not say so.
  init(
    _ source: MovieSource, _ content: Content, _ conversion: Conversion,
    packing: PackingLayout? = nil, pace: Pace = .asTaken
  ) throws {
    let tail = try Self.queue(pace) + Self.tail(source.facts, conversion)
    let ends = Ends(left: tail + "left", right: tail + "right", only: tail + "only")
    let pictures = try Self.pictures(of: source, content, packing: packing, to: ends)
    sinks = pictures.hasSuffix("only") ? ["only"] : ["left", "right"]
    line = pictures + (pace == .realTime(withSound: true) ? Self.sound : "")
  }

  /// What is behind the pictures of each eye, or behind the only ones.
  struct Ends {
    let left: String
    let right: String
    let only: String
  }

  /// The decoded pictures of a movie, as gst-launch writes it. The element `demux` has its other tracks.
  ///
  /// Throws where the movie has no such content.
  static func pictures(
    of source: MovieSource, _ content: Content, packing: PackingLayout?, to ends: Ends
  ) throws -> String {
    let facts = source.facts
    let demuxer = "filesrc name=source ! mvhevcdemux name=demux demux."
    if case .sound(let format) = content {
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
    case (.packed(let layout), .eye(let eye)):
      return plain + "\(split(layout)) eyes.\(eye.rawValue) ! \(ends.only)"
    case (.packed(let layout), .eyes):
      return plain + "\(split(layout)) \(both)"
    case (.no, _), (_, .sound):
      return plain + ends.only
    }
  }

  /// Sinks that wait for the time of their pictures need a thread each.
  private static func queue(_ pace: Pace) -> String {
    pace == .asTaken ? "" : "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! "
  }

  /// What plays the first track of sound of the element `demux`.
  static let sound = sound(to: "autoaudiosink")

  /// The same, to any sink.
  static func sound(to sink: String) -> String {
    " demux.audio_0 ! queue ! decodebin caps=audio/x-raw ! audioconvert ! audioresample "
      + "! \(sink) name=\(soundSink)"
  }

  private static func split(_ layout: PackingLayout) -> String {
    let mode =
      switch layout.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "frame-by-frame"
      }
    return "videoconvert ! sbssplit name=eyes input-mode-override=\(mode) "
      + "input-flags-override=\(layout.rightViewFirst ? "right-view-first" : "none")"
  }

  /// What is behind each eye, up to the name of its sink.
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
      // videoconvert would take any format, RGB among them.
      guard conversion.format != nil else {
        throw StereoMediaError(
          .unsupportedFormat, "pictures are converted to colours in a format that is said")
      }
      caps += ",colorimetry=\(name)"
      converter = "videoconvert primaries-mode=fast ! "
    }
    guard let size = conversion.size else { return converter + "\(caps) ! appsink name=" }
    _ = try size.applied(toWidth: 1, height: 1, shape: 1)
    if size.keepsShape {
      // The scaler keeps the shape by itself within what it is allowed.
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
  /// The same, but packed in a way that somebody knows where the movie says of one eye only.
  fileprivate func assuming(_ packing: PackingLayout?) -> MovieFacts.Stereo {
    self == .no ? packing.map { .packed($0) } ?? self : self
  }
}
