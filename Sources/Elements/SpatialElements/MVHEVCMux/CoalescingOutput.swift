// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// The bytes of a file on their way to its output: small samples that come together go there in one
/// buffer, since each buffer has its price; large ones as they are, since copies have one too.
final class CoalescingOutput {
  /// A sample of so many bytes is a large one.
  private static let largeSize = 1 << 13
  /// Small samples of so many bytes together go on.
  private static let joinedSize = 1 << 16

  private var parts: [Buffer] = []
  private var size = 0
  private var flags: BufferFlags = []
  /// The element whose source pad the bytes go to. Its streaming state owns this object.
  private unowned let element: MVHEVCMux

  init(_ element: MVHEVCMux) {
    self.element = element
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

  /// Writes what is no sample.
  func write(_ buffer: Buffer) throws {
    try flush()
    try element.finish(buffer)
  }

  /// Writes over what stands at an offset. Nothing follows.
  func patch(at offset: UInt64, _ buffer: Buffer) throws {
    try flush()
    var segment = Segment(.bytes)
    segment.start = offset
    element.updateSegment(segment)
    try element.finish(buffer)
  }

  /// Tells what everybody needs who begins to read in the middle: an initialization segment.
  func announce(streamHeader: Buffer) throws {
    try flush()
    element.announce(streamHeader: streamHeader)
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
