// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A file that is being written.
///
/// Until it is finished, `movie.mov` is called `movie.incomplete.mov`, so that the output of a
/// program that crashes is visible and not mistaken for a finished movie. The file is locked as
/// long as this object lives: a second writer of the same file is rejected, and the leftover of a
/// killed program is distinguished from a file that is being written.
package final class PartialFile: Sendable {
  package enum Failure: Error {
    /// Another process or object is writing this file.
    case busy
    /// A system call failed for a path; the error number.
    case system(String, Int32)
  }

  /// The path of the file while it is being written.
  package let path: String
  /// The file descriptor that holds the lock.
  private let lock: Int32

  /// Creates and locks a file whose final path will be `name`.
  ///
  /// - Throws: ``Failure/busy`` if the file is being written already, ``Failure/system(_:_:)`` if
  ///   it cannot be created.
  package init(_ name: String) throws(Failure) {
    var number = 1
    while true {
      let path = name.incomplete(number)
      let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard file < 0 else {
        guard Self.lock(file) else {
          close(file)
          throw .busy
        }
        (self.path, lock) = (path, file)
        return
      }
      guard errno == EEXIST, number < 10_000 else { throw .system(path, errno) }
      // An unlocked file is the leftover of a program that failed or was killed.
      let other = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      if other >= 0 {
        let isFree = Self.lock(other)
        close(other)
        guard isFree else { throw .busy }
      }
      number += 1
    }
  }

  deinit { close(lock) }

  /// Number of bytes written so far.
  package var size: Int { FileName.size(of: path) }

  /// Renames the file to its final name, or to the next free numbered variant of it.
  ///
  /// - Parameter replaces: whether an existing file of that name may be replaced.
  /// - Returns: the final path.
  package func finish(as name: String, replaces: Bool) throws(Failure) -> String {
    var number = 1
    while true {
      let free = name.numbered(number)
      let error =
        replaces ? (rename(path, free) == 0 ? 0 : errno) : FileName.move(path, toFree: free)
      switch error {
      case 0: return free
      case EEXIST where number < 10_000: number += 1
      default: throw .system(free, error)
      }
    }
  }

  /// Removes the file, unless another file has taken its name.
  package func remove() {
    var (own, named) = (stat(), stat())
    guard fstat(lock, &own) == 0, lstat(path, &named) == 0, own.st_dev == named.st_dev,
      own.st_ino == named.st_ino
    else { return }
    unlink(path)
  }

  /// Whether the file still exists.
  package var isThere: Bool { access(path, F_OK) == 0 }

  /// Locks a file; returns false if another process holds the lock. On file systems without locks,
  /// locking always succeeds.
  private static func lock(_ file: Int32) -> Bool {
    flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}

/// Operations on file names.
package enum FileName {
  /// Whether the name exists in the file system, even as a broken link.
  package static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// Returns the size in bytes; 0 if there is no file.
  package static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Renames a file to an unused name; returns 0 or the error number, `EEXIST` if the name is
  /// taken.
  static func move(_ path: String, toFree name: String) -> Int32 {
    // An empty file reserves the name atomically, and is then replaced.
    let placeholder = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard placeholder >= 0 else { return errno }
    close(placeholder)
    guard rename(path, name) != 0 else { return 0 }
    let error = errno
    unlink(name)
    return error
  }
}

extension String {
  /// `movie.incomplete.mov`, `movie.incomplete-2.mov`
  func incomplete(_ number: Int) -> String {
    withSuffix(".incomplete" + (number > 1 ? "-\(number)" : ""))
  }

  /// `movie.mov`, `movie-2.mov`
  package func numbered(_ number: Int) -> String { number > 1 ? withSuffix("-\(number)") : self }

  /// Returns the path with a suffix before the extension.
  private func withSuffix(_ suffix: String) -> String {
    let start = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
    let name = self[start...]
    // A leading dot, as in ".profile", does not begin an extension.
    let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
    return "\(self[..<dot])\(suffix)\(self[dot...])"
  }
}
