// SPDX-License-Identifier: LGPL-2.1-or-later

internal import Playlist
internal import Synchronization
internal import WebServer

/// The playlists that were asked for, each read once until it changes.
final class PlaylistCache: Sendable {
  fileprivate struct Entry {
    let content: ServedPlaylist
    /// When it was asked for last.
    var use: UInt64
  }

  fileprivate struct State {
    var entries: [[String]: Entry] = [:]
    var uses: UInt64 = 0
  }

  private let state = Mutex(State())
  private let folder: String

  /// So many are kept; those that are asked for again soon.
  fileprivate static let capacity = 64

  /// - Parameter folder: an absolute path without symbolic links.
  init(folder: String) { self.folder = folder }

  /// - Returns: nil where there is no media playlist now.
  func playlist(_ path: [String]) -> ServedPlaylist? {
    guard let file = OpenFile(path, in: folder) else {
      state.withLock { $0.entries[path] = nil }
      return nil
    }
    if let known = state.withLock({ $0.use(path) }), known.file.tag == file.tag { return known }
    let content = ServedPlaylist(file)
    state.withLock { $0.keep(content, path) }
    return content
  }

  /// The playlist that says that a file comes next, if one that was asked for does.
  func playlist(hinting file: [String]) -> [String]? {
    let paths = state.withLock { state in
      state.entries.filter { path, entry in
        entry.content.playlist.preloadHint.map { resolve($0, from: path) == file } ?? false
      }
    }
    return paths.keys.first
  }

  /// Whether a playlist says now that a file comes next.
  func hints(_ path: [String], _ file: [String]) -> Bool {
    playlist(path)?.playlist.preloadHint.map { resolve($0, from: path) == file } ?? false
  }

  /// The file that an address in a playlist means.
  private func resolve(_ address: String, from path: [String]) -> [String]? {
    var folder = Array(path.dropLast())
    let mark = address.firstIndex { $0 == "?" || $0 == "#" } ?? address.endIndex
    for part in address[..<mark].split(separator: "/") {
      switch part {
      case ".": break
      case "..":
        guard folder.popLast() != nil else { return nil }
      default:
        guard let name = WebRequest(.get, "/" + part)?.path.first else { return nil }
        folder.append(name)
      }
    }
    return folder
  }
}

extension PlaylistCache.State {
  fileprivate mutating func use(_ path: [String]) -> ServedPlaylist? {
    uses += 1
    entries[path]?.use = uses
    return entries[path]?.content
  }

  fileprivate mutating func keep(_ content: ServedPlaylist?, _ path: [String]) {
    entries[path] = content.map { PlaylistCache.Entry(content: $0, use: uses) }
    guard entries.count > PlaylistCache.capacity,
      let oldest = entries.min(by: { $0.value.use < $1.value.use })
    else { return }
    entries[oldest.key] = nil
  }
}
