// SPDX-License-Identifier: MPL-2.0

/// The bytes of a stream that have arrived and are still needed, as references to the chunks they
/// arrived in.
struct ByteQueue {
  private struct Entry {
    let offset: UInt64
    let end: UInt64
    /// Nil once discarded.
    var slice: ByteSlice?
  }

  /// Maximum number of chunks that a sample refers to; more are copied into one.
  private static let maximumReferences = 4

  private var entries: [Entry] = []
  private var head = 0
  /// File offset of the next bytes to arrive.
  private(set) var end: UInt64

  init(at offset: UInt64 = 0) {
    end = offset
  }

  /// File offset of the first byte held.
  var start: UInt64 { head < entries.count ? entries[head].offset : end }

  mutating func append(_ slice: ByteSlice) {
    let (next, overflow) = end.addingReportingOverflow(UInt64(slice.count))
    guard slice.count > 0, !overflow else { return }
    entries.append(Entry(offset: end, end: next, slice: slice))
    end = next
  }

  /// Discards the chunks that end at or before an offset.
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

  /// Whether all bytes of a range are held.
  func has(_ offset: UInt64, _ size: UInt64) -> Bool {
    let (end, overflow) = offset.addingReportingOverflow(size)
    return !overflow && offset >= start && end <= self.end
  }

  /// Returns the index of the entry that contains a held byte.
  private func entry(at offset: UInt64) -> Int {
    var low = head
    var high = entries.count
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].end <= offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Returns the bytes of a range; nil if it is empty or not held entirely.
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

  /// Returns the bytes from an offset to the end of their chunk; nil if none are held.
  func bytes(from offset: UInt64) -> ByteSlice? {
    guard offset >= start, offset < end else { return nil }
    let index = entry(at: offset)
    guard entries.indices.contains(index), let slice = entries[index].slice else { return nil }
    return slice.part(Int(clamping: offset - entries[index].offset)..<slice.count)
  }
}

/// Memory that the caller has read into and that samples refer to.
///
/// The player parses the bytes and refers to them; it neither copies nor retains more of them than
/// it needs. The slices it returns are parts of the same objects, so a caller can recognise its own
/// memory:
///
/// ```swift
/// if let file = slice.chunk as? MappedFile { file.send(slice.range) }
/// ```
public protocol ByteChunk: AnyObject, Sendable {
  /// The memory, whose address and content stay the same during the lifetime of the object.
  var bytes: UnsafeRawBufferPointer { get }
}

/// Bytes that the player has produced, or that the caller passes as an array.
public final class OwnedBytes: ByteChunk {
  // Written before they are shared; freed when no reference is left.
  /// The bytes, at an address aligned to 16.
  nonisolated(unsafe) public let bytes: UnsafeRawBufferPointer

  /// - Parameter fill: Initializes all of the bytes.
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

  /// Creates a copy of an array's bytes.
  public convenience init(_ array: [UInt8]) {
    self.init(count: array.count) { $0.copyBytes(from: array) }
  }

  deinit { bytes.deallocate() }
}

/// A part of a chunk of memory.
public struct ByteSlice: Sendable {
  /// The chunk that contains the bytes.
  public let chunk: any ByteChunk
  /// The byte range within the chunk, inside ``ByteChunk/bytes``.
  public let range: Range<Int>

  /// Creates a slice of all bytes of a chunk.
  public init(_ chunk: any ByteChunk) {
    self.chunk = chunk
    range = 0..<chunk.bytes.count
  }

  /// Creates a slice of a copy of an array's bytes.
  public init(_ array: [UInt8]) {
    self.init(OwnedBytes(array))
  }

  private init(chunk: any ByteChunk, range: Range<Int>) {
    self.chunk = chunk
    self.range = range
  }

  /// The number of bytes.
  public var count: Int { range.count }

  /// Whether the slice covers the whole chunk.
  public var isWhole: Bool { range == 0..<chunk.bytes.count }

  /// Returns a part of the slice, in offsets from the slice's own start; nil if out of range.
  public func part(_ part: Range<Int>) -> ByteSlice? {
    guard part.lowerBound >= 0, part.upperBound <= count else { return nil }
    return ByteSlice(
      chunk: chunk, range: range.lowerBound + part.lowerBound..<range.lowerBound + part.upperBound)
  }

  /// Calls `body` with the bytes, which are valid only during the call.
  public func withBytes<Result, Failure>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(chunk) {} }
    return try body(UnsafeRawBufferPointer(rebasing: chunk.bytes[range]))
  }

  /// Calls `body` with the bytes, which are valid only during the call.
  func withSpan<Result, Failure>(
    _ body: (RawSpan) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try withBytes { (bytes) throws(Failure) in try body(RawSpan(_unsafeBytes: bytes)) }
  }
}
