// SPDX-License-Identifier: MPL-2.0

internal import Web

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
