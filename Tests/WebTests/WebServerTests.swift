// SPDX-License-Identifier: MPL-2.0

import Foundation
import Synchronization
import TestKit
import Testing
import Web

/// Answers with what was asked for.
private struct Echo: WebResponder {
  func respond(to request: WebRequest) async -> WebResponse {
    WebResponse(
      .ok, headers: [("Content-Type", "text/plain")],
      body: .bytes(Array(request.path.joined(separator: "|").utf8)))
  }
}

/// Never answers, and counts who waits.
private final class Silence: WebResponder {
  let waiting = Mutex(0)

  func respond(to request: WebRequest) async -> WebResponse {
    waiting.withLock { $0 += 1 }
    try? await Task.sleep(for: .seconds(2 * hangLimit))
    waiting.withLock { $0 -= 1 }
    return WebResponse(.ok)
  }
}

private struct Files: WebResponder {
  let folder: String

  func respond(to request: WebRequest) async -> WebResponse {
    OpenFile(request.path, in: folder).map { WebResponse($0, for: request, headers: []) }
      ?? WebResponse(.notFound)
  }
}

/// The server, and what hostile peers do to it.
@Suite(.tags(.realTime))
struct WebServerTests {
  private func withServer(
    _ responder: any WebResponder, _ limits: WebServerLimits = WebServerLimits(),
    _ body: (Int) async throws -> Void
  ) async throws {
    let server = try await WebServer.start(on: ["127.0.0.1"], port: 0, limits: limits, responder)
    do {
      try await body(server.port)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  @Test("requests of a connection are answered in order, and then it stays open")
  func pipelined() async throws {
    try await withServer(Echo()) { port in
      let peer = try Peer(port: port)
      peer.send((0..<20).map { "GET /a/\($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined())
      let text = try await peer.read(until: "a|19")
      #expect(text.matches(of: /a\|(\d+)/).map { String($0.1) } == (0..<20).map { "\($0)" })
      peer.send("GET /again HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
      let last = try #require(await peer.rest())
      #expect(last.hasSuffix("again") && last.contains("onnection: close"))
    }
  }

  @Test("the answer to HEAD has the size, and no body")
  func head() async throws {
    try await withServer(Echo()) { port in
      let peer = try Peer(port: port)
      peer.send("HEAD /abc HTTP/1.0\r\n\r\n")
      let text = try #require(await peer.rest())
      #expect(text.lowercased().contains("content-length: 3\r\n") && text.hasSuffix("\r\n\r\n"))
      #expect(text.contains(/(?i)\r\ndate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/))
    }
  }

  @Test(
    "invalid requests are refused",
    arguments: [
      ("nonsense\r\n\r\n", "400"),
      ("GET /../../etc/passwd HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET /a%2f..%2fb HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET /%00 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET /%zz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET /%ff HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET ftp://other/ HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET http://other/../a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nConnection: close\r\n\r\n", "400"),
      ("GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\nConnection: close\r\n\r\n", "400"),
      ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nab", "405"),
      ("DELETE / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "405"),
      ("GET / HTTP/1.1\r\nHost: h\r\nA: \(String(repeating: "b", count: 20_000))\r\n\r\n", "400"),
      (
        "GET / HTTP/1.1\r\nHost: h\r\n"
          + (0..<400).map { "A\($0): \(String(repeating: "b", count: 60))\r\n" }.joined() + "\r\n",
        "400"
      ),
      ("GET /\(String(repeating: "b", count: 20_000)) HTTP/1.1\r\nHost: h\r\n\r\n", "400"),
    ])
  func refused(request: String, status: String) async throws {
    try await withServer(Echo()) { port in
      let peer = try Peer(port: port)
      peer.send(request)
      let text = try #require(await peer.rest(), "reset")
      #expect(text.hasPrefix("HTTP/1.1 \(status) "), "\(text)")
      #expect(!text.contains("passwd"))
    }
  }

  @Test("the path may come with scheme and host, as through a proxy")
  func absoluteForm() async throws {
    try await withServer(Echo()) { port in
      for (target, path) in [("http://h/a/b", "a|b"), ("HTTP://h:80", ""), ("http://h?c=d", "")] {
        let peer = try Peer(port: port)
        peer.send("GET \(target) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        let text = try #require(await peer.rest())
        #expect(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("\r\n\r\n\(path)"), "\(text)")
      }
    }
  }

  @Test("an endless body is not waited for")
  func longBody() async throws {
    try await withServer(Echo()) { port in
      let peer = try Peer(port: port)
      peer.send("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n")
      let piece = String(repeating: "x", count: 4096)
      for _ in 0..<16 { peer.send("1000\r\n\(piece)\r\n") }
      // The answer may be lost when more data follows the request; the connection is closed all the
      // same.
      if let text = await peer.rest() { #expect(text.isEmpty || text.hasPrefix("HTTP/1.1 413 ")) }
    }
  }

  @Test("beyond the maximum number of connections none is accepted, until one closes")
  func connections() async throws {
    var limits = WebServerLimits()
    limits.connections = 3
    try await withServer(Echo(), limits) { port in
      let request = "GET /here HTTP/1.1\r\nHost: h\r\n\r\n"
      let peers = try (0..<3).map { _ in try Peer(port: port) }
      for peer in peers {
        peer.send(request)
        _ = try await peer.read(until: "here")
      }
      let further = try Peer(port: port)
      further.send(request)
      #expect(await further.rest()?.isEmpty ?? true)
      peers[0].leave()
      try await eventually("an answer to one more") {
        let peer = try Peer(port: port)
        peer.send(request)
        return (try? await peer.read(until: "here")) != nil
      }
    }
  }

  @Test("a client that sends a request too slowly, or none, is disconnected")
  func slowRequest() async throws {
    var limits = WebServerLimits()
    limits.patience = .milliseconds(300)
    try await withServer(Echo(), limits) { port in
      let (silent, slow) = (try Peer(port: port), try Peer(port: port))
      for character in "GET / HTTP/1.1" {
        slow.send(String(character))
        try await Task.sleep(for: .milliseconds(40))
      }
      #expect(await slow.rest()?.isEmpty ?? true)
      #expect(await silent.rest()?.isEmpty ?? true)
    }
  }

  @Test(
    "a client that does not read its answer is disconnected; a slow one gets all of it",
    .tags(.exhaustive))
  func slowReader() async throws {
    let folder = try TemporaryFolder()
    let bytes = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
    try bytes.write(to: folder.url.appending(path: "big"))
    var limits = WebServerLimits()
    limits.patience = .milliseconds(500)
    let place = folder.url.resolvingSymlinksInPath().path
    try await withServer(Files(folder: place), limits) { port in
      let request = "GET /big HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
      // The server's timer may be late, too.
      var seconds = 1
      try await eventually("a peer that is left") {
        let idle = try Peer(port: port)
        idle.send(request)
        try await Task.sleep(for: .seconds(seconds))
        seconds *= 2
        return await idle.rest()?.utf8.count ?? 0 < bytes.count
      }
    }
    // This reader may have to wait for the machine.
    limits.patience = .seconds(hangLimit)
    try await withServer(Files(folder: place), limits) { port in
      let whole = try await download(port: port, path: "/big")
      #expect(whole == bytes)
    }
  }

  @Test("when a client disconnects, work on its answer stops")
  func leaving() async throws {
    let silence = Silence()
    try await withServer(silence) { port in
      let peer = try Peer(port: port)
      peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
      try await eventually("the request") { silence.waiting.withLock { $0 } == 1 }
      peer.leave()
      try await eventually("the end of the answer") { silence.waiting.withLock { $0 } == 0 }
    }
  }

  @Test("while an answer is prepared, the client is not disconnected")
  func slowAnswer() async throws {
    struct Slow: WebResponder {
      func respond(to request: WebRequest) async -> WebResponse {
        try? await Task.sleep(for: .milliseconds(900))
        return WebResponse(.ok, body: .bytes(Array("late".utf8)))
      }
    }
    var limits = WebServerLimits()
    limits.patience = .milliseconds(300)
    try await withServer(Slow(), limits) { port in
      let peer = try Peer(port: port)
      // The second one waits for the first one.
      peer.send("GET / HTTP/1.1\r\nHost: h\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n")
      let text = try #require(await peer.rest())
      #expect(text.matches(of: /late/).count == 2, "\(text)")
    }
  }

  @Test("a port in use is reported as such")
  func takenPort() async throws {
    try await withServer(Echo()) { port in
      await #expect {
        _ = try await WebServer.start(on: ["127.0.0.1"], port: port, Echo())
      } throws: { ($0 as? WebServerError)?.isPortTaken == true }
    }
  }
}

/// All that a plain request gets, without its head.
private func download(port: Int, path: String) async throws -> Data {
  let peer = try Peer(port: port)
  peer.send("GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
  let all = Data(await peer.restBytes() ?? [])
  guard let end = all.firstRange(of: Data("\r\n\r\n".utf8)) else { return Data() }
  return all[end.upperBound...]
}
