// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer
import StereoVideo
import TransportStream

/// A source pad of `mvctsdemux`.
struct TransportOutput {
  let pad: Pad
  var stream: ElementaryStream
  /// The stream's own tags.
  let tags: TagList
  /// Whether the segment has been sent.
  private(set) var hasBegun = false
  /// Whether the next buffer follows an interruption.
  private var isDiscontinuous = true
  /// Time up to which the stream has been sent, in ticks of 90 kHz.
  var end: Int64?

  init(pad: Pad, stream: ElementaryStream, tags: TagList) {
    (self.pad, self.stream, self.tags) = (pad, stream, tags)
  }

  var isVideo: Bool { stream.identity == .base }

  /// Begins again, after a flush.
  mutating func flush() { (hasBegun, isDiscontinuous, end) = (false, true, nil) }

  /// Sends a segment, and the tags after it.
  ///
  /// - Parameters:
  ///   - segment: in stream time.
  ///   - origin: the timestamp at which stream time begins.
  ///   - more: the tags of the whole input.
  mutating func begin(
    _ segment: PlaybackSegment, at origin: ClockTime, _ more: [Event], following cause: Event?
  ) {
    hasBegun = true
    var shifted = Segment(segment)
    shifted.start = segment.start + origin
    shifted.stop = segment.stop.map { $0 + origin }
    shifted.position = shifted.start
    let event = Event.segment(shifted)
    pad.push(cause.map { event.following($0) } ?? event)
    if !tags.isEmpty { pad.push(.tags(tags)) }
    for event in more { pad.push(event) }
  }

  mutating func push(_ buffer: Buffer, isDiscontinuity: Bool) -> FlowReturn {
    if isDiscontinuity || isDiscontinuous { buffer.flags.insert(.discont) }
    isDiscontinuous = false
    return pad.push(buffer)
  }
}

extension ClockTime {
  /// Creates a time from ticks of 90 kHz; times before 0 are 0.
  init(ticks: Int64) {
    self = ClockTime(UInt64(clamping: ticks), perSecond: 90_000)
  }
}

extension ElementaryStream {
  /// The caps of an audio stream; nil if GStreamer has none.
  var caps: Caps? {
    switch coding {
    case .mpegAudio: Caps("audio/mpeg", ["mpegversion": 1])
    case .aac: Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "adts"])
    case .aacLATM: Caps("audio/mpeg", ["mpegversion": 4, "stream-format": "loas"])
    case .ac3: Caps("audio/x-ac3")
    case .eac3: Caps("audio/x-eac3")
    // The core of DTS-HD is DTS.
    case .dts, .dtsHD: Caps("audio/x-dts")
    case .trueHD: Caps("audio/x-true-hd")
    case .lpcm: Caps("audio/x-private-ts-lpcm")
    default: nil
    }
  }
}
