// SPDX-License-Identifier: MPL-2.0

public import GStreamer
public import MoviePlayer

// Samples refer to what was read: what the player takes and gives is memory of buffers.
extension MappedBuffer: ByteChunk {}

extension Sample {
  /// A buffer holds so many blocks of memory; more are merged by copying them.
  private static let maximumPartCount = 16
  /// Copying less than this is cheaper than keeping references.
  private static let smallSize = 4096

  /// The sample as a buffer that refers to the same memory.
  func makeBuffer() -> UniqueBuffer {
    let buffer = makeData()
    (buffer.pts, buffer.dts, buffer.duration) = (presentationTime, decodeTime, duration)
    buffer.flags.formUnion(BufferFlags(flags))
    return buffer
  }

  private func makeData() -> UniqueBuffer {
    if data.partCount == 1, data.first.isWhole, let chunk = data.first.chunk as? MappedBuffer,
      let whole = chunk.buffer.region(offset: 0, size: data.first.count)
    {
      // What else the buffer carries, such as a time code, belongs to its only sample.
      whole.flags.subtract([.discont, .deltaUnit, .droppable, .decodeOnly])
      return whole
    }
    if data.partCount > Self.maximumPartCount
      || data.partCount > 1 && data.byteCount <= Self.smallSize,
      let copy = UniqueBuffer(size: data.byteCount, { data.write(into: $0) })
    {
      return copy
    }
    let buffer = UniqueBuffer()
    buffer.append(data.first)
    for part in data.others { buffer.append(part) }
    return buffer
  }
}

extension UniqueBuffer {
  fileprivate func append(_ part: ByteSlice) {
    if let chunk = part.chunk as? MappedBuffer {
      append(chunk.buffer, offset: part.range.lowerBound, size: part.count)
    } else {
      part.withBytes { append($0, keptBy: part.chunk) }
    }
  }
}

extension BufferFlags {
  fileprivate init(_ flags: Sample.Flags) {
    self = []
    if flags.contains(.discontinuity) { insert(.discont) }
    if flags.contains(.delta) { insert(.deltaUnit) }
    if flags.contains(.droppable) { insert(.droppable) }
    if flags.contains(.decodeOnly) { insert(.decodeOnly) }
  }
}

extension ChunkTimes {
  /// What upstream says of a buffer.
  init(_ buffer: Buffer) {
    self.init()
    presentationTime = buffer.pts
    decodeTime = buffer.dts
    duration = buffer.duration
    let given = buffer.flags
    if given.contains(.discont) { flags.insert(.discontinuity) }
    if given.contains(.deltaUnit) { flags.insert(.delta) }
    if given.contains(.droppable) { flags.insert(.droppable) }
    if given.contains(.decodeOnly) { flags.insert(.decodeOnly) }
  }
}
