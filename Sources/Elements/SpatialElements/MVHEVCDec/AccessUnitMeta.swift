// SPDX-License-Identifier: MPL-2.0

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
  /// The picture's place among those that are shown; of pairs only.
  let order: UInt64
  /// Counts the discontinuities in front of it: what is played backwards comes in parts that go
  /// forwards, with a discontinuity in front of each.
  let discontinuity: UInt64
  let pairing: Pairing
  /// Whether the picture has been decoded before, and is again for the sake of those behind it.
  let isRepeated: Bool

  /// What there is of the other eye.
  enum Pairing: String, Sendable {
    /// Its picture: the decoder gets both eyes, so they have to be paired and put in order.
    case pair
    /// No picture, but there may be some again: a gap is in its place.
    case gap
    /// Nothing, since it is not wanted.
    case none
  }

  func set(on buffer: Buffer) {
    Self.meta.set(
      [
        "access-unit": .uint64(number), "eye": .string(eye.rawValue),
        "pts": .uint64(pts ?? .max), "duration": .uint64(duration ?? .max),
        "order": .uint64(order), "discontinuity": .uint64(discontinuity),
        "pairing": .string(pairing.rawValue), "repeated": .bool(isRepeated),
      ], on: buffer)
  }

  /// Says of a coded buffer that it has been decoded before.
  static func markRepeated(_ buffer: Buffer) {
    meta.set(["repeated": .bool(true)], on: buffer)
  }

  init(
    number: UInt64, eye: Eye, of buffer: Buffer, order: UInt64, discontinuity: UInt64,
    pairing: Pairing
  ) {
    self.number = number
    self.eye = eye
    pts = buffer.pts
    duration = buffer.duration
    self.order = order
    self.discontinuity = discontinuity
    self.pairing = pairing
    isRepeated = false
  }

  /// The meta of a picture; nil where the decoder has lost it.
  init?(_ buffer: Buffer) {
    guard let fields = Self.meta.fields(of: buffer),
      case .uint64(let number) = fields["access-unit"],
      let eye = fields.string("eye").flatMap(Eye.init(rawValue:)),
      case .uint64(let pts) = fields["pts"], case .uint64(let duration) = fields["duration"],
      case .uint64(let order) = fields["order"],
      case .uint64(let discontinuity) = fields["discontinuity"],
      let pairing = fields.string("pairing").flatMap(Pairing.init(rawValue:)),
      let isRepeated = fields.bool("repeated")
    else { return nil }
    self.number = number
    self.eye = eye
    self.pts = pts == .max ? nil : pts
    self.duration = duration == .max ? nil : duration
    self.order = order
    self.discontinuity = discontinuity
    self.pairing = pairing
    self.isRepeated = isRepeated
  }
}

/// The playback segment, as it travels past the decoder.
///
/// The decoder itself gets a segment without bounds and forwards: it gives the pictures of both eyes
/// timestamps of its own making (see `AccessUnitMeta`), and would drop by these what lies outside.
/// It passes this event on between the same pictures.
enum PlaybackSegmentEvent {
  private static let name = "GstMVHEVCPlaybackSegment"

  /// What is to be sent to the decoder for a SEGMENT event: a segment, and this event.
  static func events(for event: Event) -> [Event] {
    guard let segment = event.segment else { return [] }
    // In another format than time the timestamps cannot be placed: all is played.
    let playback = segment.isInTime ? segment : Segment()
    return [
      Event.segment(Segment()).following(event),
      Event.carrying(playback, name: name).following(event),
    ]
  }

  /// The segment of such an event; nil for any other.
  static func segment(of event: Event) -> Segment? { event.carriedSegment(name: name) }
}
