// SPDX-License-Identifier: MPL-2.0

/// An origin that also tells its operator how it is: `/metrics` in the text format of Prometheus,
/// and `/health`, whose status is 200 or 503.
///
/// Both are for programs on the same machine alone, that address it by a name of the machine itself
/// and not through a proxy, unless there is a token, which others send as
/// `Authorization: Bearer TOKEN`.
public struct MonitoredOrigin: WebResponder {
  private let origin: HLSOrigin
  private let counts: WebCounts
  private let token: String?

  /// - Parameters:
  ///   - origin: Answers all other requests.
  ///   - counts: The observer of the server.
  ///   - token: The token; nil for none.
  public init(_ origin: HLSOrigin, _ counts: WebCounts, token: String? = nil) {
    (self.origin, self.counts, self.token) = (origin, counts, token)
  }

  /// Answers a request.
  public func respond(to request: WebRequest) async -> WebResponse {
    guard request.method != .options, ["metrics", "health"].contains(request.path.first),
      request.path.count == 1
    else { return await origin.respond(to: request) }
    let headers = [("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff")]
    guard isAllowed(request) else {
      let text = "Only for programs on this machine, or with the token (serve --token-file).\n"
      return WebResponse(
        .forbidden, headers: headers + [("Content-Type", "text/plain; charset=utf-8")],
        body: .bytes(Array(text.utf8)))
    }
    let health = origin.health
    if request.path == ["health"] {
      return WebResponse(
        health.isWell ? .ok : .serviceUnavailable,
        headers: headers + [("Content-Type", "application/json")],
        body: .bytes(Array(health.json.utf8)))
    }
    let lines = (counts.metrics + health.metrics).flatMap(\.lines)
    return WebResponse(
      .ok, headers: headers + [("Content-Type", "text/plain; version=0.0.4; charset=utf-8")],
      body: .bytes(Array((lines.joined(separator: "\n") + "\n").utf8)))
  }

  private func isAllowed(_ request: WebRequest) -> Bool {
    if let token, let given = request.header("authorization") {
      return Self.areEqual(given, "Bearer \(token)")
    }
    // A proxy on this machine passes on the requests of all its clients, and a browser those of any
    // page whose name leads here.
    guard request.client.map(Self.isLoopback) ?? false,
      request.header("x-forwarded-for") == nil, request.header("forwarded") == nil,
      request.header("via") == nil, let host = request.header("host")
    else { return false }
    return Self.isLoopback(Self.withoutPort(host))
  }

  private static func withoutPort(_ host: String) -> String {
    if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
      return String(host[..<end].dropFirst())
    }
    return String(host.prefix { $0 != ":" })
  }

  /// Whether an address or name is that of the machine itself.
  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    let isIPv4 = parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    return isIPv4 || host == "::1" || host == "localhost" || host.hasPrefix("::ffff:127.")
  }

  /// Compares in a time that does not tell how much is equal.
  private static func areEqual(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }
}
