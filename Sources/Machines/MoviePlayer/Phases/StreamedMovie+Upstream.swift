// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// What upstream says of the times of a movie, as adaptive streaming does.
struct UpstreamTime: Sendable {
  /// What is added to the movie's times to make them upstream's, in nanoseconds.
  private(set) var shift: Int64 = 0
  /// The next fragment says by how much times differ from upstream's.
  var isOpen = true

  /// By less, the rounded lengths of a playlist and the times of the media may differ.
  private static let tolerance = Nanoseconds.second / 2

  /// Takes when a fragment begins, by its own times and by upstream's; gives by how much the times
  /// of what follows move.
  mutating func takeStart(own: Nanoseconds, upstream: Nanoseconds) -> Int64 {
    isOpen = false
    let wanted = saturatingDifference(Int64(clamping: upstream), Int64(clamping: own))
    guard wanted.magnitude > Self.tolerance else { return 0 }
    shift = shift.addingReportingOverflow(wanted).partialValue
    return wanted
  }
}

extension StreamedMovie {
  /// Plays what upstream says, by its times: what comes next begins with a box.
  mutating func begin(upstream segment: PlaybackSegment) {
    follow(segment)
    beginBox()
  }

  /// Plays what upstream says, by its times.
  mutating func follow(_ segment: PlaybackSegment) {
    playback.segment = segment
    if upstream == nil {
      upstream = UpstreamTime()
      for track in playback.tracks.indices {
        playback.tracks[track].timeline = TrackTimeline(upstream: playback.tracks[track].timeline)
        playback.tracks[track].edit = 0
      }
    }
    for track in playback.tracks.indices {
      playback.tracks[track].repeatSegment()
      playback.tracks[track].end = segment.start
    }
    alignWithUpstream()
  }

  /// What comes next begins with a box, and is not what would come behind the bytes so far.
  mutating func beginBox() {
    guard playback.movie.isFragmented else { return }
    upstream?.isOpen = true
    laterMovie = nil
    returnPlace = nil
    stream.begin(at: stream.input.queue.end)
    forgetFragments(before: stream.input.queue.end)
    for track in playback.tracks.indices {
      playback.tracks[track].restartSamples()
      playback.tracks[track].interrupt()
    }
  }

  /// Finds out by how much the times of a fragment that has just come differ from upstream's.
  mutating func alignWithUpstream() {
    guard upstream?.isOpen == true, let time = stream.input.time else { return }
    let starts = playback.tracks.indices.compactMap { track -> Nanoseconds? in
      guard playback.samples(track).count > 0 else { return nil }
      return playback.tracks[track].leastPTS(playback.samples(track), isComplete: false)
    }
    guard let start = starts.min(),
      let shift = upstream?.takeStart(own: start, upstream: time), shift != 0
    else { return }
    for track in playback.tracks.indices { playback.tracks[track].timeline.shift(by: shift) }
  }
}
