// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import Packager

/// Serves HLS and DASH from a folder to which a live stream is being written, with low latency:
/// requests for the next segment or part are held until it is available
/// (draft-pantos-hls-rfc8216bis 6.2.5).
///
/// ```swift
/// let origin = try HLSOrigin(folder: "live")
/// let server = try await WebServer.start(on: ["127.0.0.1"], port: 8080, origin)
/// ```
///
/// Only media files and files of web pages are served, but none whose name begins with a dot and
/// none outside the folder.
public struct HLSOrigin: WebResponder {
  /// The absolute path of the folder, with symbolic links resolved.
  public let folder: String
  private let allowedOrigin: String?
  private let playlists: PlaylistCache
  private let watch = FolderWatch()

  /// Creates a responder.
  ///
  /// - Parameters:
  ///   - folder: the path of a folder.
  ///   - allowedOrigin: the origin whose pages may read the files; `*` for all, nil for none but
  ///     the server's own.
  /// - Throws: a ``FileError`` if there is no such folder.
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

  /// Answers a request, and waits up to three target durations for the next segment or part.
  public func respond(to request: WebRequest) async -> WebResponse {
    var response =
      request.method == .options ? WebResponse(.noContent, headers: preflight) : await get(request)
    response.headers += common
    return response
  }

  /// The state of the streams at present.
  var health: StreamHealth { StreamHealth(folder, playlists) }

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

  /// - Parameter age: how long the response may be cached, in seconds; nil if it must be
  ///   revalidated.
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
    // A file that a playlist announces is expected soon, so the request is held.
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

  /// Returns the time at which held requests end: after three target durations.
  private static func deadline(_ playlist: ServedPlaylist) -> ContinuousClock.Instant {
    .now + .seconds(3 * playlist.targetDuration)
  }

  // MARK: Headers

  private static let missing = WebResponse(.notFound, headers: [("Cache-Control", "no-cache")])

  /// The headers of all responses.
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

/// The media type of a served file, by its extension.
enum MediaType: Equatable {
  case playlist
  /// A file whose name changes with its content.
  case media(String)
  /// A file that keeps its name when its content changes.
  case page(String)

  /// - Returns: nil for a file that must not be served.
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

  /// The media type (RFC 6838).
  var name: String {
    switch self {
    case .playlist: "application/vnd.apple.mpegurl"
    case .media(let name), .page(let name): name
    }
  }

  /// The `Cache-Control` header. A restarted stream reuses file names, so responses may be cached
  /// only briefly without revalidation.
  var cacheControl: String {
    if case .media = self { "public, max-age=60" } else { "no-cache" }
  }
}
