// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// Files that are written at once: each exists completely or not at all, also after a power cut, on
/// file systems that rename atomically.
package enum SmallFiles {
  /// No file of a work folder is larger.
  private static let limit = 1 << 28

  /// Reads a file; nil if there is none.
  ///
  /// - Throws: a ``PartError`` if it cannot be read.
  package static func bytes(of path: String) throws(PartError) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      guard errno == ENOENT else { throw failure(path, "cannot be read") }
      return nil
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure(path, "cannot be read") }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size <= limit else {
      throw PartError(.final, "'\(path)' is not a file of a plan, or is much too large")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let start = count
      let part = bytes.withUnsafeMutableBytes {
        read(file, $0.baseAddress.map { $0 + start }, $0.count - start)
      }
      if part < 0, errno == EINTR { continue }
      guard part >= 0 else { throw failure(path, "cannot be read") }
      guard part > 0 else { break }
      count += part
    }
    return Array(bytes.prefix(count))
  }

  /// Writes a file under a name of its own, and gives it its name when it is on the disk.
  package static func write(_ bytes: [UInt8], to path: String) throws(PartError) {
    let file = try NewFile(path)
    try file.write(bytes)
    try file.finish()
  }

  /// Renames a file that is on the disk, replacing another one, and puts the new name on the disk.
  package static func move(_ old: String, to new: String) throws(PartError) {
    guard rename(old, new) == 0 else {
      let error = failure(new, "cannot be written")
      unlink(old)
      throw error
    }
    sync(folder: folder(of: new))
  }

  /// Puts the contents of a file on the disk.
  package static func sync(file path: String) throws(PartError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure(path, "cannot be read") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure(path, "cannot be written") }
  }

  /// Puts the names in a folder on the disk, where file systems can.
  private static func sync(folder: String) {
    let file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard file >= 0 else { return }
    _ = fsync(file)
    close(file)
  }

  /// Makes a folder, unless it is there.
  static func make(folder path: String) throws(PartError) {
    guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
      throw PartError(
        .final, "the folder '\(path)' cannot be made: \(String(cString: strerror(errno)))")
    }
  }

  /// Returns the folder of a path; `.` if it has none.
  package static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// The names in a folder, sorted; empty if it cannot be read.
  package static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names.sorted()
  }

  /// The size of a file in bytes; nil if there is none.
  package static func size(of path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Removes a file, if there is one.
  package static func remove(_ path: String) { unlink(path) }

  /// `HOST-PID`: no two processes that write at the same time have the same.
  package static let owner: String = {
    var name = [CChar](repeating: 0, count: 256)
    let isKnown = gethostname(&name, name.count - 1) == 0
    let host =
      isKnown
      ? String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) : ""
    return "\(host.isEmpty ? "host" : host)-\(getpid())"
  }()

  /// Returns the error that `errno` says.
  static func failure(_ path: String, _ what: String) -> PartError {
    // A full disk may have room later, a folder without permission will not.
    let isFinal = [EACCES, EPERM, EROFS, ENOTDIR, ENAMETOOLONG].contains(errno)
    return PartError(
      isFinal ? .final : .repeatable, "'\(path)' \(what): \(String(cString: strerror(errno)))")
  }
}
