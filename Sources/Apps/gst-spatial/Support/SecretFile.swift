// SPDX-License-Identifier: MPL-2.0

import Glibc

/// A small file with what must not stand on a command line: headers or a token.
struct SecretFile {
  /// The maximum size in bytes.
  private static let limit = 32 * 1024

  let text: String
  /// Changes if the file is replaced or written to.
  let tag: [Int]

  /// Reads the file, unless it still has a tag: then it returns nil.
  ///
  /// - Throws: a ``Problem``.
  init?(_ path: String, unless known: [Int] = []) throws(Problem) {
    // Do not wait for the writer of a pipe.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw .system }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw Problem(description: "it is not a regular file")
    }
    guard status.st_size <= Self.limit else {
      throw Problem(description: "it has \(status.st_size) bytes; the limit is \(Self.limit)")
    }
    tag = [
      Int(status.st_ino), status.st_mtim.tv_sec, status.st_mtim.tv_nsec, Int(status.st_size),
    ]
    guard tag != known else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.limit)
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw .system }
    text = String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Why a file cannot be used.
  struct Problem: Error, CustomStringConvertible {
    let description: String

    /// The system's reason for the last failure.
    static var system: Problem { Problem(description: String(cString: strerror(errno))) }
  }
}
