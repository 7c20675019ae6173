// SPDX-License-Identifier: MPL-2.0

package import ISOBMFF

/// A sample of a track, and when the movie shows it.
package struct ShownSample: Sendable {
  /// On the movie's time line, by the track's edits.
  package let time: Nanoseconds
  /// Behind ``time``; where the next sample is shown sooner, that ends it.
  package let end: Nanoseconds
  /// Into the track's samples, in decoding order.
  package let sample: Int
  package let size: UInt32
  package let isSync: Bool

  package init(time: Nanoseconds, end: Nanoseconds, sample: Int, size: UInt32, isSync: Bool) {
    (self.time, self.end) = (time, end)
    (self.sample, self.size, self.isSync) = (sample, size, isSync)
  }

  /// All samples that the movie shows, in the order of their times; one that several edits show
  /// comes several times.
  ///
  /// - Parameter limit: how many samples are looked at, whatever the file's tables say.
  package static func all(
    of track: Track, movieTimescale: UInt32, limit: Int
  ) -> [ShownSample] {
    let timeline = TrackTimeline(track, movieTimescale: movieTimescale)
    var samples: [Stamped] = []
    let count = min(track.samples.count, limit)
    samples.reserveCapacity(count)
    for index in 0..<count {
      guard let record = track.samples.sample(at: index) else { break }
      samples.append(
        Stamped(
          pts: timeline.pts(record.presentationTime),
          end: timeline.pts(
            saturatingDifference(record.presentationTime, -Int64(record.duration))),
          sample: index, size: record.size, isSync: record.isSync))
    }
    samples.sort { ($0.pts, $0.sample) < ($1.pts, $1.sample) }
    // What one sample's table entry lasts is what its neighbour in decoding order lasts: the next
    // one that is shown ends it.
    for index in samples.indices.dropLast() { samples[index].end = samples[index + 1].pts }
    return timeline.edits.flatMap { shown(samples, in: $0) }
  }

  /// A sample with its own timestamps, in nanoseconds.
  private struct Stamped {
    let pts: Nanoseconds
    var end: Nanoseconds
    let sample: Int
    let size: UInt32
    let isSync: Bool
  }

  private static func shown(_ samples: [Stamped], in edit: TimelineEdit) -> [ShownSample] {
    guard edit.mediaStart != nil else { return [] }
    let stop = edit.stop ?? .max
    return samples[first(samples, in: edit)...].prefix { $0.pts < stop }.map {
      ShownSample(
        time: max(edit.movieTime(of: $0.pts), edit.movieStart),
        end: min(edit.movieTime(of: $0.end), edit.movieEnd ?? .max), sample: $0.sample,
        size: $0.size, isSync: $0.isSync)
    }
  }

  /// The first sample that is not over when the edit begins: edits are many in hostile files.
  private static func first(_ samples: [Stamped], in edit: TimelineEdit) -> Int {
    var (low, high) = (0, samples.count)
    while low < high {
      let middle = low + (high - low) / 2
      let isOver = samples[middle].pts < edit.start && samples[middle].end <= edit.start
      if isOver { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
