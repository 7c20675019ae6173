import GStreamer
import StereoVideo

/// Which access unit and eye a coded buffer, and then the decoded picture, belongs to: the custom
/// meta `GstStereoAccessUnitMeta`.
///
/// With both eyes output, pictures leave the decoder in another order than they are shown in, and
/// GstVideoDecoder gives them new timestamps; so the eyes are paired, and timed, by this meta. It
/// has no tags, and so decoders copy it from the coded buffer to the picture.
struct AccessUnitMeta {
  static let meta = CustomMeta("GstStereoAccessUnitMeta")

  /// Counts access units from the start of the stream.
  let number: UInt64
  let eye: Eye
  let pts: ClockTime?
  let duration: ClockTime?
  /// Whether the decoder gets both eyes, so that its pictures have to be paired and put in order.
  let isPaired: Bool

  func set(on buffer: Buffer) {
    Self.meta.set(
      [
        "access-unit": .uint64(number), "eye": .string(eye.rawValue),
        "pts": .uint64(pts ?? .max), "duration": .uint64(duration ?? .max),
        "paired": .bool(isPaired),
      ], on: buffer)
  }

  init(number: UInt64, eye: Eye, pts: ClockTime?, duration: ClockTime?, isPaired: Bool) {
    self.number = number
    self.eye = eye
    self.pts = pts
    self.duration = duration
    self.isPaired = isPaired
  }

  /// The meta of a picture; nil where the decoder has lost it.
  init?(_ buffer: Buffer) {
    guard let fields = Self.meta.fields(of: buffer),
      case .uint64(let number) = fields["access-unit"],
      let eye = fields.string("eye").flatMap(Eye.init(rawValue:)),
      case .uint64(let pts) = fields["pts"], case .uint64(let duration) = fields["duration"],
      let isPaired = fields.bool("paired")
    else { return nil }
    self.init(
      number: number, eye: eye, pts: pts == .max ? nil : pts,
      duration: duration == .max ? nil : duration, isPaired: isPaired)
  }
}
