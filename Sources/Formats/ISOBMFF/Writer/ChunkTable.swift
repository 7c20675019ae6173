// SPDX-License-Identifier: MPL-2.0

/// Where the samples of a track lie: runs of neighbouring samples, as `stco` and `stsc` hold them.
struct ChunkTable: Sendable {
  struct Run: Sendable {
    var firstChunk: UInt32
    var samplesPerChunk: UInt32
  }

  /// A larger chunk is ended, so that a reader that adds up the sizes in a chunk stays quick.
  private static let maximumChunkSize: UInt64 = 1 << 20

  private(set) var offsets: [UInt64] = []
  private(set) var runs: [Run] = []
  private var openSamples: UInt32 = 0
  private var openSize: UInt64 = 0

  /// Adds samples that begin at a file offset; `continues` says that the track's previous sample
  /// ends there.
  mutating func append(samples: UInt32, size: UInt64, at offset: UInt64, continues: Bool) {
    if !continues || openSamples == 0 || openSize >= Self.maximumChunkSize {
      close()
      offsets.append(offset)
    }
    openSamples &+= samples
    openSize &+= size
  }

  /// Ends the open chunk, if there is one.
  mutating func close() {
    guard openSamples > 0 else { return }
    if runs.last?.samplesPerChunk != openSamples {
      runs.append(
        Run(firstChunk: UInt32(clamping: offsets.count), samplesPerChunk: openSamples))
    }
    openSamples = 0
    openSize = 0
  }
}
