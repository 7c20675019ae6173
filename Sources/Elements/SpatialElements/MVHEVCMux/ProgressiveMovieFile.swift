// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

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

  override func complete(isUrgent: Bool) throws {
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
