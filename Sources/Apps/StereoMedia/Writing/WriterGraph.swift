// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The pipeline that writes a movie, as text.
struct WriterGraph {
  /// The pipeline in gst-launch syntax. The file paths have to be set on ``sink`` and the element
  /// `audio`.
  let line: String
  /// The inputs: frames first, then each audio track.
  let inputs: [Input]
  /// Properties of the elements, and their values.
  let properties: [(element: String, name: String, value: String)]

  /// An input: the frames, or an audio track.
  struct Input {
    /// The name in messages.
    let name: String
    /// The names of its sources: those of the left and the right eye, or a single one.
    let sources: [String]
  }

  /// The position of the frames among the inputs.
  static let frames = 0

  /// The name of the element that writes the file.
  static let sink = "sink"
  /// The name of the element that makes the movie of the streams.
  static let muxer = "mux"

  /// Duration of a fragment: the most that a crash can lose.
  private static let fragmentDuration = 2 * ClockTime.second

  /// Size of the queue for encoded audio in bytes, enough for minutes: video encoders have a long
  /// look-ahead.
  private static let encodedAudioQueueSize = 16_000_000

  /// Throws if the file extension is unknown.
  init(
    _ path: String, _ settings: StereoWriter.Settings, audio: [AudioInput]
  ) throws(StereoMediaError) {
    let copied = settings.audio?.tracks.count { $0.kind == .audio } ?? 0
    inputs =
      [Input(name: "the frames", sources: settings.layout == .mono ? ["only"] : ["left", "right"])]
      + audio.indices.map {
        Input(name: "audio track '\(audio[$0].id)'", sources: [Self.source($0)])
      }
    line =
      Self.video(settings.layout)
      + (0..<copied).map { "sounds.audio_\($0) ! queue ! mux.audio_\($0) " }.joined()
      + (copied > 0 ? "filesrc name=sound ! mvhevcdemux name=sounds " : "")
      + audio.enumerated().map { Self.encode($1, Self.source($0), track: copied + $0) }.joined()
      + "mvhevcmux name=\(Self.muxer) ! filesink name=\(Self.sink)"
    // A fragmented movie stays playable if writing is interrupted; it is finalized at the end.
    var properties = [
      ("container", try Self.container(path)),
      ("fragment-duration", "\(Self.fragmentDuration.nanoseconds)"),
      ("fragment-mode", "first-moov-then-finalise"),
    ].map { (Self.muxer, $0.0, $0.1) }
    // For MV-HEVC, the muxer encodes the pictures itself.
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

  /// Returns the name of an audio track's source.
  private static func source(_ position: Int) -> String { "samples\(position)" }

  /// Returns the part from an audio track's source to the muxer. `audiorate` fills gaps with
  /// silence.
  private static func encode(_ input: AudioInput, _ source: String, track: Int) -> String {
    "appsrc name=\(source) caps=\(input.format.caps) ! audioconvert ! audioresample ! audiorate "
      + "! avenc_aac bitrate=\(input.bitsPerSecond) "
      + "! queue max-size-buffers=0 max-size-time=0 max-size-bytes=\(encodedAudioQueueSize) "
      + "! mux.audio_\(track) "
  }

  /// Returns the part from the sources of pictures to the muxer. `videoconvert` passes through the
  /// formats that the encoder accepts.
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

  /// Returns the encoder's properties for constant quality.
  private static func quality(
    _ quality: Double, _ layout: StereoWriter.Settings.Layout
  ) -> [(name: String, value: String)] {
    switch layout {
    case .multiview: [("quality", "\(quality)")]
    case .mono: [("option-string", "crf=\(quality)")]
    case .packed:
      // The property of x264enc is an integer. The bitrate is for other passes, but its default of
      // 2 Mbit/s would limit this one, too, if there were a buffer.
      [
        ("pass", "qual"), ("quantizer", "\(Int(min(quality, 50).rounded()))"),
        ("vbv-buf-capacity", "0"),
      ]
    }
  }

  /// Returns the container for the extension of a path.
  private static func container(_ path: String) throws(StereoMediaError) -> String {
    let name = path.lowercased()
    if name.hasSuffix(".mov") { return "mov" }
    if name.hasSuffix(".mp4") || name.hasSuffix(".m4v") { return "mp4" }
    throw StereoMediaError(
      .unwritable, "'\(path)' has an unknown extension",
      hint: "use .mov, .mp4 or .m4v")
  }
}
