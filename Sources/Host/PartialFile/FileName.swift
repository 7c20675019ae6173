// SPDX-License-Identifier: MPL-2.0

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
