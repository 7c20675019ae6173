// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial serve`, with players that follow a live stream.
@Suite(.tags(.process), .checkedStreams)
struct ServeCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("live"), withIntermediateDirectories: false)
  }

  /// What a line of a shell prints in the folder.
  private func text(_ line: String) async throws -> String {
    String(
      decoding: try await Program.output(of: ["sh", "-c", line], in: folder.url, errors: .merged),
      as: UTF8.self)
  }

  /// A live stream into the folder, as the README has it.
  private func stream(seconds: Int) throws -> Program {
    StreamWatches.current?.watch(folder.path("live"), in: folder)
    return try Program(
      [
        "sh", "-c",
        """
        exec gst-launch-1.0 -q -e stereotestsrc is-live=true num-buffers=\(seconds * 30) ! \
          video/x-raw,width=256,height=128,framerate=30/1 ! sbssplit name=s \
          s.left ! queue ! e.left  s.right ! queue ! e.right \
          mvhevcenc name=e speed-preset=ultrafast tune=zerolatency ! queue ! h.video_0 \
          audiotestsrc is-live=true num-buffers=\(seconds * 47) samplesperbuffer=1024 ! \
          audio/x-raw,rate=48000,channels=1 ! avenc_aac ! queue ! h.audio_0 \
          mvhevchlssink name=h location=live/%s/segment%05d.m4s init-location=live/%s/init%05d.mp4 \
          playlist-location=live/%s/index.m3u8 multivariant-playlist-location=live/main.m3u8 \
          target-duration=1 part-duration=200000000 playlist-length=20
        """,
      ], in: folder.url)
  }

  private func waitForFile(_ name: String) async throws {
    try await eventually(name) { FileManager.default.fileExists(atPath: folder.path(name)) }
  }

  private func port(_ command: Program) throws -> Int {
    let line = try command.wait(for: "\n")
    return try #require(line.firstMatch(of: /:(\d+)\/\n/).flatMap { Int($0.1) }, "\(line)")
  }

  private func follow(_ url: String, _ file: String, _ options: String = "") async throws
    -> [String: Double]
  {
    let python = try #require(ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"])
    let program = Repository.url.appending(path: "Tests/Tools/follow_stream.py").path
    let said = try await text("'\(python)' '\(program)' \(url) \(folder.path(file)) \(options)")
    return try #require(
      JSONSerialization.jsonObject(with: Data(said.utf8)) as? [String: Double], "\(said)")
  }

  /// How many frames of each view an independent decoder finds.
  private func frames(_ file: String) async throws -> [Substring: Int] {
    let python = try #require(ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"])
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    return try await text("'\(python)' '\(program)' \(folder.path(file))").split(separator: "\n")
      .reduce(into: [:]) { $0[$1.split(separator: " ")[0], default: 0] += 1 }
  }

  @Test("a player that follows a live stream gets each part as soon as it exists")
  func lowLatency() async throws {
    let stream = try stream(seconds: 10)
    try await waitForFile("live/main.m3u8")
    let server = try Command.start(["serve", "live", "--port", "0"], in: folder)
    let address = "http://127.0.0.1:\(try port(server))"
    async let mono = follow("\(address)/video_0_mono/index.m3u8", "mono.mp4")
    async let audio = follow("\(address)/audio_0/index.m3u8", "audio.mp4")
    let seen = try await follow("\(address)/video_0/index.m3u8", "both.mp4")
    let others = [try await mono, try await audio]
    stream.wait()
    for seen in [seen] + others {
      #expect(try #require(seen["reloads"]) >= 15, "\(seen)")
      // In ten seconds: no client waits for whole segments.
      #expect(try #require(seen["segments"]) >= 4, "\(seen)")
    }
    // Each part but the first ones was asked for before it was there.
    #expect(try #require(seen["hints"]) >= 15, "\(seen)")
    // Ten seconds are enough for segments that are six target durations old.
    #expect(try #require(others[0]["deltas"]) + (seen["deltas"] ?? 0) >= 1, "\(seen)")
    let parts = try #require(seen["parts"])
    let frames = try await frames("both.mp4")
    #expect(frames.count == 2 && Set(frames.values).count == 1, "\(frames)")
    #expect(try #require(frames.values.first) >= Int(parts) * 5, "\(frames)")
    server.interrupt()
    let result = server.result()
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
  }

  @Test("stock players read the stream from the server")
  func stockPlayers() async throws {
    let stream = try stream(seconds: 3)
    stream.wait()
    let server = try Command.start(["serve", "live", "--port", "0"], in: folder)
    let address = "http://127.0.0.1:\(try port(server))"
    let counted = try await text(
      "ffmpeg -loglevel error -i \(address)/main.m3u8 -map 0:v:0 -f framemd5 - | grep -vc '^#'")
    #expect(Int(counted.trimmingCharacters(in: .whitespacesAndNewlines)) == 90, "\(counted)")
    _ = try await text(
      "gst-launch-1.0 -q souphttpsrc location=\(address)/video_0/index.m3u8 ! hlsdemux ! "
        + "mvhevcdemux name=d d.left ! queue ! filesink location=l.h265 "
        + "d.right ! queue ! filesink location=r.h265")
    for name in ["l.h265", "r.h265"] {
      let size = try FileManager.default.attributesOfItem(atPath: folder.path(name))[.size]
      #expect((size as? Int ?? 0) > 5000)
    }
    server.interrupt()
    #expect(server.result().status == 0)
  }

  /// As `scripts/setup python` unpacks it, or as it is installed.
  private static let nginx = [
    Repository.url.path + "/.build/nginx/usr/sbin/nginx", "/usr/sbin/nginx",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(
    "nginx as a proxy adds encryption, HTTP/2 and compression, without latency",
    .enabled(if: nginx != nil, "nginx is neither installed nor in .build"))
  func throughNginx() async throws {
    let stream = try stream(seconds: 6)
    try await waitForFile("live/main.m3u8")
    let server = try Command.start(["serve", "live", "--port", "0"], in: folder)
    let origin = try port(server)
    let front = 20_000 + Int.random(in: 0..<20_000)
    // The page's own configuration, with this place's names.
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/streaming.md"), encoding: .utf8)
    let block = try #require(page.firstMatch(of: #/```nginx\n((?s).*?)```/#)).output.1
    // A port that the system gives may have another's digits in it.
    let configuration = block.replacing("listen 443", with: "listen \(front)")
      .replacing("127.0.0.1:8080", with: "127.0.0.1:\(origin)")
      .replacing("/etc/ssl/stream", with: folder.url.path)
      .replacing("/var/cache/nginx", with: folder.url.path)
    #expect(configuration.contains(":\(origin)") && configuration.contains("\(front) ssl http2"))
    let place = folder.url.path
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(place)/\($0);"
    }
    _ = try folder.write(
      """
      daemon off; pid \(place)/nginx.pid; error_log \(place)/nginx.log;
      events {}
      http { access_log off; \(temporary.joined(separator: " "))
      \(configuration)
      }
      """, to: "nginx.conf")
    _ = try await text(
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        + "-keyout \(place)/key.pem -out \(place)/certificate.pem")
    let nginx = try Program(
      [try #require(Self.nginx), "-p", place, "-c", "\(place)/nginx.conf"], in: folder.url)
    defer { nginx.terminate() }
    let address = "https://127.0.0.1:\(front)"
    try await eventually("an answer of nginx") {
      try #require(nginx.isRunning)
      return (try? await text("curl -ks --fail \(address)/main.m3u8")) != nil
    }
    let head = try await text(
      "curl -ksS --http2 --compressed -D - -o /dev/null \(address)/video_0/index.m3u8")
    #expect(head.hasPrefix("HTTP/2 200") && head.contains("content-encoding: gzip"), "\(head)")
    #expect(head.contains("access-control-allow-origin: *"), "\(head)")
    let part = try await text(
      "curl -ksS --http2 -r 0-7 -D - -o /dev/null \(address)/video_0/init00000.mp4")
    #expect(part.hasPrefix("HTTP/2 206"), "\(part)")
    let seen = try await follow("\(address)/video_0/index.m3u8", "both.mp4", "--insecure")
    #expect(try #require(seen["reloads"]) >= 8, "\(seen)")
    #expect(try #require(seen["hints"]) >= 8, "\(seen)")
    stream.wait()
    server.interrupt()
    #expect(server.result().status == 0)
  }

  @Test("a folder or address that cannot be served is reported")
  func mistakes() async throws {
    let missing = try Command.run(["serve", "nothing"], in: folder)
    #expect(missing.status == 2 && missing.errors.contains("'nothing' cannot be served"))
    let first = try Command.start(["serve", "live", "--port", "0"], in: folder)
    let port = try port(first)
    let second = try Command.run(["serve", "live", "--port", "\(port)"], in: folder)
    #expect(second.status == 1 && second.errors.contains("the port is in use"), "\(second)")
    let open = try Command.start(["serve", "live", "--port", "0", "--host", "0.0.0.0"], in: folder)
    try open.wait(for: "serving")
    open.interrupt()
    #expect(open.result().errors.contains("warning: all clients of 0.0.0.0"))
    first.interrupt()
    #expect(first.result().status == 0)
    for options in [["--port", "70000"], ["--connections", "0"], ["--allow-origin", "a b"]] {
      #expect(try Command.run(["serve", "live"] + options, in: folder).status == 64, "\(options)")
    }
  }
}
