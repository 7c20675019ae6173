// SPDX-License-Identifier: MPL-2.0

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
