// SPDX-License-Identifier: MPL-2.0

internal import ISOBMFF

extension RenditionTrack {
  /// A part of a segment with an index of its own (`moof`).
  struct Chunk: Sendable {
    let fragment: Fragment
    let payloads: [Payload]
    /// Of its first sample, in nanoseconds.
    let time: Int64
    let duration: UInt64

    var blocks: [Output.Block] {
      [.bytes(fragment.header)] + payloads.map { .payload($0) }
    }

    var startsWithSync: Bool { fragment.parts.first?.startsWithSync ?? false }
  }

  /// The keyframes of a segment as a playlist of pictures lists them, each with its bytes: those of its
  /// chunk without what stands before the index.
  static func keyframes(
    of segment: MediaSegment, in chunks: [Chunk]
  ) -> [(entry: MediaSegment, size: UInt64)] {
    guard let start = chunks.first?.fragment.offset else { return [] }
    return chunks.indices.filter { chunks[$0].startsWithSync }.map { index in
      let chunk = chunks[index]
      let prefix = chunk.fragment.indexOffset - chunk.fragment.offset
      let size = chunk.fragment.size - prefix
      var entry = segment
      entry.startsDiscontinuity = segment.startsDiscontinuity && index == 0
      // Shown until the next one.
      entry.duration =
        chunk.duration
        + chunks[(index + 1)...].prefix { !$0.startsWithSync }.reduce(0) { $0 + $1.duration }
      entry.programDateTime = segment.programDateTime.map { $0 &+ (chunk.time &- chunks[0].time) }
      entry.byteRange = ByteRange(length: size, offset: chunk.fragment.offset - start + prefix)
      return (entry, size)
    }
  }
}
