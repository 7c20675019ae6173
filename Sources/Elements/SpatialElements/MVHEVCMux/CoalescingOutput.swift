// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Sends the bytes of a file downstream. Consecutive small samples are joined into one buffer,
/// since each buffer has a cost; large samples are sent as they are, since copying has one, too.
final class CoalescingOutput {
  /// Smallest size of a sample that is sent without copying, in bytes.
  private static let largeSize = 1 << 13
  /// Total size at which joined samples are sent, in bytes.
  private static let joinedSize = 1 << 16

  private var parts: [Buffer] = []
  private var size = 0
  private var flags: BufferFlags = []
  /// The element whose source pad the bytes go to. Its streaming state owns this object.
  private unowned let element: MVHEVCMux

  init(_ element: MVHEVCMux) {
    self.element = element
  }

  /// Writes a sample after all earlier bytes, at once or together with later samples, at the latest
  /// in `flush`.
  func write(sample: Buffer, _ flags: BufferFlags = []) throws {
    let sampleSize = sample.size
    if sampleSize >= Self.largeSize { try flush() }
    parts.append(sample)
    size += sampleSize
    self.flags.formUnion(flags)
    if sampleSize >= Self.largeSize || size >= Self.joinedSize { try flush() }
  }

  /// Writes the samples that have been collected.
  func flush() throws {
    guard let first = parts.first else { return }
    let content = parts.count == 1 ? first.withoutTimestamps : try joined()
    content.flags.formUnion(flags)
    parts.removeAll(keepingCapacity: true)
    size = 0
    flags = []
    try element.finish(content)
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

  /// Writes a buffer that is not a sample.
  func write(_ buffer: Buffer) throws {
    try flush()
    try element.finish(buffer)
  }

  /// Overwrites the file at an offset in bytes. Nothing may be written afterwards.
  func patch(at offset: UInt64, _ buffer: Buffer) throws {
    try flush()
    element.updateSegment(Segment(startInBytes: offset))
    try element.finish(buffer)
  }

  /// Puts the initialization segment in the source pad's caps, for clients that start in the middle
  /// of the stream.
  func announce(streamHeader: Buffer) throws {
    try flush()
    element.announce(streamHeader: streamHeader)
  }

  /// Completes a movie: writes its index, and patches the size of its media data.
  func write(_ tail: MovieTail, isUrgent: Bool) throws {
    try write(Buffer(tail.index))
    let patch = Buffer(tail.patch.bytes)
    if isUrgent { patch.flags.insert(.syncAfter) }
    try self.patch(at: tail.patch.offset, patch)
  }
}

extension Buffer {
  /// This buffer, or a copy, without timestamps: it is only bytes of a file.
  fileprivate var withoutTimestamps: Buffer {
    let content = writable()
    content.pts = nil
    content.dts = nil
    content.duration = nil
    return content
  }
}
