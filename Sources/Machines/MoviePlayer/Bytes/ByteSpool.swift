// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Keeps bytes in a temporary file instead of in memory, for chunks that a player retains until the
/// index arrives (``MoviePlayer/heldByteCount``).
///
/// The file has no name; it disappears with the last slice that refers to it.
public struct ByteSpool: ~Copyable, Sendable {
  /// The reason why bytes cannot be stored.
  public enum Failure: Error, Sendable {
    /// The file cannot be created or written: the system's `errno`.
    case system(Int32)
    /// The limit, in bytes, would be exceeded.
    case tooLarge(UInt64)
  }

  /// A part of the file, mapped into memory.
  private final class Block: ByteChunk {
    // The bytes that a slice refers to are written before it is returned, and never again.
    nonisolated(unsafe) let bytes: UnsafeRawBufferPointer
    /// Offset in the file, in bytes.
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

  /// Maximum size of the file, in bytes.
  public let limit: UInt64
  private let file: Int32
  private var block: Block?
  /// Number of bytes of the block in use.
  private var filled = 0

  /// Creates an empty file in `TMPDIR`, `/var/tmp` or `/tmp`.
  ///
  /// - Parameter limit: Maximum size of the file, in bytes.
  public init(limit: UInt64 = 1 << 36) throws(Failure) {
    self.init(try Self.emptyFile(), limit)
  }

  // In two steps, since the compiler of Swift 6.2 fails at an initializer of this type that throws.
  private init(_ file: Int32, _ limit: UInt64) {
    self.file = file
    self.limit = limit
  }

  /// Returns the descriptor of a new file without a name.
  private static func emptyFile() throws(Failure) -> Int32 {
    let folders = [getenv("TMPDIR").map { String(cString: $0) }, "/var/tmp", "/tmp"]
    for folder in folders.compactMap(\.self) {
      var path = Array("\(folder)/movie-XXXXXX".utf8CString)
      let file = mkstemp(&path)
      guard file >= 0 else { continue }
      unlink(path)
      return file
    }
    throw .system(errno)
  }

  deinit { close(file) }

  /// Writes bytes to the file and returns a slice of the mapped copy.
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

  /// Returns the current block if `count` bytes fit into it, else a new one.
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
  /// The reason for people, for example the system's error message.
  public var description: String {
    switch self {
    case .system(let number): String(cString: strerror(number))
    case .tooLarge(let limit): "more than \(limit >> 20) MiB"
    }
  }
}
