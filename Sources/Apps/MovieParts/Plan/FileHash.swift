// SPDX-License-Identifier: MPL-2.0

internal import Crypto
internal import Glibc

/// SHA-256 of files and bytes, as hexadecimal digits.
package enum FileHash {
  /// Returns the hash of these bytes.
  package static func hash(of bytes: [UInt8]) -> String {
    var hasher = SHA256()
    bytes.withUnsafeBytes { hasher.update(bufferPointer: $0) }
    return text(hasher)
  }

  /// Returns the hash of a file.
  ///
  /// - Throws: a ``PartError`` if it cannot be read.
  package static func hash(ofFile path: String) throws(PartError) -> String {
    let file = try opened(path)
    defer { close(file) }
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL)
    var hasher = SHA256()
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      guard count > 0 else { return text(hasher) }
      chunk.withUnsafeBytes { hasher.update(bufferPointer: .init(rebasing: $0[..<count])) }
    }
  }

  /// Returns the hash of a number of blocks that are spread evenly over a file, the first and the
  /// last bytes included.
  ///
  /// - Throws: a ``PartError`` if it cannot be read.
  package static func sample(
    ofFile path: String, size: Int, blocks: Int, blockSize: Int
  ) throws(PartError) -> String {
    let file = try opened(path)
    defer { close(file) }
    var hasher = SHA256()
    var block = [UInt8](repeating: 0, count: blockSize)
    let last = max(0, size - blockSize)
    for number in 0..<max(1, blocks) {
      let place = blocks > 1 ? last / (blocks - 1) * number : 0
      let offset = number == blocks - 1 ? last : place
      var count = 0
      while count < blockSize {
        let start = count
        let part = block.withUnsafeMutableBytes {
          pread(file, $0.baseAddress.map { $0 + start }, $0.count - start, off_t(offset + start))
        }
        if part < 0, errno == EINTR { continue }
        guard part >= 0 else { throw failure(path) }
        guard part > 0 else { break }
        count += part
      }
      block.withUnsafeBytes { hasher.update(bufferPointer: .init(rebasing: $0[..<count])) }
    }
    return text(hasher)
  }

  private static func opened(_ path: String) throws(PartError) -> Int32 {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { throw failure(path) }
    return file
  }

  private static func failure(_ path: String) -> PartError {
    PartError(
      errno == ENOENT || errno == EACCES ? .final : .repeatable,
      "'\(path)' cannot be read: \(String(cString: strerror(errno)))")
  }

  private static func text(_ hasher: SHA256) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in hasher.finalize() {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }
}
