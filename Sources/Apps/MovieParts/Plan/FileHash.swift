// SPDX-License-Identifier: MPL-2.0

internal import CCrypto
internal import GStreamer
internal import Glibc
internal import StereoVideo

/// SHA-256 of files and bytes, as hexadecimal digits.
package enum FileHash {
  /// Returns the hash of these bytes.
  ///
  /// - Throws: a ``PartError`` if libcrypto fails.
  package static func hash(of bytes: [UInt8]) throws(PartError) -> String {
    var hasher = try SHA256Hasher()
    bytes.withUnsafeBytes { hasher.update($0) }
    return hasher.text()
  }

  /// Returns the hash of a file.
  ///
  /// - Throws: a ``PartError`` if it cannot be read.
  package static func hash(ofFile path: String) throws(PartError) -> String {
    let file = try opened(path)
    defer { close(file) }
    posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL)
    var hasher = try SHA256Hasher()
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      guard count > 0 else { return hasher.text() }
      chunk.withUnsafeBytes { hasher.update(.init(rebasing: $0[..<count])) }
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
    var hasher = try SHA256Hasher()
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
      block.withUnsafeBytes { hasher.update(.init(rebasing: $0[..<count])) }
    }
    return hasher.text()
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
}

/// The hash of a file that is computed in another thread.
struct PendingHash: Sendable {
  private let result = Monitor<Result<String, PartError>?>(nil)

  /// Begins to read the file.
  init(ofFile path: String) {
    Blocking.start { [result] in
      let hash = Result { () throws(PartError) in try FileHash.hash(ofFile: path) }
      result.change { $0 = hash }
    }
  }

  /// Waits for the hash.
  ///
  /// - Throws: a ``PartError`` if the file cannot be read.
  func value() throws(PartError) -> String { try result.wait { $0 }.get() }
}

/// SHA-256 of bytes that come in pieces, by libcrypto.
private struct SHA256Hasher: ~Copyable {
  private let context: OpaquePointer

  /// - Throws: a ``PartError`` if libcrypto has no SHA-256, as with a broken configuration.
  init() throws(PartError) {
    guard let context = EVP_MD_CTX_new() else { throw Self.failure }
    guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      EVP_MD_CTX_free(context)
      throw Self.failure
    }
    self.context = context
  }

  private static var failure: PartError {
    PartError(
      .final, "OpenSSL's libcrypto refuses to compute SHA-256",
      help: "openssl dgst -sha256 /dev/null says why")
  }

  deinit { EVP_MD_CTX_free(context) }

  mutating func update(_ bytes: UnsafeRawBufferPointer) {
    _ = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
  }

  /// Returns the hash of all bytes so far, in hexadecimal digits.
  consuming func text() -> String {
    var hash = [UInt8](repeating: 0, count: 32)
    _ = EVP_DigestFinal_ex(context, &hash, nil)
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: hash.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }
}
