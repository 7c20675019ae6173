// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// A sample that waits for its place in the file.
struct PendingSample {
  let buffer: Buffer
  /// The description, with times in units of the track.
  let description: SampleDescription
  /// Running times.
  let decodeTime: RunningTime
  let presentationTime: RunningTime
  /// The sample entry from this sample on, if it is another one.
  var newEntry: SampleEntry?
}

/// A movie that is being written: converts times of samples to the units of their tracks.
/// Subclasses write the file, progressive or fragmented. Tracks are numbered from 0.
class MovieFileWriter {
  private struct Track {
    let clock: TrackClock
    var lastDecodeTime: Int64?
    /// Running time at which the last sample to be presented ends.
    var end = RunningTime.min
    /// Running time at which the stream's segment stops; nil if it has no end.
    var stop: RunningTime?
    /// The sample entry from the next sample on, if it is another one.
    var nextEntry: SampleEntry?
  }

  private var tracks: [Track]
  /// Running time of the movie's start.
  let origin: RunningTime
  private let creationTime: Int64?
  private var sampleCount = 0

  /// - Parameters:
  ///   - origin: the running time of the movie's start.
  ///   - creationTime: the movie's creation time, which later metadata do not change.
  init(tracks: [TrackDescription], origin: RunningTime, creationTime: Int64?) {
    self.creationTime = creationTime
    self.origin = origin
    self.tracks = tracks.map { Track(clock: TrackClock(timescale: $0.timescale)) }
  }

  // MARK: For subclasses

  /// Size of the file so far, in bytes.
  var byteCount: UInt64 { 0 }

  /// Sets the sample entry of a track, which applies from the next sample on. It can change later
  /// only in a file whose `header-update-mode` is `caps`.
  func replaceSampleEntry(_ entry: SampleEntry, of track: Int) throws {}

  /// Replaces the movie's metadata, as far as they have not been written.
  func replaceMetadata(_ metadata: MovieMetadata) {}

  /// Adds the next sample of a track, in decoding order, and writes the samples that are ready.
  func append(_ sample: PendingSample, to track: Int) throws {}

  /// Declares that no further sample of a track is decoded before a running time.
  func pass(_ time: RunningTime, of track: Int) throws {}

  /// Declares that a track has no more samples.
  func end(_ track: Int) throws {}

  /// Ends the presentation of a track at a time in units of the track, before its last sample ends.
  /// A file whose fragments are not finalised has no place for it.
  func endPresentation(of track: Int, at time: Int64) throws {}

  /// Writes the pending samples, and completes the file.
  ///
  /// - Parameter isUrgent: whether the file must be on disk when this returns. `filesink` keeps the
  ///   last bytes back until the end of the stream, and drops them if it is stopped just then.
  func complete(isUrgent: Bool) throws {}

  // MARK: For the element

  /// Describes a track's samples, from the next one on. Ignores a track that does not exist.
  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    if tracks.indices.contains(track) { try replaceSampleEntry(entry, of: track) }
  }

  /// Describes a track's samples from the next one on, in a file that is not fragmented. Ignores a
  /// track that does not exist.
  func changeSampleEntry(_ entry: SampleEntry, of track: Int) {
    if tracks.indices.contains(track) { tracks[track].nextEntry = entry }
  }

  /// Replaces the movie's metadata but its creation time. Tags may arrive at any time.
  func setMetadata(_ metadata: MovieMetadata) {
    var metadata = metadata
    metadata.creationTime = creationTime
    replaceMetadata(metadata)
  }

  /// The times and properties of a buffer's samples. Times are running times.
  struct Timing {
    let presentationTime: RunningTime
    let decodeTime: RunningTime
    /// Total duration of the buffer's samples.
    let duration: ClockTime
    var isSync = true
    var dependency = SampleDependency()
    /// Number of samples in the buffer, all of one size.
    var count: UInt32 = 1
    /// Running time at which the stream's segment stops; nil if it has no end.
    var stop: RunningTime?
  }

  /// Difference of a segment's stop and a sample's end that is due to the rounding of edit lists,
  /// which many movies have in milliseconds.
  private static let rounding: ClockTime = 2 * .millisecond

  /// Adds the next sample, or run of samples, of a track, in decoding order, and writes the samples
  /// that are ready.
  func append(_ buffer: Buffer, _ timing: Timing, to index: Int) throws {
    guard tracks.indices.contains(index), timing.count > 0,
      let size = UInt32(exactly: buffer.size / Int(timing.count))
    else {
      throw ElementError(.mux, "A sample of 4 GiB or more cannot be written to a movie.")
    }
    let clock = tracks[index].clock
    let presentation = clock.units((timing.presentationTime - origin).nanoseconds)
    var decode = clock.units((timing.decodeTime - origin).nanoseconds)
    // If two times differ by less than a unit, or audio overlaps, the second sample comes one unit
    // after the first.
    if let last = tracks[index].lastDecodeTime, decode <= last, timing.decodeTime >= 0 {
      decode = last.addingReportingOverflow(1).partialValue
    }
    let total = clock.units(RunningTime(clamping: timing.duration).nanoseconds)
    let duration = total / Int64(timing.count)
    tracks[index].lastDecodeTime = decode &+ duration &* (Int64(timing.count) - 1)
    tracks[index].end = max(tracks[index].end, timing.presentationTime + timing.duration)
    tracks[index].stop = timing.stop
    var description = SampleDescription(
      size: size, decodeTime: decode, duration: UInt32(clamping: duration),
      compositionOffset: Int32(clamping: presentation.saturatingSubtracting(decode)),
      isSync: timing.isSync, dependency: timing.dependency)
    description.count = timing.count
    sampleCount += 1
    let entry = tracks[index].nextEntry
    tracks[index].nextEntry = nil
    try append(
      PendingSample(
        buffer: buffer, description: description, decodeTime: timing.decodeTime,
        presentationTime: timing.presentationTime, newEntry: entry), to: index)
  }

  /// Ends all tracks, and completes the file.
  ///
  /// - Parameters:
  ///   - limit: time at which the presentation ends, even if tracks have later samples; nil for no
  ///     limit.
  ///   - isUrgent: whether the file must be on disk when this returns.
  /// - Throws: an ``ElementError`` if no sample was ever added, so there is no movie.
  func finish(at limit: RunningTime? = nil, isUrgent: Bool = false) throws {
    for track in tracks.indices { try end(track) }
    guard sampleCount > 0 else {
      throw ElementError(
        .mux, "The streams ended before the first frame, so there is nothing to write.")
    }
    for (index, track) in tracks.enumerated() {
      guard let stop = [track.stop, limit].compactMap(\.self).min(),
        track.end > stop + Self.rounding
      else { continue }
      try endPresentation(
        of: index, at: track.clock.units((stop - origin).nanoseconds))
    }
    try complete(isUrgent: isUrgent)
  }
}

/// A file with one index at its end, and tracks interleaved in chunks of half a second.
final class ProgressiveMovieFile: MovieFileWriter {
  private var writer: MovieWriter
  private let tracks: [TrackID]
  private var interleaver: SampleInterleaver<PendingSample>
  private var hasHeader = false
  private let output: CoalescingOutput

  override var byteCount: UInt64 { writer.position }

  init(
    container: MovieContainer, metadata: MovieMetadata, tracks: [TrackDescription],
    origin: RunningTime, output: CoalescingOutput
  ) throws {
    var writer = MovieWriter(container: container, metadata: metadata)
    self.tracks = try tracks.map { try writer.addTrack($0) }
    self.writer = writer
    interleaver = SampleInterleaver(trackCount: tracks.count)
    self.output = output
    super.init(tracks: tracks, origin: origin, creationTime: metadata.creationTime)
  }

  override func replaceSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    try writer.setSampleEntry(entry, of: tracks[track])
  }

  override func replaceMetadata(_ metadata: MovieMetadata) { writer.metadata = metadata }

  override func append(_ sample: PendingSample, to track: Int) throws {
    interleaver.append(sample, decodeTime: sample.decodeTime.nanoseconds, to: track)
    try writeReady()
  }

  override func pass(_ time: RunningTime, of track: Int) throws {
    interleaver.pass(time.nanoseconds, of: track)
    try writeReady()
  }

  override func end(_ track: Int) throws {
    interleaver.end(track)
    try writeReady()
  }

  override func endPresentation(of track: Int, at time: Int64) throws {
    try writer.endPresentation(of: tracks[track], at: time)
  }

  override func complete(isUrgent: Bool) throws {
    try output.write(try writer.finish(), isUrgent: isUrgent)
  }

  private func writeReady() throws {
    while let item = interleaver.next() {
      if !hasHeader {
        try output.write(Buffer(writer.header))
        hasHeader = true
      }
      if let entry = item.payload.newEntry {
        try writer.changeSampleEntry(entry, of: tracks[item.track])
      }
      try writer.append(item.payload.description, to: tracks[item.track])
      try output.write(sample: item.payload.buffer)
    }
  }
}
