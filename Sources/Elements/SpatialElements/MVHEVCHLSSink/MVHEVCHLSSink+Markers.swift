// SPDX-License-Identifier: MPL-2.0

import GStreamer
import Packager
import StereoVideo

/// A message of SCTE 35, or an ID3 tag, in a serialized event of the type
/// `GST_EVENT_CUSTOM_DOWNSTREAM`.
struct MarkerEvent {
  /// The name of the event's structure.
  static let name = "application/x-scte35"
  /// The name of the structure in which `tsdemux` hands on sections, with `send-scte35-events`.
  static let demuxedName = "scte-sit"
  /// The name of the structure of an event with an ID3 tag.
  static let metadataName = "application/x-id3"
  /// Maximum size of a message in bytes: its length has 12 bits.
  private static let largest = 4098
  /// Maximum size of an ID3 tag in bytes: small pictures are common in them.
  static let largestTag = 1 << 17

  /// The message (`splice_info_section`, or an ID3v2 tag).
  let message: [UInt8]
  /// The running time of the splice or the tag; nil for the position of the event in its stream.
  let time: RunningTime?

  /// Reads an event: `data` is a buffer or hexadecimal digits, `running-time` in nanoseconds; or
  /// `section` is the message, and `running-time-map` has the time of its splice.
  ///
  /// - Parameter largest: The maximum size of the message in bytes.
  /// - Returns: Nil if it has no message.
  init?(_ event: Event, largest: Int = Self.largest) {
    guard let fields = event.structure else { return nil }
    guard fields.name != Self.demuxedName else {
      guard let section = fields.transportSection("section"), section.count <= largest else {
        return nil
      }
      message = section
      let map = fields.structure("running-time-map")
      time = map?.fieldNames.lazy.compactMap { map?.int($0) }.first.flatMap(Self.time)
      return
    }
    if let buffer = fields.buffer("data") {
      guard buffer.size <= largest else { return nil }
      message = buffer.bytes
    } else {
      guard let bytes = fields.string("data").flatMap({ Self.bytes($0, largest) }) else {
        return nil
      }
      message = bytes
    }
    time = fields.int("running-time").flatMap(Self.time)
  }

  /// Returns a running time if sums with it cannot overflow.
  private static func time(_ nanoseconds: Int) -> RunningTime? {
    (0..<1 << 62).contains(nanoseconds) ? RunningTime(nanoseconds: Int64(nanoseconds)) : nil
  }

  /// Reads hexadecimal digits, with or without `0x` before them; nil if there are others.
  private static func bytes(_ text: String, _ largest: Int) -> [UInt8]? {
    var digits = text[...]
    if digits.hasPrefix("0x") || digits.hasPrefix("0X") { digits = digits.dropFirst(2) }
    let values = digits.compactMap(\.hexDigitValue)
    guard values.count == digits.count, values.count.isMultiple(of: 2),
      values.count <= 2 * largest
    else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }
}

extension MVHEVCHLSSink.Streaming {
  /// Lists a message of SCTE 35, and makes segments start at its splice.
  mutating func takeMarker(_ event: Event, of pad: String) throws {
    guard !isBroken else { return }
    guard let event = MarkerEvent(event), let info = try? SpliceInfo(event.message) else {
      return element.postWarning(
        ElementError(
          .format, "An SCTE 35 message on \(pad) is damaged, so that it is not passed on."))
    }
    let time = event.time.map { $0 + timelineShift } ?? inputs[pad]?.position ?? 0
    guard let marker = Marker(info, message: event.message, at: time.nanoseconds),
      packager.append(marker)
    else { return }
    element.log.info(element, "\(pad): the marker \(marker.id) at \(time.nanoseconds) ns")
    try carryOut()
    let settings = element.settings.current
    guard !settings.packager.hasDates, !hasToldMarkers else { return }
    hasToldMarkers = true
    element.postWarning(
      ElementError(
        .settings,
        "SCTE 35 messages are not in the HLS playlists, as EXT-X-DATERANGE needs the wall-clock "
          + "time, which playlists of playlist-type=vod or without enable-program-date-time lack."))
  }

  /// Writes an ID3 tag into the segments.
  mutating func takeMetadata(_ event: Event, of pad: String) {
    guard !isBroken else { return }
    let event = MarkerEvent(event, largest: MarkerEvent.largestTag)
    guard let event, event.message.starts(with: "ID3".utf8), event.message.count > 10 else {
      return element.postWarning(
        ElementError(
          .format,
          "The event \(MarkerEvent.metadataName) on \(pad) has no ID3v2 tag of at most "
            + "\(MarkerEvent.largestTag >> 10) KiB, so that it is not passed on."))
    }
    let time = event.time.map { $0 + timelineShift } ?? inputs[pad]?.position ?? 0
    guard packager.append(TimedMetadata(time: time.nanoseconds, tag: event.message)) else {
      return element.postWarning(
        ElementError(
          .failedStream, "Too many ID3 tags wait for their time; one of \(pad) is left out."))
    }
  }
}
