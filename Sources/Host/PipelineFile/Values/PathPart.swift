// SPDX-License-Identifier: MPL-2.0

/// A part of a path: of `movies/Holiday.3d.mp4`, for example.
enum PathPart: String, Sendable, CaseIterable {
  /// `movies/Holiday.3d`: the path without its extension.
  case stem
  /// `Holiday.3d.mp4`
  case name
  /// `movies`; `.` where the path names no folder.
  case directory
  /// `mp4`, in small letters; nothing where the name has no dot.
  case `extension`
  /// The path with each `%` doubled, as elements want it that number their files.
  case pattern

  func callAsFunction(of path: String) -> String {
    let name = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    let directory = path[..<name.startIndex]
    // A name's first dot, as in ".profile", begins no extension.
    let dot = name.dropFirst().lastIndex(of: ".")
    switch self {
    case .stem: return String(path[..<(dot ?? path.endIndex)])
    case .name: return String(name)
    case .directory:
      if directory.isEmpty { return "." }
      return directory.count == 1 ? "/" : String(directory.dropLast())
    case .extension: return dot.map { name[name.index(after: $0)...].lowercased() } ?? ""
    case .pattern: return path.replacing("%", with: "%%")
    }
  }
}

/// Paths as text.
enum Path {
  /// A path that is meant relative to the folder of a file.
  static func resolve(_ path: String, besides file: String) -> String {
    guard !path.hasPrefix("/"), let slash = file.lastIndex(of: "/") else { return tidy(path) }
    return tidy(String(file[...slash]) + path)
  }

  /// The path without `.` and without `..` where a folder precedes it.
  private static func tidy(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == "..", let last = parts.last, last != ".." {
        parts.removeLast()
      } else if part != ".." || !path.hasPrefix("/") {
        parts.append(part)
      }
    }
    return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
  }
}
