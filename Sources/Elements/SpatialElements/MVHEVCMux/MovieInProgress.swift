// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// A movie while it is written: the times of its tracks' samples, counted in their units.
final class MovieInProgress {
  /// One track and the times of its samples.
  private struct Track {
    let clock: TrackClock
    var lastDecodeTime: Int64?
  }

  private let file: any MovieFile
  private var tracks: [Track]
  /// The running time that is the movie's start.
  private let origin: Int64
  private let creationTime: Int64?
  private(set) var sampleCount = 0

  /// How many bytes the file has.
  var byteCount: UInt64 { file.byteCount }

  /// - Parameters:
  ///   - origin: the running time of the movie's start, in nanoseconds.
  ///   - tracks: what is written to the file.
  ///   - creationTime: of the movie, which later metadata leave as it is.
  init(
    _ file: any MovieFile, origin: Int64, tracks: [TrackDescription], creationTime: Int64?
  ) {
    self.file = file
    self.creationTime = creationTime
    self.origin = origin
    self.tracks = tracks.map { Track(clock: TrackClock(timescale: $0.timescale)) }
  }

  /// Says what a track's samples are from the next one on.
  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    guard tracks.indices.contains(track) else { return }
    try file.setSampleEntry(entry, of: track)
  }

  /// Says what the movie is, anew: tags may come at any time.
  func setMetadata(_ metadata: MovieMetadata) {
    var metadata = metadata
    metadata.creationTime = creationTime
    file.setMetadata(metadata)
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
      throw ElementError(.mux, "A sample of 4 GiB or more cannot go into a movie.")
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
    try file.append(
      PendingSample(
        buffer: buffer, description: description, decodeTime: timing.decodeTime,
        presentationTime: timing.presentationTime), to: index)
  }

  /// No samples come for a track up to a running time.
  func pass(_ time: Int64, of track: Int) throws {
    try file.pass(time, of: track)
  }

  /// No more samples will come for a track.
  func end(_ track: Int) throws {
    try file.end(track)
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
    try file.finish(isUrgent: isUrgent)
  }
}

/// `a - b`, as near as an Int64 gets.
func saturatingDifference(_ a: Int64, _ b: Int64) -> Int64 {
  let (difference, overflow) = a.subtractingReportingOverflow(b)
  guard overflow else { return difference }
  return a < 0 ? .min : .max
}

/// `a + b`, as near as a ClockTime that is not `GST_CLOCK_TIME_NONE` gets.
func saturatingSum(_ a: ClockTime, _ b: ClockTime) -> ClockTime {
  let (sum, overflow) = a.addingReportingOverflow(b)
  return overflow ? .max - 1 : min(sum, .max - 1)
}
