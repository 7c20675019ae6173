// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import Packager

/// The state of a stream's playlists, from the files themselves: it tells whether the program that
/// writes them still does.
struct StreamHealth {
  /// A media playlist.
  struct Playlist: Equatable {
    /// The path from the folder.
    var path: String
    /// Time since it was written, in seconds.
    var age: Double
    /// In seconds.
    var targetDuration: Int
    /// Number of the next segment.
    var nextSequence: UInt64
    var segmentCount: Int
    var gapCount: Int
    var hasEnded: Bool

    /// Whether players have to wait: a live playlist has to get a segment within one and a half
    /// target durations (RFC 8216 6.2.1), and gets twice as long here.
    var isStalled: Bool { !hasEnded && age > 3 * Double(targetDuration) }
  }

  /// In the order of their paths, without playlists of keyframes.
  let playlists: [Playlist]

  /// Maximum number of playlists, and of folders inside each other.
  private static let limits = (playlists: 256, depth: 4, entries: 100_000)

  /// - Parameter folder: An absolute path.
  init(_ folder: String, _ cache: PlaylistCache) {
    var paths: [[String]] = []
    var left = Self.limits.entries
    Self.find([], in: folder, &paths, &left)
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    playlists = paths.sorted { $0.joined(separator: "/") < $1.joined(separator: "/") }
      .compactMap { path in
        guard let content = cache.playlist(path)?.playlist, !content.isIFramesOnly else {
          return nil
        }
        var status = stat()
        guard stat(([folder] + path).joined(separator: "/"), &status) == 0 else { return nil }
        let age =
          Double(now.tv_sec - status.st_mtim.tv_sec)
          + Double(now.tv_nsec - status.st_mtim.tv_nsec) / 1e9
        return Playlist(
          path: path.joined(separator: "/"), age: max(age, 0),
          targetDuration: content.targetDuration, nextSequence: content.nextSequence,
          segmentCount: content.segments.count, gapCount: content.segments.count(where: \.isGap),
          hasEnded: content.hasEnded)
      }
  }

  private static func find(
    _ path: [String], in folder: String, _ found: inout [[String]], _ left: inout Int
  ) {
    guard let entries = opendir(([folder] + path).joined(separator: "/")) else { return }
    defer { closedir(entries) }
    while let entry = readdir(entries), found.count < limits.playlists, left > 0 {
      left -= 1
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      guard !name.hasPrefix(".") else { continue }
      let inside = path + [name]
      if name.hasSuffix(".m3u8") {
        found.append(inside)
      } else if path.count < limits.depth, Int32(entry.pointee.d_type) == Int32(DT_DIR) {
        find(inside, in: folder, &found, &left)
      }
    }
  }

  /// Whether there is a stream, and no playlist of it has stalled.
  var isWell: Bool { !playlists.isEmpty && !playlists.contains(where: \.isStalled) }

  /// The state as JSON, an object in one line.
  var json: String {
    let status = playlists.isEmpty ? "empty" : isWell ? "ok" : "stalled"
    let items = playlists.map { playlist in
      let age = (playlist.age * 1000).rounded() / 1000
      return "{\"playlist\":\(Self.quoted(playlist.path)),\"age\":\(age),"
        + "\"target-duration\":\(playlist.targetDuration),\"next\":\(playlist.nextSequence),"
        + "\"gaps\":\(playlist.gapCount),\"ended\":\(playlist.hasEnded),"
        + "\"stalled\":\(playlist.isStalled)}"
    }
    return "{\"status\":\"\(status)\",\"playlists\":[\(items.joined(separator: ","))]}\n"
  }

  private static func quoted(_ text: String) -> String {
    let content = text.unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return "\"\(content)\""
  }

  /// The state as metrics.
  var metrics: [Metric] {
    func metric(_ name: String, _ help: String, _ value: (Playlist) -> Double) -> Metric {
      Metric(
        "playlist_" + name, .gauge, help, playlists.map { (["playlist": $0.path], value($0)) })
    }
    return [
      metric("age_seconds", "Time since the playlist was written.", \.age),
      metric("target_duration_seconds", "Promised maximum duration of segments.") {
        Double($0.targetDuration)
      },
      metric("next_sequence", "Number of the next segment.") { Double($0.nextSequence) },
      metric("segments", "Listed segments.") { Double($0.segmentCount) },
      metric("gaps", "Listed segments that are missing.") { Double($0.gapCount) },
      metric("ended", "Whether the playlist is complete.") { $0.hasEnded ? 1 : 0 },
      metric("stalled", "Whether players have to wait.") { $0.isStalled ? 1 : 0 },
    ]
  }
}
