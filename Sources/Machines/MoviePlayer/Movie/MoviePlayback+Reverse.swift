// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// How far a movie has been played backwards.
struct ReversePlayback: Sendable {
  /// Where the group begins that was played last, on the movie's time line.
  var end: Nanoseconds
  /// The first sample of each track that has been played.
  var limits: [Int]
  var isAtStart = false
}

/// Going elsewhere, and backwards.
extension MoviePlayback {
  /// Plays this part of the movie from now on.
  mutating func begin(_ wanted: PlaybackSegment) {
    segment = wanted
    hasSought = true
    budget = SampleBudget()
    let start = wanted.rate < 0 ? wanted.stop ?? 0 : wanted.start
    position = start
    for track in tracks.indices {
      let index = tracks[track].index
      tracks[track].seek(to: start, movie.tracks[index].samples)
    }
    reverse = nil
    guard wanted.rate < 0 else { return }
    reverse = ReversePlayback(
      end: start,
      limits: tracks.indices.map { tracks[$0].timeline.end(at: start, samples($0)) })
    for track in tracks.indices { tracks[track].finish() }
  }

  /// Goes on with the group of pictures before the one that has been played; false at the start.
  mutating func nextGroup(
    _ outputs: inout OutputQueue, fileSize: UInt64
  ) throws(MoviePlayerError) -> Bool {
    guard var reverse, !reverse.isAtStart, let reference else { return false }
    let last = reverse.end > 0 ? reverse.end - 1 : 0
    let timeline = tracks[reference].timeline
    let first = timeline.sample(at: last, samples(reference))
    let edit = timeline.edits[timeline.edit(at: last)]
    var start =
      timeline.movieTime(ofSample: first, near: last, samples(reference)) ?? edit.movieStart
    if start >= reverse.end { start = edit.movieStart }
    reverse.isAtStart = start <= segment.start || start == 0 || start >= reverse.end
    for track in tracks.indices where reverse.limits.indices.contains(track) {
      if tracks[track].isMuted(segment) {
        silence(track, from: max(start, segment.start), to: reverse.end, &outputs)
        continue
      }
      let timeline = tracks[track].timeline
      if timeline.edit(at: last) != tracks[track].edit {
        reverse.limits[track] = timeline.end(at: reverse.end, samples(track))
      }
      let begin = timeline.sample(at: start, samples(track))
      // Looking for a group of one sample in many tracks is more work than reading it.
      if let record = samples(track).sample(at: begin) {
        try count(0, at: record, of: track, fileSize: fileSize)
      }
      let range = min(begin, reverse.limits[track])..<reverse.limits[track]
      tracks[track].play(group: range, at: last)
      reverse.limits[track] = range.lowerBound
    }
    reverse.end = start
    self.reverse = reverse
    return true
  }

  /// The track by which others go where it matters: video that somebody takes.
  private var reference: Int? {
    let video = tracks.indices.filter { tracks[$0].kind == .video }
    return video.first { tracks[$0].isSelected } ?? video.first ?? tracks.indices.first
  }
}
