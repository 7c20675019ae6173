// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import Packager

/// Serves HLS and DASH from a folder in which a live stream grows, with low latency: requests for what
/// comes next are held until it has come (draft-pantos-hls-rfc8216bis 6.2.5).
///
/// ```swift
/// let origin = try HLSOrigin(folder: "live")
/// let server = try await WebServer.start(on: ["127.0.0.1"], port: 8080, origin)
/// ```
///
/// Only files of streams and of web pages are served, none whose name begins with a dot, and none
/// outside of the folder.
public struct HLSOrigin: WebResponder {
  /// An absolute path without symbolic links.
  public let folder: String
  private let allowedOrigin: String?
  private let playlists: PlaylistCache
  private let watch = FolderWatch()

  /// - Parameters:
  ///   - folder: the path of a folder.
  ///   - allowedOrigin: whose pages may read what is served; `*` for all, nil for none but its own.
  /// - Throws: a ``FileError`` where there is no such folder.
  public init(folder: String, allowedOrigin: String? = "*") throws(FileError) {
    guard let path = realpath(folder, nil) else { throw FileError(code: errno) }
    defer { free(path) }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw FileError(code: ENOTDIR)
    }
    self.folder = String(cString: path)
    self.allowedOrigin = allowedOrigin
    playlists = PlaylistCache(folder: self.folder)
  }

  public func respond(to request: WebRequest) async -> WebResponse {
    var response =
      request.method == .options ? WebResponse(.noContent, headers: preflight) : await get(request)
    response.headers += common
    return response
  }

  private func get(_ request: WebRequest) async -> WebResponse {
    var path = request.path
    if path == [""] { path = ["index.html"] }
    guard !path.contains(where: { $0.isEmpty || $0.hasPrefix(".") }),
      let type = path.last.flatMap(MediaType.init)
    else { return Self.missing }
    return type == .playlist ? await playlist(path, request) : await media(path, type, request)
  }

  // MARK: Playlists

  private func playlist(_ path: [String], _ request: WebRequest) async -> WebResponse {
    guard let now = playlists.playlist(path), now.isBlocking else {
      return file(path, .playlist, request)
    }
    guard let directives = PlaylistDirectives(request) else { return WebResponse(.badRequest) }
    guard let position = directives.position else {
      return response(now, directives, request, keeping: nil)
    }
    guard !now.isFarAhead(position) else { return WebResponse(.badRequest) }
    let deadline = Self.deadline(now)
    while true {
      let generation = watch.generation
      watchFolder(of: path)
      guard let now = playlists.playlist(path) else { return Self.missing }
      if !now.isBlocking || now.lists(position) {
        return response(now, directives, request, keeping: 6 * now.targetDuration)
      }
      guard await watch.change(since: generation, until: deadline) else {
        return WebResponse(.serviceUnavailable, headers: [("Cache-Control", "no-store")])
      }
    }
  }

  /// - Parameter age: for how long an answer that has what was waited for may be kept, in seconds.
  private func response(
    _ playlist: ServedPlaylist, _ directives: PlaylistDirectives, _ request: WebRequest,
    keeping age: Int?
  ) -> WebResponse {
    let headers = [
      ("Content-Type", MediaType.playlist.name),
      ("Cache-Control", age.map { "max-age=\($0)" } ?? "no-cache"),
    ]
    guard directives.skips, let delta = playlist.delta else {
      return WebResponse(playlist.file, for: request, headers: headers)
    }
    return WebResponse(.ok, headers: headers, body: .bytes(Array(delta.utf8)))
  }

  // MARK: Other files

  private func media(
    _ path: [String], _ type: MediaType, _ request: WebRequest
  ) async -> WebResponse {
    var generation = watch.generation
    if let file = OpenFile(path, in: folder) { return file.response(type, request) }
    // What a playlist has announced comes soon, and is held until then.
    guard let playlist = playlists.playlist(hinting: path), let now = playlists.playlist(playlist)
    else { return Self.missing }
    let deadline = Self.deadline(now)
    watchFolder(of: path)
    watchFolder(of: playlist)
    while true {
      let isHinted = playlists.hints(playlist, path)
      if let file = OpenFile(path, in: folder) { return file.response(type, request) }
      guard isHinted, await watch.change(since: generation, until: deadline) else {
        return Self.missing
      }
      generation = watch.generation
    }
  }

  private func file(_ path: [String], _ type: MediaType, _ request: WebRequest) -> WebResponse {
    OpenFile(path, in: folder)?.response(type, request) ?? Self.missing
  }

  private func watchFolder(of path: [String]) {
    watch.watch(([folder] + path.dropLast()).joined(separator: "/"))
  }

  /// Nobody waits longer than three target durations.
  private static func deadline(_ playlist: ServedPlaylist) -> ContinuousClock.Instant {
    .now + .seconds(3 * playlist.targetDuration)
  }

  // MARK: Headers

  private static let missing = WebResponse(.notFound, headers: [("Cache-Control", "no-cache")])

  /// Those of all answers.
  private var common: [(name: String, value: String)] {
    let own = [("X-Content-Type-Options", "nosniff")]
    guard let allowedOrigin else { return own }
    return own + [
      ("Access-Control-Allow-Origin", allowedOrigin),
      ("Access-Control-Expose-Headers", "Content-Length, Content-Range, Date, ETag"),
      ("Timing-Allow-Origin", allowedOrigin),
    ]
  }

  private var preflight: [(name: String, value: String)] {
    let own = [("Allow", "GET, HEAD, OPTIONS")]
    guard allowedOrigin != nil else { return own }
    return own + [
      ("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
      ("Access-Control-Allow-Headers", "Range, If-None-Match, If-Range"),
      ("Access-Control-Max-Age", "86400"),
    ]
  }
}

extension OpenFile {
  fileprivate func response(_ type: MediaType, _ request: WebRequest) -> WebResponse {
    WebResponse(
      self, for: request,
      headers: [("Content-Type", type.name), ("Cache-Control", type.cacheControl)])
  }
}

/// The kinds of files that are served, by the ends of their names.
enum MediaType: Equatable {
  case playlist
  /// What is listed elsewhere, and has a name of its own.
  case media(String)
  /// What keeps its name when it changes.
  case page(String)

  /// - Returns: nil for a file that is not to be served.
  init?(_ name: String) {
    guard let dot = name.lastIndex(of: ".") else { return nil }
    switch name[dot...].dropFirst().lowercased() {
    case "m3u8": self = .playlist
    case "mpd": self = .page("application/dash+xml")
    case "m4s", "cmfv", "cmfa": self = .media("video/iso.segment")
    case "mp4", "m4v": self = .media("video/mp4")
    case "m4a": self = .media("audio/mp4")
    case "mov": self = .media("video/quicktime")
    case "vtt": self = .media("text/vtt")
    case "jpg", "jpeg": self = .media("image/jpeg")
    case "png": self = .media("image/png")
    case "html": self = .page("text/html; charset=utf-8")
    case "js": self = .page("text/javascript")
    case "css": self = .page("text/css")
    default: return nil
    }
  }

  /// RFC 6838.
  var name: String {
    switch self {
    case .playlist: "application/vnd.apple.mpegurl"
    case .media(let name), .page(let name): name
    }
  }

  /// A stream that begins anew takes the names of the one before, so nothing is kept for long without
  /// asking.
  var cacheControl: String {
    if case .media = self { "public, max-age=60" } else { "no-cache" }
  }
}
