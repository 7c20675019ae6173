// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// The coded pictures of a sequence so far, for a decoder that takes over in its midst.
struct RepeatableSequence {
  /// References that live too long show themselves in the first pictures of a stream; a sequence
  /// that is longer is not kept.
  private static let maximumCount = 512

  private var buffers: [Buffer]? = []

  /// Begins with the next sequence.
  mutating func begin() { buffers = [] }

  mutating func removeAll() { buffers = nil }

  mutating func add(_ buffer: Buffer) {
    guard let count = buffers?.count, count < Self.maximumCount else {
      buffers = nil
      return
    }
    buffers?.append(buffer)
  }

  /// The pictures, marked as repeated; none where they have not all been kept.
  mutating func take() -> [Buffer] {
    defer { buffers = nil }
    return (buffers ?? []).map { buffer in
      let copy = buffer.copied()
      AccessUnitMeta.markRepeated(copy)
      return copy
    }
  }
}
