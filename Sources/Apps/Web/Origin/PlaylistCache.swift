// SPDX-License-Identifier: MPL-2.0

internal import Packager
internal import Synchronization

/// A cache of requested playlists; each is read again only if its file has changed.
final class PlaylistCache: Sendable {
  fileprivate struct Entry {
    let content: ServedPlaylist
    /// The sequence number of the last use.
    var use: UInt64
  }

  fileprivate struct State {
    var entries: [[String]: Entry] = [:]
    var uses: UInt64 = 0
  }

  private let state = Mutex(State())
  private let folder: String

  /// Maximum number of cached playlists; the least recently used one is removed.
  fileprivate static let capacity = 64

  /// - Parameter folder: an absolute path without symbolic links.
  init(folder: String) { self.folder = folder }

  /// - Returns: nil if there is currently no media playlist at the path.
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

  /// Returns the cached playlist that announces a file as the next one; nil if there is none.
  func playlist(hinting file: [String]) -> [String]? {
    let entries = state.withLock { $0.entries }
    return entries.first { path, entry in hints(entry.content, at: path, file) }?.key
  }

  /// Returns whether a playlist currently announces a file as the next one: a part, or the segment
  /// that contains it, which DASH players request while it is still growing.
  func hints(_ path: [String], _ file: [String]) -> Bool {
    playlist(path).map { hints($0, at: path, file) } ?? false
  }

  private func hints(_ content: ServedPlaylist, at path: [String], _ file: [String]) -> Bool {
    guard let hint = content.playlist.preloadHint.flatMap({ Self.resolve($0, from: path) }) else {
      return false
    }
    return hint == file || Self.segment(ofPart: hint) == file
  }

  /// Returns the name of a part's segment, such as `segment00122.m4s` for `segment00122.2.m4s`; nil
  /// for other names.
  private static func segment(ofPart part: [String]) -> [String]? {
    guard let name = part.last else { return nil }
    let pieces = name.split(separator: ".", omittingEmptySubsequences: false)
    guard pieces.count >= 3, pieces[pieces.count - 2].utf8.allSatisfy({ 0x30...0x39 ~= $0 }) else {
      return nil
    }
    return part.dropLast() + [(pieces.dropLast(2) + pieces.suffix(1)).joined(separator: ".")]
  }

  /// Returns the path of the file to which a URI in a playlist refers.
  static func resolve(_ address: String, from path: [String]) -> [String]? {
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
