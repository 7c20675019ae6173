// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile
internal import StereoMedia
internal import Web

/// The web page that shows a movie frame by frame, and what it asks for: `movie.json`, the pictures of each
/// frame, and the sound.
///
/// Nothing of a request leads to a file: what is served is the page, and what numbers mean in the one
/// movie that was opened.
struct Viewer: WebResponder {
  let guardian: ViewerGuard
  private let description: [UInt8]
  private let frames: FramePictures
  private let sound: Once<OpenFile>
  private let layers: Once<[UInt8]>

  /// - Parameter packing: how the pictures of a movie that does not say so are seen to hold two eyes.
  init(_ movie: StereoMovie, packing: PackingLayout.Arrangement?, _ guardian: ViewerGuard) {
    self.guardian = guardian
    description = Array(ViewedMovie(movie, packing: packing).json.line.utf8)
    frames = FramePictures(movie)
    sound = Once { try await ViewedSound.file(of: movie) }
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

  /// - Parameter path: behind the token.
  private func answer(to admitted: ViewerGuard.Admitted) async throws -> WebResponse {
    let (path, request) = (admitted.path, admitted.request)
    switch (path.count, path.first ?? "") {
    case (1, "movie.json"): return file("application/json", description)
    case (1, "layers.json"): return file("application/json", try await layers.value)
    case (1, "sound.m4a"):
      return WebResponse(
        try await sound.value, for: request,
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
    // A movie does not change while it is viewed, and each view of it has addresses of its own.
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

/// The files of the viewer's page, which are in the command itself.
enum PageFile: String {
  case page = ""
  case style = "viewer.css"
  case viewer = "viewer.js"
  case stage = "stage.js"
  case frames = "frames.js"
  case timeline = "timeline.js"
  case player = "player.js"

  /// - Parameter name: the last part of a path; empty for the page.
  init?(_ name: String) { self.init(rawValue: name) }

  /// RFC 6838.
  var type: String {
    switch self {
    case .page: "text/html; charset=utf-8"
    case .style: "text/css; charset=utf-8"
    case .viewer, .stage, .frames, .timeline, .player: "text/javascript; charset=utf-8"
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
    }
  }
}

/// Why a request is not answered.
struct ViewerRefusal: Error {
  let status: WebResponse.Status
}

/// Keeps from the viewer who has not been told its address: other users of the machine, and web pages
/// that know the port.
///
/// A page elsewhere can make a browser ask `127.0.0.1`, or the name of its own server once that stands
/// for `127.0.0.1` (DNS rebinding). The first does not know the token, the second gives its own name
/// away.
struct ViewerGuard: Sendable {
  /// The first part of each path: 128 random bits, in hexadecimal digits.
  let token: String
  /// The name by which other machines ask for the viewer; nil where they cannot.
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
    /// Behind the token.
    let path: [String]
  }

  /// Throws a ``ViewerRefusal`` for a request that does not come from the viewer's page or its user.
  func admit(_ request: WebRequest) throws(ViewerRefusal) -> Admitted {
    guard request.method != .options else { throw ViewerRefusal(status: .methodNotAllowed) }
    guard let host = request.header("host"), isOurs(host) else {
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

  /// Any port will do: ssh forwards from others.
  private func isOurs(_ host: String) -> Bool {
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

  /// An address stands for itself alone: no other site has it for a name.
  private static func isAddress(_ host: Substring) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return host.hasPrefix("[") || parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }

  /// Takes the same time whatever is wrong.
  private func isToken(_ text: String) -> Bool {
    let (one, other) = (Array(text.utf8), Array(token.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }

  /// Those of all answers: the page runs what came with it and nothing else, nobody frames it, and its
  /// address, which has the token in it, goes nowhere.
  static let headers = [
    (
      name: "Content-Security-Policy",
      value:
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; media-src 'self'; "
        + "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("X-Content-Type-Options", "nosniff"),
  ]
}
