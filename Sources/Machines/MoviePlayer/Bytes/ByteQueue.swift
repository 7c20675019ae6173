// SPDX-License-Identifier: MPL-2.0

/// Bytes of a stream that have come and are still needed, as references to the chunks they came in.
struct ByteQueue {
  private struct Entry {
    let offset: UInt64
    let end: UInt64
    /// Nil where it is needed no more.
    var slice: ByteSlice?
  }

  /// To how many chunks a sample refers; more are copied into one.
  private static let maximumReferences = 4

  private var entries: [Entry] = []
  private var head = 0
  /// Where the next bytes belong, from the file's start.
  private(set) var end: UInt64

  init(at offset: UInt64 = 0) {
    end = offset
  }

  /// Where the bytes begin that are here.
  var start: UInt64 { head < entries.count ? entries[head].offset : end }

  mutating func append(_ slice: ByteSlice) {
    let (next, overflow) = end.addingReportingOverflow(UInt64(slice.count))
    guard slice.count > 0, !overflow else { return }
    entries.append(Entry(offset: end, end: next, slice: slice))
    end = next
  }

  /// Lets go of what lies before an offset.
  mutating func discard(before offset: UInt64) {
    let old = head
    while head < entries.count, entries[head].end <= offset {
      entries[head].slice = nil
      head += 1
    }
    guard head > old else { return }
    if head == entries.count {
      entries.removeAll(keepingCapacity: true)
      head = 0
    } else if head > 64, head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
  }

  /// Whether all of these bytes are here.
  func has(_ offset: UInt64, _ size: UInt64) -> Bool {
    let (end, overflow) = offset.addingReportingOverflow(size)
    return !overflow && offset >= start && end <= self.end
  }

  /// The index of the entry with the byte at an offset that is here.
  private func entry(at offset: UInt64) -> Int {
    var low = head
    var high = entries.count
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// These bytes; nil where they are not all here, or there are none.
  func part(_ offset: UInt64, _ size: Int) -> SampleData? {
    guard size > 0, has(offset, UInt64(size)) else { return nil }
    var parts: [ByteSlice] = []
    var rest = size
    var index = entry(at: offset)
    guard entries.indices.contains(index) else { return nil }
    var place = Int(clamping: offset - entries[index].offset)
    while rest > 0, index < entries.count, let slice = entries[index].slice {
      let count = min(rest, slice.count - place)
      guard let part = slice.part(place..<place + count) else { return nil }
      if count == size { return SampleData(part) }
      parts.append(part)
      rest -= count
      place = 0
      index += 1
    }
    let data = SampleData(parts)
    return parts.count > Self.maximumReferences ? data.map { SampleData($0.joined()) } : data
  }

  /// The bytes that are here from an offset on, as far as they lie in one chunk; nil where there
  /// are none.
  func bytes(from offset: UInt64) -> ByteSlice? {
    guard offset >= start, offset < end else { return nil }
    let index = entry(at: offset)
    guard entries.indices.contains(index), let slice = entries[index].slice else { return nil }
    return slice.part(Int(clamping: offset - entries[index].offset)..<slice.count)
  }
}

/// Memory that a caller has read into, and that samples are parts of.
///
/// A player looks at the bytes and refers to them, but never copies or keeps more of them than it
/// needs. What it gives out are parts of these objects again, so that a caller finds its own
/// memory in them:
///
/// ```swift
/// if let file = slice.chunk as? MappedFile { file.send(slice.range) }
/// ```
public protocol ByteChunk: AnyObject, Sendable {
  /// The same memory with the same content as long as the object lives.
  var bytes: UnsafeRawBufferPointer { get }
}

/// Bytes that the player has made itself, or that a caller gives as an array.
public final class OwnedBytes: ByteChunk {
  // Written before anybody else sees it, and freed when nobody does any more.
  nonisolated(unsafe) public let bytes: UnsafeRawBufferPointer

  /// - Parameter fill: writes all of the bytes, which are unset before.
  init<Failure>(
    count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) {
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: max(count, 0), alignment: 16)
    do throws(Failure) {
      try fill(memory)
    } catch {
      memory.deallocate()
      throw error
    }
    bytes = UnsafeRawBufferPointer(memory)
  }

  /// A copy of an array's bytes.
  public convenience init(_ array: [UInt8]) {
    self.init(count: array.count) { $0.copyBytes(from: array) }
  }

  deinit { bytes.deallocate() }
}

/// A part of a chunk of memory.
public struct ByteSlice: Sendable {
  /// What the bytes lie in.
  public let chunk: any ByteChunk
  /// Where they lie in it; within ``ByteChunk/bytes``.
  public let range: Range<Int>

  /// All bytes of a chunk.
  public init(_ chunk: any ByteChunk) {
    self.chunk = chunk
    range = 0..<chunk.bytes.count
  }

  /// A copy of an array's bytes.
  public init(_ array: [UInt8]) {
    self.init(OwnedBytes(array))
  }

  private init(chunk: any ByteChunk, range: Range<Int>) {
    self.chunk = chunk
    self.range = range
  }

  /// The bytes.
  public var count: Int { range.count }

  /// Whether these are all bytes of the chunk.
  public var isWhole: Bool { range == 0..<chunk.bytes.count }

  /// A part of these bytes, counted from the slice's own start; nil outside.
  public func part(_ part: Range<Int>) -> ByteSlice? {
    guard part.lowerBound >= 0, part.upperBound <= count else { return nil }
    return ByteSlice(
      chunk: chunk, range: range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
  }

  /// Calls `body` with the bytes, which must not be kept.
  public func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(chunk) {} }
    return try body(UnsafeRawBufferPointer(rebasing: chunk.bytes[range]))
  }

  /// Calls `body` with the bytes, which must not be kept.
  func withSpan<Result, Failure>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withBytes { (bytes) throws(Failure) in try body(RawSpan(_unsafeBytes: bytes)) }
  }
}
