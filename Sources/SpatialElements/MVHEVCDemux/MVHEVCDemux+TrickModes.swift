import CGStreamer
import GStreamer
import ISOBMFF

/// Playing fast or backwards with less than everything.
extension MVHEVCDemux {
  /// Audio of which nothing is read or handed out.
  func isMuted(_ track: DemuxTrack) -> Bool { play.isWithoutAudio && track.kind == "soun" }

  /// So much silence at least is told at once, before the others come there, so that nobody waits
  /// for it.
  private static let silenceLength = ClockTime.second

  /// Tells the streams of muted audio that nothing comes, up to behind a time of the movie.
  func silence(_ track: DemuxTrack, upTo time: ClockTime) {
    guard play.rate > 0, track.end <= time else { return }
    let end = min(saturatingSum(time, Self.silenceLength), playEnd)
    silence(track, from: track.end, to: end)
    track.end = saturatingSum(time, Self.silenceLength)
  }

  /// Tells the streams of muted audio that nothing comes in a part of the movie.
  func silence(_ track: DemuxTrack, from start: ClockTime, to end: ClockTime) {
    var segment = play
    segment.duration = nil
    let isFirst = track.beginSilence()
    for stream in track.streams {
      if isFirst { tell(stream, segment) }
      guard start < end else { continue }
      stream.pad.push(.gap(at: start, duration: end - start))
    }
  }
}

extension Segment {
  /// Of video only what decodes by itself is played.
  var hasKeyUnitsOnly: Bool { has(GST_SEGMENT_FLAG_TRICKMODE_KEY_UNITS) }

  /// Audio is not played.
  var isWithoutAudio: Bool { has(GST_SEGMENT_FLAG_TRICKMODE_NO_AUDIO) }

  private func has(_ flag: GstSegmentFlags) -> Bool {
    segment.flags.rawValue & flag.rawValue != 0
  }
}
