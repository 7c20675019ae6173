// SPDX-License-Identifier: MPL-2.0

import HEVC
package import ISOBMFF
package import StereoVideo

/// Output of samples.
extension MoviePlayback {
  /// Outputs a sample to the selected streams of a track.
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
    // A text may last for minutes, during which downstream must not wait for the next one.
    let length = tracks[track].isSparse ? 0 : sample.duration ?? 0
    tracks[track].end = max(tracks[track].end, tracks[track].movieTime(ofPTS: pts + length))
    position = reverse == nil ? max(position, start) : start
    if record.sampleEntryIndex != tracks[track].sampleEntryIndex {
      change(track, toEntry: record.sampleEntryIndex, &outputs)
    }
    // The eyes can only be extracted from contiguous slice headers.
    if tracks[track].isAnyEyeSelected {
      sample.data = SampleData(sample.data.joined())
      if tracks[track].hasUnknownLayers { detectLayers(track, first: sample.data.first, &outputs) }
    }
    tracks[track].give(sample, record, &outputs)
  }

  /// Detects again how a track's eyes are extracted.
  private mutating func detectLayers(
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
        PlayerWarning(.layers, "From here on the video has one layer and no separate eyes."))
      tracks[track].eyes = nil
    }
  }

  /// Skips a sample of a track that is not selected.
  mutating func skipSample(of track: Int) {
    hasPlayed = true
    for stream in tracks[track].streams.indices {
      tracks[track].streams[stream].waitsForSync = true
    }
  }

  /// Resets a track's eyes, because the next sample does not continue the previous one.
  mutating func interrupt(_ track: Int, _ outputs: inout OutputQueue) {
    tracks[track].isInterrupted = false
    tracks[track].drain(&outputs)
    tracks[track].eyes?.reset()
  }

  /// Switches to another sample entry from this sample on.
  private mutating func change(
    _ track: Int, toEntry index: Int, _ outputs: inout OutputQueue
  ) {
    tracks[track].sampleEntryIndex = index
    guard tracks[track].formats.indices.contains(index) else {
      outputs.warn(
        PlayerWarning(
          .damaged,
          "Samples of track \(tracks[track].id.rawValue) refer to an invalid sample entry."))
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
  /// Outputs a sample to the selected streams.
  fileprivate mutating func give(
    _ sample: Sample, _ record: SampleRecord, _ outputs: inout OutputQueue
  ) {
    // The unmodified samples take over the bytes, so their stream comes last.
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

  /// Outputs the samples that the eyes still hold.
  mutating func drain(_ outputs: inout OutputQueue) {
    for stream in streams.indices { streams[stream].drain(&eyes, &outputs) }
  }
}

/// A sample and when the movie shows it.
package struct ShownSample: Sendable {
  /// Start in movie time, according to the track's edits.
  package let time: ClockTime
  /// End in movie time, after ``time``; the start of the next sample if that is earlier.
  package let end: ClockTime
  /// Index into the track's samples, in decoding order.
  package let sample: Int
  package let size: UInt32
  package let isSync: Bool

  package init(time: ClockTime, end: ClockTime, sample: Int, size: UInt32, isSync: Bool) {
    (self.time, self.end) = (time, end)
    (self.sample, self.size, self.isSync) = (sample, size, isSync)
  }

  /// Returns all shown samples in the order of their times. A sample that several edits show
  /// appears several times.
  ///
  /// - Parameter limit: Maximum number of samples inspected, regardless of the file's tables.
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
          end: timeline.pts(record.presentationTime.saturatingAdding(Int64(record.duration))),
          sample: index, size: record.size, isSync: record.isSync))
    }
    samples.sort { ($0.pts, $0.sample) < ($1.pts, $1.sample) }
    // A table entry gives the duration in decoding order; in presentation order, a sample ends when
    // the next one starts.
    for index in samples.indices.dropLast() { samples[index].end = samples[index + 1].pts }
    return timeline.edits.flatMap { shown(samples, in: $0) }
  }

  /// A sample with its own timestamps.
  private struct Stamped {
    let pts: ClockTime
    var end: ClockTime
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

  /// Returns the first sample that has not ended when the edit begins. A binary search, since
  /// hostile files have many edits.
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
