// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Saying that nothing comes for a while, so that nobody waits for it.
extension MoviePlayback {
  /// An hour of silence is told in parts; broken times can make it ages.
  private static let maximumGapCount = 3600

  /// So much silence of muted audio at least is told at once, before the others come there.
  private static let silenceLength = Nanoseconds.second

  /// Tells those streams of a track that somebody takes that nothing comes between two timestamps.
  func gap(
    _ track: Int, from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue
  ) {
    guard start < end else { return }
    for stream in tracks[track].streams { stream.gap(from: start, to: end, &outputs) }
  }

  /// Tells the streams of a track that nothing comes before a time of the movie, in whole parts
  /// from the end of what came last, so that it does not matter how often this is called.
  mutating func fillGap(_ track: Int, before time: Nanoseconds, _ outputs: inout OutputQueue) {
    let unit = tracks[track].gapLength
    guard segment.rate > 0, time > tracks[track].end, time - tracks[track].end >= unit,
      let edit = tracks[track].currentEdit, edit.mediaStart != nil,
      tracks[track].end >= edit.movieStart
    else { return }
    // What is decoded later may be shown earlier.
    let least = tracks[track].leastPTS(samples(track), isComplete: isComplete)
    let time = min(time, least.map { edit.movieTime(of: $0) } ?? time)
    while time > tracks[track].end, time - tracks[track].end >= unit {
      let rest = time - tracks[track].end
      let length = tracks[track].gapCount < Self.maximumGapCount ? unit : rest
      tracks[track].gapCount += 1
      let end = saturatingSum(tracks[track].end, length)
      gap(
        track, from: edit.timestamp(at: tracks[track].end), to: edit.timestamp(at: end), &outputs)
      tracks[track].end = end
    }
  }

  /// Keeps the streams that have nothing up to `time` of the movie from holding up the others.
  mutating func fillGaps(
    upTo time: Nanoseconds, _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) {
    for track in tracks.indices {
      if tracks[track].isMuted(segment) { silence(track, upTo: time, &outputs) }
      guard !tracks[track].hasEnded,
        saturatingSum(tracks[track].end, tracks[track].gapLength) <= time,
        let item = try next(track, &outputs, fileSize: fileSize)
      else { continue }
      let start = tracks[track].movieTime(
        ofPTS: tracks[track].timeline.pts(item.record.presentationTime))
      fillGap(track, before: min(start, time), &outputs)
    }
  }

  // MARK: Muted audio

  /// Tells the streams of muted audio that nothing comes, up to behind a time of the movie.
  mutating func silence(_ track: Int, upTo time: Nanoseconds, _ outputs: inout OutputQueue) {
    guard segment.rate > 0, tracks[track].end <= time || tracks[track].needsSegment else { return }
    let start = tracks[track].end
    let end = max(start, saturatingSum(time, Self.silenceLength))
    let limit = segment.stop ?? duration ?? segment.start
    silence(track, from: start, to: min(end, limit), &outputs)
    tracks[track].end = end
  }

  /// Tells the streams of muted audio that nothing comes in a part of the movie.
  mutating func silence(
    _ track: Int, from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue
  ) {
    if tracks[track].beginSilence() {
      var whole = segment
      whole.duration = nil
      tell(SegmentStart(segment: whole), to: track, &outputs)
    }
    gap(track, from: start, to: end, &outputs)
  }
}
