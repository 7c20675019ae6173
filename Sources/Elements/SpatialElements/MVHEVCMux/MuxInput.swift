// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// The stream that comes to one sink pad of `mvhevcmux` or `mvhevchlssink`: what it says of itself, and
/// what its buffers need to become samples.
final class MuxInput {
  /// What a pad is for, by its name.
  enum Kind: Int {
    case eye, video, audio, subtitle, meta

    init(_ name: String) {
      let kinds: [(prefix: String, kind: Kind)] = [
        ("left", .eye), ("right", .eye), ("video", .video), ("audio", .audio),
        ("subtitle", .subtitle),
      ]
      self = kinds.first { name.hasPrefix($0.prefix) }?.kind ?? .meta
    }
  }

  /// The pad's name.
  let name: String
  let kind: Kind
  /// Nil before the first caps event.
  var caps: Caps?
  /// Tags of the stream itself, merged as they came.
  var tags = TagList()
  /// The number of the movie's track, counted from 0; nil before the movie begins, if it has no track
  /// for the pad, and for the eyes, which share one.
  var track: Int?
  /// Whether the application has been told that the movie goes without this stream.
  var isLeftOut = false
  /// Running time in nanoseconds at which the last text of a subtitle stream ends.
  var subtitleEnd: Int64?
  /// For audio whose packets all have one size, of which a buffer may hold any number.
  private var packet: AudioSampleEntry.Packet?
  /// For H.265 that carries its parameter sets in the stream.
  private var inBandVideo: InBandVideo?

  init(_ name: String) {
    self.name = name
    kind = Kind(name)
  }

  // MARK: What the stream says of itself

  /// Whether caps do not say enough of the stream without its first buffer.
  var needsData: Bool {
    guard let caps else { return true }
    return Self.needsData(caps)
  }

  static func needsData(_ caps: Caps) -> Bool {
    switch caps.mediaType {
    case "video/x-h265": InBandVideo.isIn(caps)
    case "audio/x-ac3", "audio/x-eac3": caps.first?.buffer("codec_data") == nil
    default: false
    }
  }

  /// The sample entry of an audio stream.
  ///
  /// - Parameter first: the first buffer, for codings whose caps do not say enough.
  func audioEntry(container: MovieContainer, first: Buffer?) throws -> AudioSampleEntry {
    guard let caps else { throw FlowReturn.notNegotiated }
    let entry = try MuxAudioCaps.sampleEntry(caps, pad: name, container: container, first: first)
    packet = entry.packet
    return entry
  }

  /// The sample entry of a stream of coded video, without what tags say of the eyes.
  ///
  /// - Parameter first: the first buffer, for streams that carry their parameter sets inside.
  func videoEntry(first: Buffer?) throws -> VisualSampleEntry {
    guard let caps else { throw FlowReturn.notNegotiated }
    let inBand = InBandVideo.isIn(caps) ? try InBandVideo(caps, first: first, pad: name) : nil
    inBandVideo = inBand
    return try inBand.map { try MuxVideoCaps.sampleEntry($0) }
      ?? MuxVideoCaps.sampleEntry(caps, pad: name)
  }

  /// Frames a second by the caps; 0/1 if they do not say it.
  var frameRate: Fraction { caps?.first?.fraction("framerate") ?? Fraction(0, 1) }

  // MARK: Buffers

  /// Whether a buffer is a header of FLAC or Opus, which the sample entry has already. `flacenc` sends
  /// its headers as data too, without the flag.
  func isHeader(_ buffer: Buffer) -> Bool {
    guard kind == .audio, let media = caps?.mediaType,
      ["audio/x-flac", "audio/x-opus"].contains(media)
    else { return false }
    if buffer.flags.contains(.header) { return true }
    guard media == "audio/x-flac", buffer.size > 0 else { return false }
    // A frame begins with 14 bits of a synchronization code (RFC 9639, 9.1).
    let start = try? buffer.withBytes { Array($0.prefix(2)) }
    return start.map { $0.first != 0xFF || ($0.last ?? 0) & 0xFC != 0xF8 } ?? false
  }

  /// Whether a buffer carries parameter sets that differ from those of the sample entry.
  func hasNewParameterSets(_ buffer: Buffer) -> Bool {
    inBandVideo?.isChanged(by: buffer) ?? false
  }

  /// A buffer as a sample of the track, without the parameter sets that its entry has.
  func sample(_ buffer: Buffer) throws -> Buffer {
    try inBandVideo?.sample(buffer) ?? buffer
  }

  /// How a buffer of coded video depends on others.
  static func dependency(of buffer: Buffer) -> SampleDependency {
    !buffer.flags.contains(.deltaUnit)
      ? .independent : buffer.flags.contains(.droppable) ? .disposable : .dependent
  }

  /// How many packets of one size a buffer of audio holds, and how long they last together.
  ///
  /// - Returns: nil for audio whose packets have different sizes.
  /// - Throws: an error if the buffer is no whole number of packets.
  func packets(in buffer: Buffer) throws -> (count: UInt32, duration: ClockTime)? {
    guard let packet, packet.bytes > 0,
      let rate = caps?.first?.int("rate").flatMap({ UInt64(exactly: $0) })
    else { return nil }
    let (count, rest) = buffer.size.quotientAndRemainder(dividingBy: Int(packet.bytes))
    guard rest == 0, let count = UInt32(exactly: count) else {
      throw ElementError(
        .format,
        "A buffer on \(name) has \(buffer.size) bytes, which are no whole number of "
          + "audio frames of \(packet.bytes) bytes.")
    }
    return (count, scale(UInt64(count) * UInt64(packet.frames), .second, max(rate, 1)))
  }
}
