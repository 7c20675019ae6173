// SPDX-License-Identifier: MPL-2.0

import GStreamer

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file that is read into memory as a whole.
enum SmallFile {
  /// Reads a file; nil if there is none.
  ///
  /// - Throws: an ``ElementError`` if it cannot be read, is not a regular file, or is longer than
  ///   `limit` bytes.
  static func bytes(of path: String, limit: Int) throws(ElementError) -> [UInt8]? {
    // Do not wait for the writer of a pipe.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else {
      guard errno == ENOENT else { throw failure(path) }
      return nil
    }
    defer { close(file) }
    var facts = stat()
    guard fstat(file, &facts) == 0 else { throw failure(path) }
    guard facts.st_mode & S_IFMT == S_IFREG else {
      throw ElementError(.read, "'\(path)' could not be read: it is not a regular file.")
    }
    guard facts.st_size <= limit else {
      throw ElementError(.read, "'\(path)' is too large: the limit is \(limit) bytes.")
    }
    var bytes = [UInt8](repeating: 0, count: Int(facts.st_size))
    var count = 0
    while count < bytes.count {
      let start = count
      let part = bytes.withUnsafeMutableBytes {
        read(file, $0.baseAddress.map { $0 + start }, $0.count - start)
      }
      if part < 0, errno == EINTR { continue }
      guard part >= 0 else { throw failure(path) }
      guard part > 0 else { break }
      count += part
    }
    return Array(bytes.prefix(count))
  }

  private static func failure(_ path: String) -> ElementError {
    ElementError(.read, "'\(path)' could not be read: \(String(cString: strerror(errno))).")
  }
}
