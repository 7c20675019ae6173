// SPDX-License-Identifier: MPL-2.0

import GStreamer

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
