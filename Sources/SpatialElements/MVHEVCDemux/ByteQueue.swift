import GStreamer

/// Bytes of a stream that have come and are still needed, as references to the buffers they came
/// in.
struct ByteQueue {
  private struct Chunk {
    let offset: UInt64
    let buffer: Buffer
    let size: Int
    var end: UInt64 { offset + UInt64(size) }
  }

  /// Of how many buffers a part refers; more are copied into one.
  private static let maximumReferences = 4

  private var chunks: [Chunk] = []
  private var head = 0
  /// Where the next bytes belong, from the file's start.
  private(set) var end: UInt64

  init(at offset: UInt64 = 0) {
    end = offset
  }

  /// Where the bytes begin that are here.
  var start: UInt64 { head < chunks.count ? chunks[head].offset : end }

  mutating func append(_ buffer: Buffer) {
    let size = buffer.size
    let (next, overflow) = end.addingReportingOverflow(UInt64(clamping: size))
    guard size > 0, !overflow else { return }
    chunks.append(Chunk(offset: end, buffer: buffer, size: size))
    end = next
  }

  /// Lets go of what lies before an offset.
  mutating func discard(before offset: UInt64) {
    while head < chunks.count, chunks[head].end <= offset { head += 1 }
    if head > 64, head * 2 > chunks.count {
      chunks.removeFirst(head)
      head = 0
    }
  }

  /// Whether all of these bytes are here.
  func has(_ offset: UInt64, _ size: UInt64) -> Bool {
    let (end, overflow) = offset.addingReportingOverflow(size)
    return !overflow && offset >= start && end <= self.end
  }

  /// The index of the chunk with the byte at an offset that is here.
  private func chunk(at offset: UInt64) -> Int {
    var low = head
    var high = chunks.count
    while low < high {
      let middle = low + (high - low) / 2
      if chunks[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// These bytes; nil where they are not all here.
  func part(_ offset: UInt64, _ size: Int) -> Buffer? {
    guard size >= 0, has(offset, UInt64(size)) else { return nil }
    let first = chunk(at: offset)
    guard chunks.indices.contains(first) else { return size == 0 ? Buffer() : nil }
    let distance = Int(clamping: offset - chunks[first].offset)
    if size <= chunks[first].size - distance {
      return chunks[first].buffer.memory(offset: distance, size: size)
    }
    return joined(from: first, distance, size)
  }

  private func joined(from first: Int, _ distance: Int, _ size: Int) -> Buffer? {
    let last = chunk(at: chunks[first].offset + UInt64(distance) + UInt64(size) - 1)
    var pieces: [(buffer: Buffer, offset: Int, size: Int)] = []
    var rest = size
    var start = distance
    for chunk in chunks[first...min(last, chunks.count - 1)] {
      let count = min(rest, chunk.size - start)
      pieces.append((chunk.buffer, start, count))
      rest -= count
      start = 0
    }
    if pieces.count <= Self.maximumReferences {
      let result = Buffer()
      for piece in pieces { result.append(piece.buffer, offset: piece.offset, size: piece.size) }
      return result
    }
    guard let result = Buffer(size: size) else { return nil }
    try? result.withMutableBytes { output in
      var position = 0
      for piece in pieces {
        try piece.buffer.withBytes { bytes in
          let source = UnsafeRawBufferPointer(
            rebasing: bytes[piece.offset..<piece.offset + piece.size])
          UnsafeMutableRawBufferPointer(rebasing: output[position..<position + piece.size])
            .copyMemory(from: source)
        }
        position += piece.size
      }
    }
    return result
  }

  /// Calls `body` with the bytes that are here of a range, as far as they lie in one buffer; false
  /// where there are none.
  func withBytes(
    at offset: UInt64, _ body: (UnsafeRawBufferPointer) throws -> Void
  ) throws -> Bool {
    guard offset >= start, offset < end else { return false }
    let index = chunk(at: offset)
    guard chunks.indices.contains(index) else { return false }
    let distance = Int(clamping: offset - chunks[index].offset)
    try chunks[index].buffer.withBytes { bytes in
      try body(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(distance)))
    }
    return true
  }
}
