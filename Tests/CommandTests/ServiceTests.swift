// SPDX-License-Identifier: MPL-2.0

import Foundation
import Glibc
import TestKit
import Testing

/// The command as a service of systemd: what it tells the manager, and its access log and metrics.
@Suite(.tags(.process))
struct ServiceTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The manager's end of a socket.
  private final class Manager {
    private let file: Int32

    init(_ path: String) throws {
      file = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      let bytes = Array(path.utf8)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
      let status = withUnsafePointer(to: address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      guard status == 0 else { throw Failure("no socket at \(path)") }
      // A limit for hangs.
      var limit = timeval(tv_sec: 120, tv_usec: 0)
      setsockopt(file, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(file) }

    /// Receives messages up to one that begins with a text; gives it.
    @discardableResult
    func wait(for text: String) throws -> String {
      while true {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(file, &bytes, bytes.count, 0)
        guard count > 0 else { throw Failure("the manager was never told \(text)") }
        let message = String(decoding: bytes.prefix(count), as: UTF8.self)
        if message.hasPrefix(text) { return message }
      }
    }
  }

  private func start(_ arguments: [String]) throws -> (program: Program, manager: Manager) {
    let manager = try Manager(folder.path("n"))
    let shell =
      "export NOTIFY_SOCKET='\(folder.path("n"))' WATCHDOG_USEC=400000 WATCHDOG_PID=$$; "
    return (try Command.start(arguments, in: folder, shell: shell), manager)
  }

  @Test("serve tells the manager when it is ready, that it lives, and that it stops")
  func serve() async throws {
    let (program, manager) = try start([
      "serve", ".", "--port", "0", "--access-log", "access.log",
    ])
    let ready = try manager.wait(for: "READY=1")
    #expect(ready.contains("\nSTATUS=serving "), "\(ready)")
    for _ in 0..<2 { try manager.wait(for: "WATCHDOG=1") }
    let line = try program.wait(for: "\n")
    let port = try #require(line.firstMatch(of: /:(\d+)\/\n/)).1
    let address = "http://127.0.0.1:\(port)"
    let code = ["curl", "-s", "-o", "answer", "-w", "%{http_code}"]
    #expect(
      String(
        decoding: try await Program.output(of: code + [address + "/health"], in: folder.url),
        as: UTF8.self) == "503")
    let health = try String(contentsOfFile: folder.path("answer"), encoding: .utf8)
    #expect(health == "{\"status\":\"empty\",\"playlists\":[]}\n")
    let metrics = String(
      decoding: try await Program.output(of: ["curl", "-s", address + "/metrics"], in: folder.url),
      as: UTF8.self)
    #expect(metrics.contains("gst_spatial_http_requests_total{code=\"503\"} 1\n"), "\(metrics)")
    // The line of a request is written after its answer.
    func log() throws -> String {
      try String(contentsOfFile: folder.path("access.log"), encoding: .utf8)
    }
    try await eventually("both lines") { try log().split(separator: "\n").count >= 2 }
    program.terminate()
    try manager.wait(for: "STOPPING=1")
    #expect(program.result().status == 0)
    let log = try log()
    #expect(
      log.contains(/(?m)^127\.0\.0\.1 - - \[\S+ \+0000\] "GET \/health HTTP\/1\.1" 503 \d+ "-"/),
      "\(log)")
    #expect(log.split(separator: "\n").count == 2)
  }

  @Test("a token in a file, long enough not to be guessed, opens the numbers to others")
  func token() throws {
    _ = try folder.write("short\n", to: "token")
    let short = try Command.run(["serve", ".", "--port", "0", "--token-file", "token"], in: folder)
    #expect(short.status == 2 && short.errors.contains("shorter than 16"), "\(short)")
    let none = try Command.run(["serve", ".", "--port", "0", "--token-file", "x"], in: folder)
    #expect(none.status == 2 && none.errors.contains("cannot be read"), "\(none)")
  }

  @Test("a run tells of segments as JSON, and the manager when it runs")
  func run() throws {
    let file = try folder.write(
      """
      elements:
        scene: { type: stereotestsrc, is-live: true, num-buffers: 90 }
        split: { type: sbssplit }
        encode: { type: mvhevcenc, speed-preset: ultrafast, tune: zerolatency }
        sink: { type: mvhevchlssink, target-duration: 1 }
      links:
        - scene -> "video/x-raw, width=128, height=64, framerate=30/1" -> split
        - split.left -> queue -> encode.left
        - split.right -> queue -> encode.right
        - encode -> queue -> sink.video_0
      """, to: "live.yaml")
    let (program, manager) = try start(["run", file, "--json"])
    try manager.wait(for: "READY=1")
    try manager.wait(for: "WATCHDOG=1")
    let result = program.result()
    #expect(result.status == 0, "\(result)")
    let events = try result.output.split(separator: "\n").map { line in
      try #require(
        JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
    }
    let segments = events.filter { $0["event"] as? String == "segment" }
    #expect(
      Set(segments.compactMap { $0["rendition"] as? String })
        == ["video_0", "video_0_mono"])
    for segment in segments {
      let location = try #require(segment["location"] as? String)
      let path = location.hasPrefix("/") ? location : folder.path(location)
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      #expect(size == segment["bytes"] as? Int, "\(segment)")
      #expect(try #require(segment["duration"] as? Double) > 0)
    }
  }
}
