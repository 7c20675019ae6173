// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// A sample that waits for its place in the file.
struct PendingSample {
  let buffer: Buffer
  /// With times in units of the track.
  let description: SampleDescription
  /// Running times, in nanoseconds.
  let decodeTime: Int64
  let presentationTime: Int64
}

/// How samples become a file: progressive or in fragments. Tracks are numbered from 0.
protocol MovieFile: AnyObject {
  /// How many bytes the file has so far.
  var byteCount: UInt64 { get }
  /// Says what a track's samples are, once that is known, and again where that changes in a file whose
  /// header-update-mode is `caps`: from the next sample on.
  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws
  /// Says what the movie is, anew: as far as that has not been written.
  func setMetadata(_ metadata: MovieMetadata)
  /// Adds the next sample of a track, in decoding order; writes what has its place in the file now.
  func append(_ sample: PendingSample, to track: Int) throws
  /// No samples come for a track up to a running time.
  func pass(_ time: Int64, of track: Int) throws
  /// No more samples will come for a track.
  func end(_ track: Int) throws
  /// Writes what waits, and what completes the file.
  ///
  /// - Parameter isUrgent: has the file on disk when this returns. `filesink` keeps the last bytes
  ///   back until the end of the stream, and drops them where it is stopped at just that moment.
  func finish(isUrgent: Bool) throws
}

/// Where the bytes of a file go: a pad.
protocol MovieOutput: AnyObject {
  /// Writes behind what has been written.
  func write(_ buffer: Buffer) throws
  /// Writes over what stands at an offset. Nothing follows.
  func patch(at offset: UInt64, _ buffer: Buffer) throws
  /// Tells what everybody needs who begins to read in the middle: an initialization segment.
  func announce(streamHeader: Buffer) throws
}
