// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// The stream of one sink pad of `mvhevcmux` or `mvhevchlssink`: its caps and tags, and the
/// conversion of its buffers to samples.
final class MuxInput {
  /// The type of a stream, from the pad's name.
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
  var caps: Caps? {
    didSet {
      headers = Headers(caps)
      frameRate = caps?.first?.fraction("framerate") ?? Fraction(0, 1)
    }
  }
  /// Frames per second from the caps; 0/1 if they have no rate.
  private(set) var frameRate = Fraction(0, 1)
  /// The caps of the pads that the stream came through.
  private var capsUpstream: [Caps] = []
  /// Tags of the stream itself, merged in the order of arrival.
  var tags = TagList()
  /// Number of the movie's track, counted from 0; nil before the movie begins, if it has no track
  /// for the pad, and for the eyes, which share one.
  var track: Int?
  /// Whether the application has been warned that this stream is not written.
  var isLeftOut = false
  /// Whether the application has been warned that the beginning of this stream is not written.
  var lacksBeginning = false
  /// The time by which the timestamps of an audio stream are late.
  private(set) var delay: ClockTime = 0
  /// Mends timestamps that are missing or go back.
  private(set) var mender: TimestampMender
  private var pace = WarningPace()
  /// The decoding time of the last buffer, and its distance from the one before.
  private var lastDecode: RunningTime?
  private var lastStep: ClockTime?
  /// Running time at which the last text of a subtitle stream ends.
  private var subtitleEnd: RunningTime?
  /// Packet size of audio whose packets all have one size; a buffer may hold any number of them.
  private var packet: AudioSampleEntry.Packet?
  /// Set for H.265 with in-band parameter sets.
  private var inBandVideo: InBandVideo?

  /// The codings whose headers come as data too; nil for all others.
  private enum Headers {
    case flac, opus

    init?(_ caps: Caps?) {
      switch caps?.mediaType {
      case "audio/x-flac": self = .flac
      case "audio/x-opus": self = .opus
      default: return nil
      }
    }
  }

  private var headers: Headers?

  init(_ name: String) {
    self.name = name
    kind = Kind(name)
    mender = TimestampMender(kind == .video ? .video : kind == .audio ? .audio : .other)
  }

  /// Finds out from the elements upstream what the caps do not say: how late the timestamps are
  /// that arrive at the stream's pad, and records that parsers have dropped.
  func examineUpstream(of pad: Pad) {
    capsUpstream = kind == .video ? pad.capsUpstream : []
    guard kind == .audio, let rate = caps?.first?.int("rate") else { return }
    delay = EncoderDelay.before(pad, rate: rate)
  }

  // MARK: Sample entries

  /// Whether the sample entry needs the first buffer in addition to the caps.
  var needsData: Bool {
    guard let caps else { return true }
    return Self.needsData(caps)
  }

  private static func needsData(_ caps: Caps) -> Bool {
    switch caps.mediaType {
    case "video/x-h265": InBandVideo.isIn(caps) || LostLayer.isPossible(in: caps)
    case "video/x-h264": true
    case "audio/x-ac3", "audio/x-eac3": caps.first?.buffer("codec_data") == nil
    default: false
    }
  }

  /// Returns the sample entry of an audio stream.
  ///
  /// - Parameter first: the first buffer, for codings whose caps are not enough.
  func audioEntry(container: MovieContainer, first: Buffer?) throws -> AudioSampleEntry {
    guard let caps else { throw FlowReturn.notNegotiated }
    let entry = try MuxAudioCaps.sampleEntry(caps, pad: name, container: container, first: first)
    packet = entry.packet
    return entry
  }

  /// Returns the sample entry of a coded video stream, without the spatial metadata from tags.
  ///
  /// - Parameter first: the first buffer, for streams with in-band parameter sets.
  /// - Throws: an ``ElementError`` if the caps are wrong or not enough, or if parameter sets are
  ///   missing.
  func videoEntry(first: Buffer?) throws -> VisualSampleEntry {
    guard let caps else { throw FlowReturn.notNegotiated }
    let inBand = InBandVideo.isIn(caps) ? try InBandVideo(caps, first: first, pad: name) : nil
    if caps.mediaType == "video/x-h265",
      let refusal = LostLayer.refusal(of: caps, first: first, pad: name)
    {
      throw refusal
    }
    inBandVideo = inBand
    return try inBand.map { try MuxVideoCaps.sampleEntry($0) }
      ?? MuxVideoCaps.sampleEntry(caps, pad: name, capsUpstream: capsUpstream, first: first)
  }

  // MARK: Buffers

  /// Whether a buffer is a header of FLAC or Opus, which the sample entry already has. `flacenc`
  /// also sends its headers as data, without the flag.
  func isHeader(_ buffer: Buffer) -> Bool {
    guard let headers else { return false }
    if buffer.flags.contains(.header) { return true }
    guard headers == .flac, buffer.size > 0 else { return false }
    // A frame begins with 14 bits of a synchronization code (RFC 9639, 9.1).
    let start = try? buffer.withBytes { bytes in
      UInt16(bytes.first ?? 0) << 8 | UInt16(bytes.dropFirst().first ?? 0)
    }
    return start.map { $0 & 0xFFFC != 0xFFF8 } ?? false
  }

  /// Whether a buffer carries parameter sets that differ from those of the sample entry.
  func hasNewParameterSets(_ buffer: Buffer) -> Bool {
    inBandVideo?.isChanged(by: buffer) ?? false
  }

  /// Returns a buffer as a sample of the track, without the parameter sets in its sample entry.
  func sample(_ buffer: Buffer) throws -> Buffer {
    try inBandVideo?.sample(buffer) ?? buffer
  }

  /// Returns the times and flags of a buffer's samples; nil if the buffer cannot be written. Wrong
  /// timestamps are mended, with a warning.
  ///
  /// - Parameters:
  ///   - shift: the shift of streams whose timestamps have jumped.
  ///   - now: the current running time; nil without a clock.
  ///   - isLive: whether the source is live.
  ///   - warn: called now and then with what was mended.
  /// - Throws: an ``ElementError`` if the buffer does not hold a whole number of packets, or if
  ///   nothing says when the pictures are shown.
  func timing(
    of buffer: Buffer, in segment: Segment, _ shift: inout RunningTime,
    now: RunningTime?, isLive: () -> Bool, warn: (ElementError) -> Void
  ) throws -> MovieFileWriter.Timing? {
    let isKeyframe = kind != .video || !buffer.flags.contains(.deltaUnit)
    // Audio is decoded in presentation order.
    let (count, told) =
      kind == .audio
      ? try packets(in: buffer) ?? (1, buffer.duration ?? 0) : (1, buffer.duration ?? 0)
    // Demuxers of transport streams give none, and the last picture is to be seen, too: without a
    // frame rate, as long as the one before.
    let usual = frameRate.frameDuration ?? lastStep ?? 0
    let duration = kind == .video && told == 0 ? usual : told
    let decode = kind == .video ? buffer.dts.flatMap { segment.signedRunningTime($0) } : nil
    let pts = buffer.pts ?? (kind == .video ? nil : buffer.dts)
    if kind == .video, pts == nil, !mender.hasBegun, let caps, !isLive(),
      let refusal = UntimedVideo.refusal(of: caps, first: buffer, pad: name)
    {
      throw refusal
    }
    let before = mender.counts
    let mended = mender.mend(
      presentation: pts.flatMap { segment.signedRunningTime($0) }.map { $0 - delay },
      decode: decode, duration: duration,
      isKeyframe: isKeyframe, with: &shift, now: now, isLive: isLive)
    if mender.counts != before, pace.allows(at: mended?.presentation ?? .min) {
      warn(mender.warning(pad: name))
    }
    guard let mended else { return nil }
    if let lastDecode, mended.decode > lastDecode {
      lastStep = ClockTime(clamping: mended.decode - lastDecode)
    }
    lastDecode = mended.decode
    var timing = MovieFileWriter.Timing(
      presentationTime: mended.presentation, decodeTime: mended.decode, duration: duration,
      isSync: isKeyframe, count: count)
    switch kind {
    case .eye, .subtitle, .audio: break
    case .meta: timing.isSync = !buffer.flags.contains(.deltaUnit)
    case .video: timing.dependency = Self.dependency(of: buffer)
    }
    if segment.rate > 0 {
      timing.stop = segment.stop.flatMap { segment.signedRunningTime($0) }.map { $0 + mender.shift }
    }
    return timing
  }

  /// Moves a stream that stays too late to be written to where it would be by now; returns by how
  /// much.
  func catchUp(to now: RunningTime) -> RunningTime? { mender.catchUp(to: now) }

  /// Writes a text, after an empty sample for the time since the previous text.
  func writeText(
    _ buffer: Buffer, at time: RunningTime, to movie: MovieFileWriter, _ track: Int
  ) throws {
    // Readers take the duration of the media for that of the track, so it begins with the movie.
    let end = subtitleEnd ?? movie.origin
    if end < time {
      try movie.append(
        MuxSubtitles.silence,
        MovieFileWriter.Timing(
          presentationTime: end, decodeTime: end, duration: ClockTime(clamping: time - end)),
        to: track)
    }
    let duration = buffer.duration ?? MuxSubtitles.usualDuration
    try movie.append(
      MuxSubtitles.sample(buffer, caps),
      MovieFileWriter.Timing(presentationTime: time, decodeTime: time, duration: duration),
      to: track)
    subtitleEnd = time + duration
  }

  /// Returns the dependency of a coded video buffer on others, from its flags.
  static func dependency(of buffer: Buffer) -> SampleDependency {
    !buffer.flags.contains(.deltaUnit)
      ? .independent : buffer.flags.contains(.droppable) ? .disposable : .dependent
  }

  /// Returns the number of packets in an audio buffer and their total duration; nil for audio
  /// whose packets have different sizes.
  ///
  /// - Throws: an ``ElementError`` if the buffer does not hold a whole number of packets.
  func packets(in buffer: Buffer) throws -> (count: UInt32, duration: ClockTime)? {
    guard let packet, packet.bytes > 0,
      let rate = caps?.first?.int("rate"), rate >= 0
    else { return nil }
    let (count, rest) = buffer.size.quotientAndRemainder(dividingBy: Int(packet.bytes))
    guard rest == 0, let count = UInt32(exactly: count) else {
      throw ElementError(
        .format,
        "A buffer on \(name) has \(buffer.size) bytes, which are no whole number of "
          + "audio frames of \(packet.bytes) bytes.")
    }
    return (count, ClockTime(UInt64(count) * UInt64(packet.frames), perSecond: max(rate, 1)))
  }
}

/// The delay of the audio encoder before a muxer, which the timestamps of its packets leave out.
///
/// Lossy encoders begin with samples that precede their input, because their blocks overlap
/// (*priming*). GStreamer's encoders give the first packet the time of the first input
/// nevertheless, so that everything sounds later by as much. A movie says when the input begins by
/// an edit list (QuickTime File Format, appendix G).
private enum EncoderDelay {
  /// Samples by the name of the encoder, measured with a tone that goes through it and FFmpeg's
  /// decoder. Opus is not listed: its header has the number.
  private static let samples: [String: UInt64] = [
    "avenc_aac": 1024, "voaacenc": 1600, "lamemp3enc": 1105, "avenc_ac3": 256,
    "avenc_ac3_fixed": 256, "avenc_eac3": 256, "avenc_mp2": 481, "avenc_mp2fixed": 481,
    "twolamemp2enc": 481,
  ]

  /// Returns the delay of the encoder that a sink pad's packets come from; 0 if they come from
  /// elsewhere, such as a file, whose times are right.
  static func before(_ pad: Pad, rate: Int) -> ClockTime {
    guard rate > 0, let encoder = pad.feeders.first(where: { samples[$0] != nil }),
      let count = samples[encoder]
    else { return 0 }
    return ClockTime(count, perSecond: rate)
  }
}
