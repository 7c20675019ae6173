// SPDX-License-Identifier: MPL-2.0

import HEVC
package import ISOBMFF
import StereoVideo

/// Handing out samples.
extension MoviePlayback {
  /// Hands out a sample of a track to those of its streams that somebody takes.
  mutating func hand(
    _ item: PlayedTrack.Item, _ data: SampleData, of track: Int, _ outputs: inout OutputQueue
  ) {
    hasPlayed = true
    let record = item.record
    let timeline = tracks[track].timeline
    let pts = timeline.pts(record.presentationTime)
    let start = tracks[track].movieTime(ofPTS: pts)
    fillGap(track, before: start, &outputs)
    var sample = Sample(
      data: data, presentationTime: pts, decodeTime: min(timeline.dts(record.decodeTime), pts),
      duration: tracks[track].duration(of: item))
    if !record.isSync { sample.flags.insert(.delta) }
    if record.dependency.isDependedOn == false { sample.flags.insert(.droppable) }
    // A text may last for minutes, in which nobody is to wait for the next one.
    let length = tracks[track].isSparse ? 0 : sample.duration ?? 0
    tracks[track].end = max(
      tracks[track].end, tracks[track].movieTime(ofPTS: saturatingSum(pts, length)))
    position = reverse == nil ? max(position, start) : start
    if record.sampleEntryIndex != tracks[track].sampleEntryIndex {
      change(track, toEntry: record.sampleEntryIndex, &outputs)
    }
    // A slice header must not be cut where the eyes are taken out.
    if tracks[track].isAnyEyeSelected {
      sample.data = SampleData(sample.data.joined())
      if tracks[track].hasUnknownLayers { lookAtLayers(track, first: sample.data.first, &outputs) }
    }
    tracks[track].give(sample, record, &outputs)
  }

  /// Finds out anew how the eyes of a track are had.
  private mutating func lookAtLayers(
    _ track: Int, first: ByteSlice, _ outputs: inout OutputQueue
  ) {
    tracks[track].hasUnknownLayers = false
    guard case .video(let entry)? = tracks[track].formats.first?.entry else { return }
    switch LayeredContent(entry, first: first) {
    case .layers(let found):
      tracks[track].eyes = found.eyes
      if let warning = found.warning { outputs.warn(warning) }
    case .unreadable(let warning): outputs.warn(warning)
    case .plain:
      outputs.warn(
        PlayerWarning(.layers, "From here on the video has one layer; there are no more eyes."))
      tracks[track].eyes = nil
    }
  }

  /// Passes over a sample that nobody takes.
  mutating func leaveOut(of track: Int) {
    hasPlayed = true
    for stream in tracks[track].streams.indices {
      tracks[track].streams[stream].waitsForSync = true
    }
  }

  /// Has the eyes of a track begin anew with the next sample, which does not continue the last one.
  mutating func interrupt(_ track: Int, _ outputs: inout OutputQueue) {
    tracks[track].isInterrupted = false
    tracks[track].drain(&outputs)
    tracks[track].eyes?.reset()
  }

  /// The samples from here on are coded in another way.
  private mutating func change(
    _ track: Int, toEntry index: Int, _ outputs: inout OutputQueue
  ) {
    tracks[track].sampleEntryIndex = index
    guard tracks[track].formats.indices.contains(index) else {
      outputs.warn(
        PlayerWarning(
          .damaged,
          "Samples of track \(tracks[track].id.rawValue) say nothing valid of how they are coded."))
      return
    }
    let format = tracks[track].formats[index]
    for stream in tracks[track].streams where stream.role == .samples {
      outputs.append(.format(stream.id, .samples(format)))
    }
    guard case .video(let entry) = format.entry else { return }
    do {
      let sets = LayeredContent.configuration(of: entry)?.parameterSets ?? []
      try tracks[track].eyes?.add(parameterSets: sets)
    } catch {
      outputs.warn(
        PlayerWarning(
          .damaged, "The parameter sets of a later part of the movie cannot be read.",
          detail: "\(error)"))
    }
  }
}

extension PlayedTrack {
  /// Gives a sample to those of the streams that somebody takes.
  fileprivate mutating func give(
    _ sample: Sample, _ record: SampleRecord, _ outputs: inout OutputQueue
  ) {
    // The stream of untouched samples gets the bytes themselves, so it comes last.
    for stream in streams.indices {
      guard streams[stream].isTaken() else { continue }
      switch streams[stream].role {
      case .eye(let eye):
        let unit = LayeredSample(
          data: sample.data.first, presentationTime: sample.presentationTime,
          decodeTime: sample.decodeTime, duration: sample.duration, flags: sample.flags,
          frameDuration: frameDuration(of: record))
        streams[stream].give(eye, of: unit, from: &eyes, eyeFormat, &outputs)
      case .samples:
        streams[stream].give(sample, &outputs)
      }
    }
  }

  /// Gives what the eyes hold back.
  mutating func drain(_ outputs: inout OutputQueue) {
    for stream in streams.indices { streams[stream].drain(&eyes, &outputs) }
  }
}

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
