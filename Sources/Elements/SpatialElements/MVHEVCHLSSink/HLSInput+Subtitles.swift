// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Packager
import StereoVideo

/// Pads of subtitles: each is one rendition, which begins without a buffer, as texts are rare.
extension HLSInput {
  /// Whether a pad takes texts, which are rare: no other stream waits for them.
  static func isSubtitles(_ pad: String) -> Bool { pad.hasPrefix("subtitle") }

  private static let webVTT = "application/x-subtitle-vtt"
  private static let timedText = CodecTable.meta.row("tx3g").media
  private static let fragments = CodecTable.meta.row("wvtt").media

  /// Texts, WebVTT as `webvttenc` makes it, and the text tracks of movies.
  static let subtitleCaps: Caps = {
    let caps = Caps.empty
    caps.append(MuxSubtitles.template)
    for media in [webVTT, timedText, fragments] { caps.append(media, []) }
    return caps
  }()

  var isSubtitles: Bool { stream.kind == .subtitle }

  /// Returns the properties of the subtitles that players are told.
  ///
  /// - Parameters:
  ///   - start: the event with which the stream began.
  ///   - isLive: whether segments must not wait for texts.
  func subtitles(_ settings: HLSSettings, start: Event?, isLive: Bool) -> Rendition.Subtitles {
    let language = stream.tags.string(Tag.languageCode)
    var subtitles = Rendition.Subtitles(
      name: stream.tags.string(Tag.title) ?? language ?? stream.name, language: language)
    subtitles.isDefault = start?.isSelected ?? false
    let entry = stream.caps?.structures.first { $0.name == Self.timedText }?.buffer("codec_data")?
      .bytes
    subtitles.isForced =
      settings.forcedPads.contains(stream.name) || entry.map(TimedText.isForced) ?? false
    subtitles.isLive = isLive
    return subtitles
  }

  /// Returns the cues of a buffer, in running time.
  ///
  /// - Parameter shift: added to the running times of the stream.
  func cues(of buffer: Buffer, shift: RunningTime) -> [SubtitleCue] {
    guard let pts = buffer.pts, let time = segment.signedRunningTime(pts) else { return [] }
    let start = (time + shift).nanoseconds
    let texts = texts(of: buffer)
    return texts.map { cue in
      let told = cue.end > cue.start ? UInt64(clamping: cue.end - cue.start) : nil
      // The buffer's duration is that of all its cues.
      let whole = texts.count == 1 ? buffer.duration?.nanoseconds : told
      let duration =
        whole ?? told ?? buffer.duration?.nanoseconds ?? MuxSubtitles.usualDuration.nanoseconds
      var cue = cue
      cue.start = start &+ (cue.start - texts[0].start)
      cue.end = cue.start &+ Int64(clamping: duration)
      return cue
    }
  }

  /// Returns the texts of a buffer; of WebVTT with the times that are in it.
  private func texts(of buffer: Buffer) -> [SubtitleCue] {
    let bytes = buffer.bytes
    func text(_ text: String) -> [SubtitleCue] { [SubtitleCue(start: 0, end: 0, text: text)] }
    func string() -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
    switch stream.caps?.mediaType {
    case Self.webVTT: return WebVTT.cues(in: string())
    case Self.timedText: return text(WebVTT.escaped(TimedText.text(of: bytes)))
    case Self.fragments:
      return WebVTTTrack.cues(of: bytes).map {
        SubtitleCue(start: 0, end: 0, text: WebVTT.lines($0.text), settings: $0.settings)
      }
    default:
      return MuxSubtitles.isMarkup(stream.caps)
        ? text(WebVTT.styled(string(), decode: MuxSubtitles.character))
        : text(WebVTT.escaped(string()))
    }
  }
}

extension Pad {
  /// Whether the pad takes texts.
  var isSubtitles: Bool { HLSInput.isSubtitles(name) }
}

extension MVHEVCHLSSink.Streaming {
  /// Makes the rendition of a pad's subtitles, or tells players what is new of it.
  mutating func describeSubtitles(of pad: Pad) throws {
    let name = pad.name
    guard hasBegun, !isBroken, var input = inputs[name], input.isSubtitles, input.stream.caps != nil
    else { return }
    let isLive = element.pads.current.contains { $0.peerLatency?.isLive ?? false }
    let subtitles = input.subtitles(
      element.settings.current, start: pad.streamStart, isLive: isLive)
    if let rendition = input.renditions.first {
      packager.describe(rendition, as: subtitles)
    } else {
      try input.describe(Rendition(name, subtitles: subtitles)) {
        try packager.add($0, continuing: try earlierRun(of: $0))
      }
      inputs[name] = input
    }
  }

  /// Takes the texts of a buffer.
  mutating func takeText(_ buffer: Buffer, of name: String) throws {
    guard let input = inputs[name], let rendition = input.renditions.first else { return }
    for cue in input.cues(of: buffer, shift: textShift(input, buffer)) {
      try packager.append(cue, to: rendition)
    }
    try carryOut()
  }

  /// Notes that no text of a pad begins before a time of its stream.
  mutating func reachText(_ time: RunningTime, of name: String) throws {
    guard !isBroken, let rendition = inputs[name]?.renditions.first else { return }
    try packager.reach((time + timelineShift).nanoseconds, of: rendition)
    try carryOut()
  }

  /// The time by which a text moves after the timestamps of other streams have jumped. If its own
  /// have not, it is nearer to the present without.
  private func textShift(_ input: HLSInput, _ buffer: Buffer) -> RunningTime {
    guard timelineShift != 0, let now = element.currentRunningTime.map(RunningTime.init(clamping:)),
      let time = buffer.pts.flatMap({ input.segment.signedRunningTime($0) })
    else { return timelineShift }
    let (own, moved) = (time - now, time + timelineShift - now)
    return own.nanoseconds.magnitude < moved.nanoseconds.magnitude
      ? 0 : timelineShift
  }
}
