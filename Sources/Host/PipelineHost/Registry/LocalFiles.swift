// SPDX-License-Identifier: MPL-2.0

internal import Glibc
public import PipelineFile

/// The file system, for checking pipeline files.
public struct LocalFiles: FileProbe, Sendable {
  /// Creates an instance; it has no state.
  public init() {}

  /// Returns the kind and accessibility of a path, following links.
  public func state(of path: String) -> FileState {
    var status = stat()
    guard stat(path, &status) == 0 else { return .missing }
    let isWritable = access(path, W_OK) == 0
    if status.st_mode & S_IFMT == S_IFDIR { return .folder(isWritable: isWritable) }
    return .file(isReadable: access(path, R_OK) == 0, isWritable: isWritable)
  }

  /// Returns the real path; for a missing file, that of its folder with the file name.
  public func canonicalPath(of path: String) -> String {
    if let real = Self.realPath(path) { return real }
    let (folder, name) = Self.split(path)
    return Self.realPath(folder).map { ($0 == "/" ? "" : $0) + "/" + name } ?? path
  }

  /// Splits a path into its folder (`.` if it has none) and its last component.
  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = String(path[..<slash])
    return (folder.isEmpty ? "/" : folder, String(path[path.index(after: slash)...]))
  }

  private static func realPath(_ path: String) -> String? {
    guard let real = realpath(path, nil) else { return nil }
    defer { free(real) }
    return String(cString: real)
  }

  /// Larger than any pipeline file.
  private static let sizeLimit = 16 << 20

  /// Returns the bytes of a pipeline file, at most 16 MiB.
  public static func bytes(of path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw FileError(errno) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = read(file, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw FileError(errno) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= Self.sizeLimit else {
        throw FileError(description: "it is larger than 16 MiB, too large for a pipeline file")
      }
    }
  }
}

/// A failed system call on a file, with the system's error message.
public struct FileError: Error, CustomStringConvertible {
  /// The system's error message.
  public let description: String

  init(description: String) {
    self.description = description
  }

  init(_ code: Int32) {
    description = String(cString: strerror(code))
  }
}
