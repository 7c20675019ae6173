// SPDX-License-Identifier: MPL-2.0

import GStreamer
import StereoVideo

/// Access unit and eye that a coded buffer, and later its decoded frame, belongs to: the custom
/// meta `GstStereoAccessUnitMeta`.
///
/// With both eyes output, frames leave the decoder out of presentation order, and GstVideoDecoder
/// gives them new timestamps. This meta is therefore used to pair them and to restore their
/// timestamps. It has no tags, so decoders copy it from the coded buffer to the frame.
struct AccessUnitMeta {
  static let meta = CustomMeta("GstStereoAccessUnitMeta")

  /// Index of the access unit, counted from the start of the stream.
  let number: UInt64
  let eye: Eye
  let pts: ClockTime?
  let duration: ClockTime?
  /// Position in output order; used only for ``Pairing/pair``.
  let order: UInt64
  /// Number of discontinuities before this picture. Reverse playback delivers runs of pictures in
  /// forward order, each preceded by a discontinuity.
  let discontinuity: UInt64
  let pairing: Pairing
  /// Whether this picture is decoded a second time, only as a reference for later ones.
  let isRepeated: Bool

  /// State of the other eye in the same access unit.
  enum Pairing: String, Sendable {
    /// The other eye has a picture: the decoder gets both eyes, so they have to be paired and
    /// reordered.
    case pair
    /// The other eye has no picture here but may have one later: a gap event takes its place.
    case gap
    /// The other eye is not wanted.
    case none
    /// This eye is not wanted: the picture is only a reference of the other eye's.
    case reference
  }

  func set(on buffer: Buffer) {
    Self.meta.set(
      [
        "access-unit": .uint64(number), "eye": .string(eye.rawValue),
        "pts": .uint64(pts?.nanoseconds ?? .max),
        "duration": .uint64(duration?.nanoseconds ?? .max),
        "order": .uint64(order), "discontinuity": .uint64(discontinuity),
        "pairing": .string(pairing.rawValue), "repeated": .bool(isRepeated),
      ], on: buffer)
  }

  /// Marks a coded buffer as one that has been decoded before.
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

  /// Reads the meta of a decoded frame; nil if the decoder has dropped it.
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
    self.pts = pts == .max ? nil : ClockTime(nanoseconds: pts)
    self.duration = duration == .max ? nil : ClockTime(nanoseconds: duration)
    self.order = order
    self.discontinuity = discontinuity
    self.pairing = pairing
    self.isRepeated = isRepeated
  }
}

/// The playback segment, carried past the decoder in a custom event.
///
/// The decoder itself gets a forward segment without bounds: it sees the generated timestamps of
/// both eyes' pictures (see `AccessUnitMeta`) and would clip the pictures by them. It forwards this
/// event in order with the pictures.
enum PlaybackSegmentEvent {
  private static let name = "GstMVHEVCPlaybackSegment"

  /// Events to send to the decoder in place of a SEGMENT event: an unbounded segment and this
  /// event.
  static func events(for event: Event) -> [Event] {
    guard let segment = event.segment else { return [] }
    // Timestamps have no place in a segment of another format than time: everything is played.
    let playback = segment.isInTime ? segment : Segment()
    return [
      Event.segment(Segment()).following(event),
      Event.carrying(playback, name: name).following(event),
    ]
  }

  /// Returns the segment that the event carries; nil for any other event.
  static func segment(of event: Event) -> Segment? { event.carriedSegment(name: name) }
}
