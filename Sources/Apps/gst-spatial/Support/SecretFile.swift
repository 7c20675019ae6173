// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
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

/// A value from a secret file, which may be replaced while the command runs, as tokens expire.
final class SecretValue<Value: Sendable>: Sendable {
  private let path: String
  private let parse: @Sendable (String) throws -> Value
  private let known: Locked<(tag: [Int], value: Value)>

  /// Reads a file.
  ///
  /// - Throws: an exit code if the file cannot be used, which is told.
  init(_ path: String, _ parse: @escaping @Sendable (String) throws -> Value) throws {
    (self.path, self.parse) = (path, parse)
    do {
      guard let file = try SecretFile(path) else { throw SecretFile.Problem.system }
      known = Locked((file.tag, try parse(file.text)))
    } catch {
      Terminal.error.line("error: '\(path)': \(error)")
      throw ExitCode.mistakes
    }
  }

  /// The value at present. The one before stays if the file cannot be used any more.
  var current: Value {
    let before = known.current
    guard let file = try? SecretFile(path, unless: before.tag), let value = try? parse(file.text)
    else { return before.value }
    known.withLock { $0 = (file.tag, value) }
    return value
  }
}
