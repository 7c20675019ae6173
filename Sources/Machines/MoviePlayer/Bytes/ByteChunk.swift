// SPDX-License-Identifier: MPL-2.0

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
