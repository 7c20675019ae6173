// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile
internal import StereoMedia
internal import Web

/// Serves the web page that shows a movie frame by frame, and the data that it fetches:
/// `movie.json`, `layers.json`, the pictures of each frame, and the audio.
///
/// Requests cannot name files: only the page and the data of the opened movie are served.
struct Viewer: WebResponder {
  let guardian: ViewerGuard
  private let description: [UInt8]
  private let frames: FramePictures
  private let audio: Once<OpenFile>
  private let layers: Once<[UInt8]>

  /// - Parameters:
  ///   - movie: the movie.
  ///   - guardian: checks the requests.
  init(_ movie: StereoMovie, _ guardian: ViewerGuard) {
    self.guardian = guardian
    description = Array(ViewerMovie(movie: movie).json.line.utf8)
    frames = FramePictures(movie)
    audio = Once { try await ViewerAudio.file(of: movie) }
    layers = Once {
      let base = try await LayerSizes.read(movie)?.base
      return Array(JSON.array((base ?? []).map { JSON($0) }).line.utf8)
    }
  }

  func respond(to request: WebRequest) async -> WebResponse {
    var response: WebResponse
    do {
      response = try await answer(to: guardian.admit(request))
    } catch let refusal as ViewerRefusal {
      response = WebResponse(refusal.status)
    } catch let error as StereoMediaError {
      response = text(error.code == .outOfRange ? .notFound : .internalServerError, "\(error)")
    } catch is CancellationError {
      response = WebResponse(.serviceUnavailable)
    } catch {
      response = text(.internalServerError, "\(error)")
    }
    response.headers += ViewerGuard.headers
    return response
  }

  /// Answers an admitted request, whose path excludes the token.
  private func answer(to admitted: ViewerGuard.Admitted) async throws -> WebResponse {
    let (path, request) = (admitted.path, admitted.request)
    switch (path.count, path.first ?? "") {
    case (1, "movie.json"): return file("application/json", description)
    case (1, "layers.json"): return file("application/json", try await layers.value)
    case (1, "sound.m4a"):
      return WebResponse(
        try await audio.value, for: request,
        headers: [("Content-Type", "audio/mp4"), ("Cache-Control", "no-cache")])
    case (1, let name):
      guard let page = PageFile(name) else { break }
      return file(page.type, page.bytes)
    case (3, "frame"):
      guard let index = Int(path[1]), let wanted = FramePictures.Request(path[2], request) else {
        break
      }
      return try await picture(index, wanted, request)
    default: break
    }
    return WebResponse(.notFound)
  }

  private func file(_ type: String, _ bytes: [UInt8]) -> WebResponse {
    WebResponse(
      .ok, headers: [("Content-Type", type), ("Cache-Control", "no-cache")], body: .bytes(bytes))
  }

  private func picture(
    _ index: Int, _ wanted: FramePictures.Request, _ request: WebRequest
  ) async throws -> WebResponse {
    // The movie does not change while it is viewed, and each viewer has a token of its own.
    let headers = [
      ("Content-Type", wanted.format == .png ? "image/png" : "image/jpeg"),
      ("Cache-Control", "private, max-age=86400, immutable"),
    ]
    guard request.method == .get else { return WebResponse(.ok, headers: headers) }
    guard let image = try await frames.image(index, wanted) else {
      return WebResponse(.serviceUnavailable, headers: [("Retry-After", "1")])
    }
    return WebResponse(.ok, headers: headers, body: .bytes(image))
  }

  private func text(_ status: WebResponse.Status, _ message: String) -> WebResponse {
    var response = file("text/plain; charset=utf-8", Array(message.utf8))
    response.status = status
    return response
  }
}

/// The files of the viewer's page, which are embedded in the program.
enum PageFile: String {
  case page = ""
  case style = "viewer.css"
  case viewer = "viewer.js"
  case stage = "stage.js"
  case frames = "frames.js"
  case timeline = "timeline.js"
  case player = "player.js"
  case positions = "positions.js"
  case keyboard = "keyboard.js"
  case gestures = "gestures.js"
  case icon = "icon.svg"

  /// - Parameter name: the last path component; empty for the page itself.
  init?(_ name: String) { self.init(rawValue: name) }

  /// The media type (RFC 6838).
  var type: String {
    switch self {
    case .page: "text/html; charset=utf-8"
    case .style: "text/css; charset=utf-8"
    case .viewer, .stage, .frames, .timeline, .player, .positions, .keyboard, .gestures:
      "text/javascript; charset=utf-8"
    case .icon: "image/svg+xml"
    }
  }

  var bytes: [UInt8] {
    switch self {
    case .page: PackageResources.viewer_html
    case .style: PackageResources.viewer_css
    case .viewer: PackageResources.viewer_js
    case .stage: PackageResources.stage_js
    case .frames: PackageResources.frames_js
    case .timeline: PackageResources.timeline_js
    case .player: PackageResources.player_js
    case .positions: PackageResources.positions_js
    case .keyboard: PackageResources.keyboard_js
    case .gestures: PackageResources.gestures_js
    case .icon: PackageResources.icon_svg
    }
  }
}

/// The status with which a request is rejected.
struct ViewerRefusal: Error {
  let status: WebResponse.Status
}

/// Protects the viewer from clients without its address: other users of the machine, and web pages
/// that know the port.
///
/// A foreign page can make a browser send requests to `127.0.0.1`, or to its own host name after
/// making it resolve to `127.0.0.1` (DNS rebinding). The former does not know the token; the latter
/// is recognized by its `Host` header.
struct ViewerGuard: Sendable {
  /// The first component of each path: 128 random bits in hexadecimal.
  let token: String
  /// The host name under which other machines reach the viewer; nil if they cannot.
  let host: String?

  init(host: String? = nil) {
    self.host = host
    var random = SystemRandomNumberGenerator()
    token = (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  struct Admitted {
    let request: WebRequest
    /// The path components after the token.
    let path: [String]
  }

  /// Throws a ``ViewerRefusal`` for a request that is not from the viewer's page or its user.
  func admit(_ request: WebRequest) throws(ViewerRefusal) -> Admitted {
    guard request.method != .options else { throw ViewerRefusal(status: .methodNotAllowed) }
    guard let host = request.header("host"), isOwnHost(host) else {
      throw ViewerRefusal(status: .misdirectedRequest)
    }
    if let site = request.header("sec-fetch-site"), site != "same-origin", site != "none" {
      throw ViewerRefusal(status: .forbidden)
    }
    guard let first = request.path.first, isToken(first) else {
      throw ViewerRefusal(status: .notFound)
    }
    return Admitted(request: request, path: Array(request.path.dropFirst()))
  }

  /// Returns whether a `Host` header names this viewer. Any port is accepted, as ssh may forward
  /// another one.
  private func isOwnHost(_ host: String) -> Bool {
    let name: Substring
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
      name = host[...end]
    } else {
      name = host.prefix { $0 != ":" }
    }
    if ["localhost", "127.0.0.1", "[::1]"].contains(name.lowercased()) { return true }
    guard let ours = self.host else { return false }
    return name.lowercased() == ours.lowercased() || Self.isAddress(name)
  }

  /// Returns whether a host is an IP address. Unlike a name, it cannot belong to another site.
  private static func isAddress(_ host: Substring) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return host.hasPrefix("[") || parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Compares in constant time.
  private func isToken(_ text: String) -> Bool {
    let (one, other) = (Array(text.utf8), Array(token.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// The headers of all responses: the page runs only its own scripts, cannot be framed, and does
  /// not send its address, which contains the token, as a referrer.
  static let headers = [
    (
      name: "Content-Security-Policy",
      value:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; "
        + "media-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"
    ),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
  ]
}
