// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A file that is being written.
///
/// Until it is whole, `movie.mov` is called `movie.incomplete.mov`, so that whatever happens to the
/// program, what it has written can be seen and is not taken for a whole movie. The file is locked as
/// long as this object lives: a second writer of the same file is refused, and what a program that was
/// killed has left is told from what is being written.
package final class PartialFile: Sendable {
  package enum Failure: Error {
    /// Somebody else is writing this file.
    case busy
    /// The system's error number for a path.
    case system(String, Int32)
  }

  /// The name of the file while it is written.
  package let path: String
  /// An open file with the lock.
  private let lock: Int32

  /// Creates and locks the file that is to be called `name`.
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
      // Without its lock, it is what a program that failed or was killed has left.
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

  /// How many bytes are written so far.
  package var size: Int { FileName.size(of: path) }

  /// Gives the file its name, or the next one with a number that is free.
  ///
  /// - Parameter replaces: whether a file of that name may be replaced.
  /// - Returns: the name that it has got.
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

  /// Removes the file, but no other one that has its name by now.
  package func remove() {
    var (own, named) = (stat(), stat())
    guard fstat(lock, &own) == 0, lstat(path, &named) == 0, own.st_dev == named.st_dev,
      own.st_ino == named.st_ino
    else { return }
    unlink(path)
  }

  /// Whether the file is still there.
  package var isThere: Bool { access(path, F_OK) == 0 }

  /// False where somebody else holds the lock. File systems without locks give it to everybody.
  private static func lock(_ file: Int32) -> Bool {
    flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// Names of files that stand in for each other.
package enum FileName {
  package static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// In bytes; 0 where there is no file.
  package static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Renames a file to a name that nobody has; the error's number, `EEXIST` where somebody does.
  static func move(_ path: String, toFree name: String) -> Int32 {
    // First an empty file takes the name, as only one can; then it is replaced.
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

  /// The path with something more between its name and the ending.
  private func withSuffix(_ suffix: String) -> String {
    let start = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
    let name = self[start...]
    // A name's first dot, as in ".profile", begins no ending.
    let dot = name.dropFirst().lastIndex(of: ".") ?? name.endIndex
    return self[..<dot] + suffix + self[dot...]
  }
}
