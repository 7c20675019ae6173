// SPDX-License-Identifier: MPL-2.0

internal import Glibc

/// The files of a stream in a folder, as they are at one moment. Those of other kinds, with other
/// names, or outside of the folder are none of it.
struct PushedFolder {
  /// A file that is complete: it gets its name only then.
  struct File {
    let path: [String]
    /// Differs after each change.
    let tag: String
    /// Time of the last change, in nanoseconds since 1970.
    let changed: Int64
  }

  /// Playlists and manifests, which change.
  private(set) var lists: [File] = []
  /// Segments, parts and initialization sections, in the order in which they were written.
  private(set) var media: [File] = []
  /// The folders, as absolute paths.
  private(set) var folders: [String] = []

  /// Folders below others that are looked into.
  private static let depth = 4
  /// Number of files that a stream may have.
  private static let limit = 1_000_000

  /// Looks at a folder.
  ///
  /// - Parameter folder: An absolute path without symbolic links.
  /// - Returns: Nil if it cannot be read.
  init?(_ folder: String) {
    guard read([], in: folder) else { return nil }
    // Clocks of file systems have ticks.
    media.sort {
      $0.changed == $1.changed
        ? $0.path.lexicographicallyPrecedes($1.path) : $0.changed < $1.changed
    }
  }

  private mutating func read(_ path: [String], in root: String) -> Bool {
    let place = ([root] + path).joined(separator: "/")
    guard path.count <= Self.depth, let directory = opendir(place) else { return false }
    defer { closedir(directory) }
    folders.append(place)
    while let entry = readdir(directory), lists.count + media.count < Self.limit {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      guard let name, !name.hasPrefix("."), lstat(place + "/" + name, &status) == 0 else {
        continue
      }
      if status.st_mode & S_IFMT == S_IFDIR {
        _ = read(path + [name], in: root)
      } else if status.st_mode & S_IFMT == S_IFREG, let type = MediaType(name) {
        let file = File(path + [name], status)
        switch type {
        case .playlist: lists.append(file)
        case .media: media.append(file)
        case .page where name.hasSuffix(".mpd"): lists.append(file)
        case .page: break
        }
      }
    }
    return true
  }
}

extension PushedFolder.File {
  fileprivate init(_ path: [String], _ status: stat) {
    self.path = path
    changed = Int64(status.st_mtim.tv_sec) &* 1_000_000_000 &+ Int64(status.st_mtim.tv_nsec)
    tag = "\(status.st_ino)-\(changed)-\(status.st_size)"
  }
}
