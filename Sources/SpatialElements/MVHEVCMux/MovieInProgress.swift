import GStreamer
import ISOBMFF

/// A movie while it is written: its tracks, the samples that wait for their place in the file, and
/// where the next byte goes.
final class MovieInProgress {
  /// A sample whose place in the file is not decided yet.
  private struct Sample {
    let buffer: Buffer
    let description: SampleDescription
  }

  /// One track and the times of its samples.
  private struct Track {
    let id: TrackID
    let clock: TrackClock
    var lastDecodeTime: Int64?
  }

  private var writer: MovieWriter
  private var tracks: [Track] = []
  private var interleaver = SampleInterleaver<Sample>(trackCount: 0)
  /// The running time that is the movie's start.
  private let origin: Int64
  /// Owns this object.
  private unowned let output: any MovieOutput
  private(set) var sampleCount = 0

  /// How many bytes the file has.
  var byteCount: UInt64 { writer.position }

  /// - Parameters:
  ///   - origin: the running time of the movie's start, in nanoseconds.
  ///   - output: where the bytes go.
  init(
    container: MovieContainer, metadata: MovieMetadata, origin: Int64, tracks: [TrackDescription],
    output: any MovieOutput
  ) throws {
    writer = MovieWriter(container: container, metadata: metadata)
    self.origin = origin
    self.output = output
    for track in tracks {
      self.tracks.append(
        Track(id: try writer.addTrack(track), clock: TrackClock(timescale: track.timescale)))
    }
    interleaver = SampleInterleaver(trackCount: tracks.count)
  }

  /// Says what a track's samples are, once that is known.
  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    guard tracks.indices.contains(track) else { return }
    try writer.setSampleEntry(entry, of: tracks[track].id)
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
    let description = SampleDescription(
      size: size, decodeTime: decode, duration: UInt32(clamping: duration),
      compositionOffset: Int32(clamping: saturatingDifference(presentation, decode)),
      isSync: timing.isSync, dependency: timing.dependency)
    var run = description
    run.count = timing.count
    interleaver.append(
      Sample(buffer: buffer, description: run), decodeTime: timing.decodeTime, to: index)
    try writeReady()
  }

  /// No samples come for a track up to a running time.
  func pass(_ time: Int64, of track: Int) throws {
    interleaver.pass(time, of: track)
    try writeReady()
  }

  /// No more samples will come for a track.
  func end(_ track: Int) throws {
    interleaver.end(track)
    try writeReady()
  }

  private func writeReady() throws {
    while let item = interleaver.next() {
      if sampleCount == 0 { try output.write(Buffer(writer.header)) }
      try writer.append(item.payload.description, to: tracks[item.track].id)
      sampleCount += 1
      try output.write(item.payload.buffer)
    }
  }

  /// Writes what waits, then the index, so that the file is complete. Throws where no sample was
  /// ever written: there is no movie then.
  ///
  /// - Parameter isUrgent: Has the file on disk when this returns. `filesink` keeps the last bytes
  ///   back until the end of the stream, and drops them where it is stopped at just that moment.
  func finish(isUrgent: Bool = false) throws {
    for track in tracks.indices { try end(track) }
    guard sampleCount > 0 else {
      throw ElementError(
        .mux, "The streams ended before the first frame, so there is nothing to write.")
    }
    let tail = try writer.finish()
    try output.write(Buffer(tail.index))
    let patch = Buffer(tail.patch.bytes)
    if isUrgent { patch.flags.insert(.syncAfter) }
    try output.patch(at: tail.patch.offset, patch)
  }
}

/// Where the bytes of a file go: a seekable pad.
protocol MovieOutput: AnyObject {
  /// Writes behind what has been written.
  func write(_ buffer: Buffer) throws
  /// Writes over what stands at an offset. Nothing follows.
  func patch(at offset: UInt64, _ buffer: Buffer) throws
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
