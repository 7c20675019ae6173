// SPDX-License-Identifier: MPL-2.0

import Foundation
import Synchronization
import TestKit
import Testing
import Web

/// The state of a server and of its streams, as operators see it.
struct MonitoringTests {
  private let folder: TemporaryFolder
  private let origin: HLSOrigin

  init() throws {
    folder = try TemporaryFolder()
    for name in ["a", "b", "b/c", ".hidden"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: false)
    }
    origin = try HLSOrigin(folder: folder.url.path)
  }

  /// A playlist that was written some seconds ago.
  private func write(_ name: String, age: Double = 0, ended: Bool = false) throws {
    let path = try folder.write(
      """
      #EXTM3U
      #EXT-X-TARGETDURATION:2
      #EXT-X-MEDIA-SEQUENCE:7
      #EXTINF:2.00000,
      s7.m4s
      #EXT-X-GAP
      #EXTINF:2.00000,
      s8.m4s
      \(ended ? "#EXT-X-ENDLIST" : "")
      """, to: name)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: path)
  }

  private func get(
    _ path: String, from client: String? = "127.0.0.1", token: String? = nil,
    _ headers: [(name: String, value: String)] = [("Host", "127.0.0.1:8080")],
    counts: WebCounts = WebCounts()
  ) async throws -> (status: Int, text: String) {
    let monitored = MonitoredOrigin(origin, counts, token: token)
    let request = try #require(WebRequest(.get, path, headers: headers, client: client))
    let response = await monitored.respond(to: request)
    guard case .bytes(let bytes) = response.body else { return (response.status.rawValue, "") }
    return (response.status.rawValue, String(decoding: bytes, as: UTF8.self))
  }

  private func health() async throws -> (status: Int, object: [String: Any]) {
    let answer = try await get("/health")
    let object = try JSONSerialization.jsonObject(with: Data(answer.text.utf8))
    return (answer.status, try #require(object as? [String: Any]))
  }

  @Test("health: well while playlists are written or have ended, else not")
  func states() async throws {
    var seen = try await health()
    #expect(seen.status == 503 && seen.object["status"] as? String == "empty")
    try write("a/index.m3u8")
    try write("b/c/in \"dex.m3u8", age: 1000, ended: true)
    try write(".hidden/index.m3u8", age: 1000)
    seen = try await health()
    #expect(seen.status == 200 && seen.object["status"] as? String == "ok", "\(seen)")
    let lists = try #require(seen.object["playlists"] as? [[String: Any]])
    #expect(lists.map { $0["playlist"] as? String } == ["a/index.m3u8", "b/c/in \"dex.m3u8"])
    #expect(lists[0]["next"] as? Int == 9 && lists[0]["gaps"] as? Int == 1)
    try write("b/index.m3u8", age: 7)
    seen = try await health()
    #expect(seen.status == 503 && seen.object["status"] as? String == "stalled", "\(seen)")
  }

  @Test("metrics are in the text format of Prometheus, with one sample for each playlist")
  func metrics() async throws {
    try write("a/index.m3u8", age: 100)
    try write("b/in \"dex.m3u8", ended: true)
    let counts = WebCounts()
    counts.connected(isRefused: false)
    counts.connected(isRefused: true)
    for status in [200, 200, 404] {
      counts.began()
      counts.ended(exchange("/", status: status))
    }
    let text = try await get("/metrics", counts: counts).text
    // name{labels} value
    let form = /(?:# (?:HELP|TYPE) \S+ .+|[a-z_]+(?:\{[a-z]+="(?:[^"\\]|\\.)*"\})? -?[0-9.e+-]+)/
    for line in text.split(separator: "\n") { #expect(line.wholeMatch(of: form) != nil, "\(line)") }
    for line in [
      "gst_spatial_http_requests_total{code=\"200\"} 2",
      "gst_spatial_http_requests_total{code=\"404\"} 1", "gst_spatial_http_sent_bytes_total 15",
      "gst_spatial_http_request_seconds_total 1.5", "gst_spatial_http_connections 1",
      "gst_spatial_http_refused_connections_total 1", "gst_spatial_http_requests 0",
      "gst_spatial_playlist_stalled{playlist=\"a/index.m3u8\"} 1",
      "gst_spatial_playlist_ended{playlist=\"b/in \\\"dex.m3u8\"} 1",
      "gst_spatial_playlist_gaps{playlist=\"a/index.m3u8\"} 1",
      "gst_spatial_playlist_next_sequence{playlist=\"a/index.m3u8\"} 9",
    ] {
      #expect(text.contains(line + "\n"), "\(line) in \(text)")
    }
  }

  @Test("others than programs of this machine need the token, and proxies do not lend theirs")
  func access() async throws {
    try write("a/index.m3u8")
    let host = ("Host", "localhost")
    for client in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] {
      #expect(try await get("/health", from: client, [host]).status == 200, "\(client)")
    }
    for (client, headers) in [
      ("192.0.2.1", [host]), ("127.0.0.1.example", [host]), (nil, [host]),
      ("127.0.0.1", [("Host", "stream.example")]), ("127.0.0.1", []),
      ("127.0.0.1", [("Host", "127.evil.example")]),
      ("127.0.0.1", [host, ("X-Forwarded-For", "192.0.2.1")]),
      ("127.0.0.1", [host, ("Via", "1.1 proxy")]),
    ] as [(String?, [(name: String, value: String)])] {
      for path in ["/health", "/metrics"] {
        let answer = try await get(path, from: client, headers)
        #expect(answer.status == 403 && !answer.text.contains("a/index"), "\(headers)")
      }
    }
    let secret = "0123456789abcdef"
    func authorized(_ text: String) async throws -> Int {
      try await get(
        "/health", from: "192.0.2.1", token: secret,
        [("Host", "stream.example"), ("Authorization", text)]
      ).status
    }
    #expect(try await authorized("Bearer \(secret)") == 200)
    for wrong in ["Bearer", "Bearer 0123456789abcdeF", secret, "Bearer \(secret)0"] {
      #expect(try await authorized(wrong) == 403, "\(wrong)")
    }
    // Files of these names below are none of its business.
    #expect(try await get("/a/index.m3u8", from: "192.0.2.1", []).status == 200)
  }

  private func exchange(
    _ target: String, agent: String? = nil, status: Int = 200
  ) -> WebExchange {
    WebExchange(
      client: "192.0.2.1", method: "GET", target: target, version: "HTTP/1.1", userAgent: agent,
      status: status, bytes: 5, duration: .milliseconds(500))
  }

  @Test("a line of the access log, in which clients cannot begin another")
  func logLine() {
    #expect(
      exchange("/a?b", agent: "A \"B\"\n\u{1B}").line(secondsSince1970: 784_111_777)
        == "192.0.2.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a?b HTTP/1.1\" 200 5 \"-\" "
        + "\"A \\\"B\\\"\\x0A\\x1B\" 0.500")
  }

  @Test("the server tells of each request, also of one that it refuses", .tags(.realTime))
  func observed() async throws {
    let seen = Mutex<[WebExchange]>([])
    let counts = WebCounts { exchange in seen.withLock { $0.append(exchange) } }
    try write("a/index.m3u8")
    let server = try await WebServer.start(
      on: ["127.0.0.1"], port: 0, observer: counts, MonitoredOrigin(origin, counts))
    let peer = try Peer(port: server.port)
    peer.send("GET /a/index.m3u8 HTTP/1.1\r\nHost: h\r\nUser-Agent: test\r\n\r\n")
    _ = try await peer.read(until: "s8.m4s")
    peer.send("POST /x HTTP/1.1\r\nHost: h\r\n\r\n")
    _ = try await peer.read(until: "405")
    peer.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    let text = try #require(await peer.rest())
    #expect(text.contains("gst_spatial_http_requests_total{code=\"200\"} 1\n"), "\(text)")
    #expect(text.contains("gst_spatial_http_connections 1\n"), "\(text)")
    try await eventually("three exchanges") { seen.withLock(\.count) == 3 }
    let exchanges = seen.withLock { $0 }
    #expect(exchanges.map(\.status) == [200, 405, 200] && exchanges[0].userAgent == "test")
    #expect(exchanges[0].bytes > 50 && exchanges[0].client == "127.0.0.1")
    await server.stop()
  }
}
