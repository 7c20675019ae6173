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

/// The bytes of a file on their way to its output: small samples that come together go there in one
/// buffer, since each buffer has its price; large ones as they are, since copies have one too.
final class JoinedOutput {
  /// A sample of so many bytes is a large one.
  private static let largeSize = 1 << 13
  /// Small samples of so many bytes together go on.
  private static let joinedSize = 1 << 16

  private var parts: [Buffer] = []
  private var size = 0
  private var flags: BufferFlags = []
  /// Owns this object.
  private unowned let output: any MovieOutput

  init(_ output: any MovieOutput) {
    self.output = output
  }

  /// Writes a sample behind what has been written, now or with others until `flush`.
  func write(sample: Buffer, _ flags: BufferFlags = []) throws {
    let sampleSize = sample.size
    if sampleSize >= Self.largeSize { try flush() }
    parts.append(sample)
    size += sampleSize
    self.flags.formUnion(flags)
    if sampleSize >= Self.largeSize || size >= Self.joinedSize { try flush() }
  }

  /// Writes the samples that wait for others.
  func flush() throws {
    guard let first = parts.first else { return }
    let content = parts.count == 1 ? first.asFileContent : try joined()
    content.flags.formUnion(flags)
    parts.removeAll(keepingCapacity: true)
    size = 0
    flags = []
    try output.write(content)
  }

  private func joined() throws -> Buffer {
    var missing = size
    let joined = Buffer(size: size) { bytes in
      for part in parts { missing -= part.copyBytes(to: .init(rebasing: bytes.suffix(missing))) }
    }
    guard let joined, missing == 0 else {
      throw ElementError(.read, "The samples of a buffer could not be copied.")
    }
    return joined
  }

  /// Writes what is no sample.
  func write(_ buffer: Buffer) throws {
    try flush()
    try output.write(buffer)
  }

  /// Writes over what stands at an offset. Nothing follows.
  func patch(at offset: UInt64, _ buffer: Buffer) throws {
    try flush()
    try output.patch(at: offset, buffer)
  }

  /// Tells what everybody needs who begins to read in the middle: an initialization segment.
  func announce(streamHeader: Buffer) throws {
    try flush()
    try output.announce(streamHeader: streamHeader)
  }

  /// Writes what completes a movie: its index, and the size of what it has the places of.
  func write(_ tail: MovieTail, isUrgent: Bool) throws {
    try write(Buffer(tail.index))
    let patch = Buffer(tail.patch.bytes)
    if isUrgent { patch.flags.insert(.syncAfter) }
    try self.patch(at: tail.patch.offset, patch)
  }
}

extension Buffer {
  /// This buffer, or a copy, as bytes of a file, which have no times.
  fileprivate var asFileContent: Buffer {
    let content = writable()
    content.pts = nil
    content.dts = nil
    content.duration = nil
    return content
  }
}

/// A file whose index comes at its end: tracks in chunks of half a second.
final class ProgressiveMovieFile: MovieFile {
  private var writer: MovieWriter
  private let tracks: [TrackID]
  private var interleaver: SampleInterleaver<PendingSample>
  private var hasHeader = false
  private let output: JoinedOutput

  var byteCount: UInt64 { writer.position }

  init(
    container: MovieContainer, metadata: MovieMetadata, tracks: [TrackDescription],
    output: JoinedOutput
  ) throws {
    var writer = MovieWriter(container: container, metadata: metadata)
    self.tracks = try tracks.map { try writer.addTrack($0) }
    self.writer = writer
    interleaver = SampleInterleaver(trackCount: tracks.count)
    self.output = output
  }

  func setSampleEntry(_ entry: SampleEntry, of track: Int) throws {
    try writer.setSampleEntry(entry, of: tracks[track])
  }

  func setMetadata(_ metadata: MovieMetadata) { writer.metadata = metadata }

  func append(_ sample: PendingSample, to track: Int) throws {
    interleaver.append(sample, decodeTime: sample.decodeTime, to: track)
    try writeReady()
  }

  func pass(_ time: Int64, of track: Int) throws {
    interleaver.pass(time, of: track)
    try writeReady()
  }

  func end(_ track: Int) throws {
    interleaver.end(track)
    try writeReady()
  }

  func finish(isUrgent: Bool) throws {
    try output.write(try writer.finish(), isUrgent: isUrgent)
  }

  private func writeReady() throws {
    while let item = interleaver.next() {
      if !hasHeader {
        try output.write(Buffer(writer.header))
        hasHeader = true
      }
      try writer.append(item.payload.description, to: tracks[item.track])
      try output.write(sample: item.payload.buffer)
    }
  }
}
