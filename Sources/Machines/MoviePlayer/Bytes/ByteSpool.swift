// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps bytes in a temporary file instead of in memory: for chunks that a player has to hold
/// before it knows what they are (``MoviePlayer/heldByteCount``).
///
/// The file has no name, and is gone with the last of its bytes.
public struct ByteSpool: ~Copyable, Sendable {
  /// Why bytes cannot be kept.
  public enum Failure: Error, Sendable {
    /// No file can be made or written: the number of the system's error.
    case system(Int32)
    /// More bytes than these are not kept.
    case tooLarge(UInt64)
  }

  /// A part of the file that is mapped into memory.
  private final class Block: ByteChunk {
    // What slices refer to has been written before they are given out, and is not written again.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
    /// Where it lies in the file.
    let offset: Int

    init(_ file: Int32, offset: Int, size: Int) throws(Failure) {
      guard ftruncate(file, off_t(offset + size)) == 0,
        let start = mmap(nil, size, PROT_READ, MAP_SHARED, file, off_t(offset)),
        start != MAP_FAILED
      else { throw .system(errno) }
      bytes = UnsafeRawBufferPointer(start: start, count: size)
      self.offset = offset
    }

    deinit { munmap(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count) }
  }

  /// A multiple of all page sizes.
  private static let blockSize = 1 << 24

  /// So many bytes are kept at the most.
  public let limit: UInt64
  private let file: Int32
  private var block: Block?
  /// How much of the block has been written.
  private var filled = 0

  /// - Parameter limit: how many bytes are kept at the most.
  public init(limit: UInt64 = 1 << 36) throws(Failure) {
    self.limit = limit
    let folders = [getenv("TMPDIR").map { String(cString: $0) }, "/var/tmp", "/tmp"]
    for folder in folders.compactMap(\.self) {
      var path = Array("\(folder)/movie-XXXXXX".utf8CString)
      let file = mkstemp(&path)
      guard file >= 0 else { continue }
      unlink(path)
      self.file = file
      return
    }
    throw .system(errno)
  }

  deinit { close(file) }

  /// Bytes like these that lie in the file.
  public mutating func append(_ slice: ByteSlice) throws(Failure) -> ByteSlice {
    let block = try block(for: slice.count)
    try slice.withBytes { (bytes) throws(Failure) in
      var rest = bytes
      while !rest.isEmpty {
        let place = off_t(block.offset + filled + bytes.count - rest.count)
        let written = pwrite(file, rest.baseAddress, rest.count, place)
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw .system(written < 0 ? errno : ENOSPC) }
        rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
      }
    }
    defer { filled += slice.count }
    return ByteSlice(block).part(filled..<filled + slice.count) ?? slice
  }

  /// The block that has room for so many bytes.
  private mutating func block(for count: Int) throws(Failure) -> Block {
    if let block, block.bytes.count - filled >= count { return block }
    let offset = block.map { $0.offset + $0.bytes.count } ?? 0
    let size = (count / Self.blockSize + 1) * Self.blockSize
    guard UInt64(offset) + UInt64(size) <= limit else { throw .tooLarge(limit) }
    let new = try Block(file, offset: offset, size: size)
    (block, filled) = (new, 0)
    return new
  }
}

extension ByteSpool.Failure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .system(let number): String(cString: strerror(number))
    case .tooLarge(let limit): "more than \(limit >> 20) MiB"
    }
  }
}
