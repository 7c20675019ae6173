// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The graph that writes a movie.
struct WriterGraph {
  /// As gst-launch writes it. The files' names are to be set on ``sink`` and `sound`.
  let line: String
  /// What comes from the program: frames first, and then each track of sound.
  let inputs: [Input]
  /// Properties of the elements, and their values.
  let properties: [(element: String, name: String, value: String)]

  /// What comes from the program as one.
  struct Input {
    /// In messages.
    let name: String
    /// The names of its sources: that of the left eye and that of the right one, or the only one.
    let sources: [String]
  }

  /// The position of the frames among the inputs.
  static let frames = 0

  /// The element that writes the file.
  static let sink = "sink"
  private static let muxer = "mux"

  /// How long the part is, in nanoseconds, that a crash costs at the most.
  private static let fragmentDuration = 2 * ClockTime.second

  /// How many bytes of coded sound wait for pictures, whose encoders look far ahead: minutes of it.
  private static let waitingSound = 16_000_000

  /// Throws where a movie of this name cannot be written.
  init(
    _ path: String, _ settings: StereoWriter.Settings, sound: [SoundInput]
  ) throws(StereoMediaError) {
    let copied = settings.sound?.tracks.count { $0.kind == .sound } ?? 0
    inputs =
      [Input(name: "the frames", sources: settings.layout == .mono ? ["only"] : ["left", "right"])]
      + sound.indices.map {
        Input(name: "the sound '\(sound[$0].id)'", sources: [Self.source($0)])
      }
    line =
      Self.video(settings.layout)
      + (0..<copied).map { "sounds.audio_\($0) ! queue ! mux.audio_\($0) " }.joined()
      + (copied > 0 ? "filesrc name=sound ! mvhevcdemux name=sounds " : "")
      + sound.enumerated().map { Self.encode($1, Self.source($0), track: copied + $0) }.joined()
      + "mvhevcmux name=\(Self.muxer) ! filesink name=\(Self.sink)"
    // It plays while it grows and wherever it ends, and becomes an ordinary movie at its end.
    var properties = [
      ("container", try Self.container(path)),
      ("fragment-duration", "\(Self.fragmentDuration)"),
      ("fragment-mode", "first-moov-then-finalise"),
    ].map { (Self.muxer, $0.0, $0.1) }
    // Of two layers, the muxer makes a stream itself.
    let encoder = settings.layout == .multiview ? Self.muxer : "encoder"
    properties += [
      (encoder, "speed-preset", settings.speed.rawValue),
      (encoder, "key-int-max", "\(settings.keyframeDistance)"),
    ]
    switch settings.rate {
    case .quality(let quality):
      properties += Self.quality(quality, settings.layout).map { (encoder, $0.0, $0.1) }
    case .bitsPerSecond(let rate):
      properties.append((encoder, "bitrate", "\((rate + 500) / 1000)"))
    }
    let spatial = settings.spatial
    if let eye = spatial.heroEye { properties.append((Self.muxer, "hero-eye", eye.rawValue)) }
    if let view = spatial.horizontalFieldOfView {
      properties.append((Self.muxer, "horizontal-field-of-view", "\(view.degrees)"))
    }
    if let baseline = spatial.baseline {
      properties.append((Self.muxer, "baseline", "\(baseline.millimetres)"))
    }
    if let shift = spatial.disparityAdjustment {
      properties.append((Self.muxer, "disparity-adjustment", "\(shift.pictureWidths)"))
    }
    if let projection = spatial.projection {
      properties.append((Self.muxer, "projection", projection.rawValue))
    }
    self.properties = properties
  }

  /// The source of a track of sound.
  private static func source(_ position: Int) -> String { "samples\(position)" }

  /// From a source of samples to the muxer. Times that nothing was given for are silent.
  private static func encode(_ input: SoundInput, _ source: String, track: Int) -> String {
    "appsrc name=\(source) caps=\(input.format.caps) ! audioconvert ! audioresample ! audiorate "
      + "! avenc_aac bitrate=\(input.bitsPerSecond) "
      + "! queue max-size-buffers=0 max-size-time=0 max-size-bytes=\(waitingSound) "
      + "! mux.audio_\(track) "
  }

  /// From the sources to the muxer. What an encoder takes passes through videoconvert as it is.
  private static func video(_ layout: StereoWriter.Settings.Layout) -> String {
    func source(_ name: String) -> String { "appsrc name=\(name) ! videoconvert ! " }
    switch layout {
    case .multiview: return source("left") + "mux.left " + source("right") + "mux.right "
    case .mono: return source("only") + "x265enc name=encoder ! h265parse ! mux.video_0 "
    case .packed(let packing):
      let mode = packing.arrangement == .topBottom ? "top-bottom" : "side-by-side"
      return source("left") + "pack.left " + source("right") + "pack.right "
        + "stereopack name=pack mode=\(mode) half=\(packing.halfAspect) "
        + "right-view-first=\(packing.rightViewFirst) ! videoconvert "
        + "! x264enc name=encoder ! h264parse ! mux.video_0 "
    }
  }

  /// What sets the encoder's constant quality.
  private static func quality(
    _ quality: Double, _ layout: StereoWriter.Settings.Layout
  ) -> [(name: String, value: String)] {
    switch layout {
    case .multiview: [("quality", "\(quality)")]
    case .mono: [("option-string", "crf=\(quality)")]
    // x264enc knows whole numbers alone.
    case .packed: [("pass", "qual"), ("quantizer", "\(Int(min(quality, 50).rounded()))")]
    }
  }

  /// By the ending of the file's name.
  private static func container(_ path: String) throws(StereoMediaError) -> String {
    let name = path.lowercased()
    if name.hasSuffix(".mov") { return "mov" }
    if name.hasSuffix(".mp4") || name.hasSuffix(".m4v") { return "mp4" }
    throw StereoMediaError(
      .unwritable, "'\(path)' does not say what kind of movie it is to be",
      hint: "a name that ends in .mov, .mp4 or .m4v does")
  }
}
