// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// Going elsewhere in a track.
extension PlayedTrack {
  /// Goes to where decoding has to start for what is shown at a time of the movie.
  mutating func seek(to time: Nanoseconds, _ samples: TrackSamples) {
    edit = timeline.edit(at: time)
    candidate = nil
    needsSegment = true
    hasEnded = false
    limit = .max
    hasBegun = false
    end = time
    gapCount = 0
    next = timeline.sample(at: time, samples)
    isInterrupted = false
    eyes?.reset()
    for stream in streams.indices { streams[stream].restart() }
  }

  /// The sample that decoding starts at for what of the media plays next, if that is one of those
  /// that have been handed out.
  func resumption(_ samples: TrackSamples) -> SampleRecord? {
    let later = timeline.edits.dropFirst(edit + 1).first { $0.mediaStart != nil }
    guard let start = later?.mediaStart else { return nil }
    let first = timeline.firstSample(for: start, samples)
    return first < next ? samples.sample(at: first) : nil
  }
}
