// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// The graph that writes a movie.
struct WriterGraph {
  /// As gst-launch writes it. The files' names are to be set on ``sink`` and `sound`.
  let line: String
  /// The names of the sources: that of the left eye and that of the right one, or one for the only
  /// picture.
  let sources: [String]
  /// Properties of the elements, and their values.
  let properties: [(element: String, name: String, value: String)]

  /// The element that writes the file.
  static let sink = "sink"

  /// How long the part is, in nanoseconds, that a crash costs at the most.
  private static let fragmentDuration = 2 * ClockTime.second

  /// Throws where a movie of this name cannot be written.
  ///
  /// - Parameter isMono: a plain movie is written, of one picture for both eyes.
  init(
    _ path: String, _ settings: StereoWriter.Settings, isMono: Bool
  ) throws(StereoMediaError) {
    sources = isMono ? ["only"] : ["left", "right"]
    let sounds = settings.sound?.tracks.count { $0.kind == .sound } ?? 0
    // What the encoder takes passes through videoconvert as it is.
    line =
      (sources.map {
        "appsrc name=\($0) ! videoconvert ! "
          + (isMono ? "x265enc name=encoder ! h265parse ! mux.video_0 " : "mux.\($0) ")
      }
      + (0..<sounds).map { "sounds.audio_\($0) ! queue ! mux.audio_\($0) " }).joined()
      + (sounds > 0 ? "filesrc name=sound ! mvhevcdemux name=sounds " : "")
      + "mvhevcmux name=mux ! filesink name=\(Self.sink)"
    // It plays while it grows and wherever it ends, and becomes an ordinary movie at its end.
    var properties = [
      ("container", try Self.container(path)),
      ("fragment-duration", "\(Self.fragmentDuration)"),
      ("fragment-mode", "first-moov-then-finalise"),
    ].map { ("mux", $0.0, $0.1) }
    let encoder = isMono ? "encoder" : "mux"
    properties += [
      (encoder, "speed-preset", settings.speed.rawValue),
      (encoder, "key-int-max", "\(settings.keyframeDistance)"),
    ]
    switch settings.rate {
    case .quality(let quality):
      properties.append(
        isMono ? (encoder, "option-string", "crf=\(quality)") : (encoder, "quality", "\(quality)"))
    case .bitsPerSecond(let rate):
      properties.append((encoder, "bitrate", "\((rate + 500) / 1000)"))
    }
    let spatial = settings.spatial
    if let eye = spatial.heroEye { properties.append(("mux", "hero-eye", eye.rawValue)) }
    if let view = spatial.horizontalFieldOfView {
      properties.append(("mux", "horizontal-field-of-view", "\(view.degrees)"))
    }
    if let baseline = spatial.baseline {
      properties.append(("mux", "baseline", "\(baseline.millimetres)"))
    }
    if let shift = spatial.disparityAdjustment {
      properties.append(("mux", "disparity-adjustment", "\(shift.pictureWidths)"))
    }
    if let projection = spatial.projection {
      properties.append(("mux", "projection", projection.rawValue))
    }
    self.properties = properties
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
