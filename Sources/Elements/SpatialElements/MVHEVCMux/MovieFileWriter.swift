// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

/// A sample that waits for its place in the file.
struct PendingSample {
  let buffer: Buffer
  /// With times in units of the track.
  let description: SampleDescription
  /// Running times, in nanoseconds.
  let decodeTime: Int64
  let presentationTime: Int64
}

/// A movie while it is written: counts the times of its tracks' samples in the tracks' units. Subclasses
/// turn samples into a file, progressive or in fragments. Tracks are numbered from 0.
class MovieFileWriter {
  /// One track and the times of its samples.
  private struct Track {
    let clock: TrackClock
    var lastDecodeTime: Int64?
  }

  private var tracks: [Track]
  /// The running time that is the movie's start.
  private let origin: Int64
  private let creationTime: Int64?
  private var sampleCount = 0

  /// - Parameters:
  ///   - origin: the running time of the movie's start, in nanoseconds.
  ///   - creationTime: of the movie, which later metadata leave as it is.
  init(tracks: [TrackDescription], origin: Int64, creationTime: Int64?) {
    self.creationTime = creationTime
    self.origin = origin
    self.tracks = tracks.map { Track(clock: TrackClock(timescale: $0.timescale)) }
  }

  // MARK: What subclasses do

  /// How many bytes the file has so far.
  var byteCount: UInt64 { 0 }

  /// Says what a track's samples are, when that is known, and again if it changes in a file whose
  /// header-update-mode is `caps`: from the next sample on.
  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws {}

  /// Replaces the movie's metadata, as far as they have not been written.
  func replaceMetadata(_ metadata: MovieMetadata) {}

  /// Adds the next sample of a track, in decoding order; writes what has its place in the file now.
  func append(_ sample: PendingSample, to track: Int) throws {}

  /// Notes that no samples come for a track up to a running time.
  func pass(_ time: Int64, of track: Int) throws {}

  /// Notes that no more samples come for a track.
  func end(_ track: Int) throws {}

  /// Writes what waits, and what completes the file.
  ///
  /// - Parameter isUrgent: has the file on disk when this returns. `filesink` keeps the last bytes
  ///   back until the end of the stream, and drops them if it is stopped at just that moment.
  func complete(isUrgent: Bool) throws {}

  // MARK: What the element calls

  /// Replaces the movie's metadata: tags may come at any time.
  func setMetadata(_ metadata: MovieMetadata) {
    var metadata = metadata
    metadata.creationTime = creationTime
    replaceMetadata(metadata)
  }

  /// What a sample is, with times in nanoseconds of running time.
  struct Timing {
    let presentationTime: Int64
    let decodeTime: Int64
    /// Of all samples of the buffer together.
    let duration: ClockTime
    var isSync = true
    var dependency = SampleDependency()
    /// How many samples of one size the buffer holds.
    var count: UInt32 = 1
  }

  /// Adds the next sample, or run of samples, of a track, in decode order; writes what has its
  /// place in the file now.
  func append(_ buffer: Buffer, _ timing: Timing, to index: Int) throws {
    guard tracks.indices.contains(index), timing.count > 0,
      let size = UInt32(exactly: buffer.size / Int(timing.count))
    else {
      throw ElementError(.mux, "A sample of 4 GiB or more cannot be written to a movie.")
    }
    let clock = tracks[index].clock
    let presentation = clock.units(saturatingDifference(timing.presentationTime, origin))
    var decode = clock.units(saturatingDifference(timing.decodeTime, origin))
    // Two times that differ by less than a unit, or sound that overlaps: the second comes one unit
    // after the first.
    if let last = tracks[index].lastDecodeTime, decode <= last, timing.decodeTime >= 0 {
      decode = last.addingReportingOverflow(1).partialValue
    }
    let duration = clock.units(Int64(clamping: timing.duration)) / Int64(timing.count)
    tracks[index].lastDecodeTime = decode &+ duration &* (Int64(timing.count) - 1)
    var description = SampleDescription(
      size: size, decodeTime: decode, duration: UInt32(clamping: duration),
      compositionOffset: Int32(clamping: saturatingDifference(presentation, decode)),
      isSync: timing.isSync, dependency: timing.dependency)
    description.count = timing.count
    sampleCount += 1
    try append(
      PendingSample(
        buffer: buffer, description: description, decodeTime: timing.decodeTime,
        presentationTime: timing.presentationTime), to: index)
  }

  /// Writes what waits, so that the file is complete. Throws where no sample was ever added: there
  /// is no movie then.
  ///
  /// - Parameter isUrgent: has the file on disk when this returns.
  func finish(isUrgent: Bool = false) throws {
    for track in tracks.indices { try end(track) }
    guard sampleCount > 0 else {
      throw ElementError(
        .mux, "The streams ended before the first frame, so there is nothing to write.")
    }
    try complete(isUrgent: isUrgent)
  }
}
