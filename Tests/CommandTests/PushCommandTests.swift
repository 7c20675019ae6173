// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial push`, to nginx as docs/streaming.md has it: WebDAV over TLS, with a password.
@Suite(.tags(.process), .checkedStreams)
struct PushCommandTests {
  private let folder: TemporaryFolder
  private let port = 40_000 + Int.random(in: 0..<20_000)

  /// As `scripts/setup python` unpacks it, or as it is installed.
  private static let nginx = [
    Repository.url.path + "/.build/nginx/usr/sbin/nginx", "/usr/sbin/nginx",
  ].first { FileManager.default.isExecutableFile(atPath: $0) }
  private static let isThere = ConditionTrait.enabled(
    if: nginx != nil, "nginx is neither installed nor in .build")

  init() throws {
    folder = try TemporaryFolder()
    for name in ["live/v", "served"] {
      try FileManager.default.createDirectory(
        atPath: folder.path(name), withIntermediateDirectories: true)
    }
    chmod(folder.url.path, 0o755)
    chmod(folder.path("served"), 0o777)
  }

  private func text(_ line: String) async throws -> String {
    String(
      decoding: try await Program.output(of: ["sh", "-c", line], in: folder.url, errors: .merged),
      as: UTF8.self)
  }

  /// Writes the server's configuration, its certificate, and the file of headers.
  private func configure() async throws {
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/streaming.md"), encoding: .utf8)
    let blocks = page.matches(of: #/```nginx\n((?s).*?)```/#).map(\.output.1)
    let block = try #require(blocks.first { $0.contains("dav_methods") })
    let place = folder.url.path
    let configuration = block.replacing("listen 443", with: "listen 127.0.0.1:\(port)")
      .replacing("/etc/ssl/stream", with: place).replacing("/srv/stream", with: "\(place)/served")
    let temporary = ["proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(place)/\($0);"
    }
    _ = try folder.write(
      """
      daemon off; pid \(place)/nginx.pid; error_log \(place)/nginx.log;
      events {}
      http { access_log \(place)/access.log; \(temporary.joined(separator: " "))
      \(configuration)
      }
      """, to: "nginx.conf")
    _ = try await text(
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost "
        + "-addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out certificate.pem; "
        + "echo \"studio:$(openssl passwd -apr1 secret)\" > users")
    let secret = Data("studio:secret".utf8).base64EncodedString()
    _ = try folder.write("Authorization: Basic \(secret)\n", to: "secret.txt")
  }

  private func startServer() async throws -> Program {
    let nginx = try Program(
      [
        try #require(Self.nginx), "-p", folder.url.path, "-c", folder.path("nginx.conf"), "-e",
        folder.path("nginx.log"),
      ], in: folder.url)
    try await eventually("an answer of nginx") {
      try #require(nginx.isRunning)
      return (try? await text("curl -ks \(address)/")) != nil
    }
    return nginx
  }

  private var address: String { "https://127.0.0.1:\(port)" }

  private func push(_ options: [String] = []) throws -> Program {
    try Command.start(
      [
        "push", "live", "\(address)/news", "--header-file", "secret.txt", "--ca-file",
        "certificate.pem",
      ] + options, in: folder)
  }

  private func write(_ name: String, _ text: String) throws {
    let temporary = try folder.write(text, to: "live/\(name).tmp")
    #expect(rename(temporary, folder.path("live/\(name)")) == 0)
  }

  /// Writes the segment that is the last one of a window of four.
  private func advance(to number: Int, ends: Bool = false) throws {
    try write("v/segment\(number).m4s", String(repeating: "segment \(number)", count: 10_000))
    unlink(folder.path("live/v/segment\(number - 6).m4s"))
    let lines = (max(0, number - 3)...number).map { "#EXTINF:1.0,\nsegment\($0).m4s\n" }
    try write(
      "v/index.m3u8",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(max(0, number - 3))\n"
        + lines.joined() + (ends ? "#EXT-X-ENDLIST\n" : ""))
  }

  private func served(_ name: String) -> String? {
    try? String(contentsOfFile: folder.path("served/news/\(name)"), encoding: .utf8)
  }

  @Test(
    "a stream with both eyes is on the server as it is in the folder, and plays", .tags(.judge),
    isThere)
  func wholeStream() async throws {
    try await configure()
    StreamWatches.current?.watch(folder.path("live"), in: folder)
    _ = try await text(
      """
      gst-launch-1.0 -q -e stereotestsrc num-buffers=60 ! \
        video/x-raw,width=256,height=128,framerate=30/1 ! sbssplit name=s \
        s.left ! queue ! e.left  s.right ! queue ! e.right \
        mvhevcenc name=e speed-preset=ultrafast key-int-max=30 ! queue ! h.video_0 \
        mvhevchlssink name=h location=live/%s/segment%05d.m4s init-location=live/%s/init%05d.mp4 \
        playlist-location=live/%s/index.m3u8 multivariant-playlist-location=live/main.m3u8 \
        mpd-location=live/manifest.mpd target-duration=1 playlist-type=vod
      """)
    let server = try await startServer()
    defer { server.terminate() }
    // Nothing is sent to a server that cannot prove who it is.
    let trusting = try Command.start(
      ["push", "live", "\(address)/news", "--header-file", "secret.txt", "--json"], in: folder)
    let told = try trusting.wait(for: "interrupted")
    #expect(told.contains("certificate"), "\(told)")
    trusting.interrupt()
    #expect(trusting.result().status == 1)
    let result = try push().result()
    #expect(result.status == 0 && result.errors.isEmpty, "\(result)")
    #expect(result.output.contains("files sent ("), "\(result)")
    #expect(try await text("rmdir live/v; diff -r live served/news") == "")
    let log = try folder.text("access.log")
    let order = log.matches(of: /"PUT \/news\/(\S+) HTTP\S+" (\d+)/).map { String($0.output.1) }
    let media = try #require(order.lastIndex { !$0.hasSuffix(".m3u8") && !$0.hasSuffix(".mpd") })
    let lists = try #require(order.firstIndex { $0.hasSuffix(".m3u8") })
    #expect(media < lists && order.last == "manifest.mpd", "\(order)")
    let counted = try await text(
      "ffmpeg -loglevel error -tls_verify 0 -i \(address)/news/main.m3u8 -map 0:v:0 -f framemd5 - "
        + "| grep -vc '^#'")
    #expect(counted == "60\n", "\(counted)")
  }

  @Test(
    "a server that starts again gets what is there; the rest is told, counted, and a gap",
    isThere)
  func outage() async throws {
    try await configure()
    var server = try await startServer()
    defer { server.terminate() }
    try advance(to: 0)
    let push = try push(["--json"])
    try push.wait(for: "begin")
    for number in 1...8 {
      try advance(to: number)
      try await eventually("segment \(number)") {
        served("v/index.m3u8")?.contains("segment\(number).m4s") == true
      }
    }
    // The last thing to do before the server goes.
    try await eventually("segment 2 is deleted") { served("v/segment2.m4s") == nil }
    #expect(served("v/segment3.m4s") != nil)
    server.terminate()
    server.wait()
    try advance(to: 9)
    try push.wait(for: "interrupted")
    for number in 10...17 { try advance(to: number) }
    // The pipeline has taken away a file that is listed.
    unlink(folder.path("live/v/segment15.m4s"))
    server = try await startServer()
    try push.wait(for: "resumed")
    let list = try #require(served("v/index.m3u8"))
    #expect(list.contains("#EXT-X-GAP\n#EXTINF:1.0,\nsegment15.m4s"), "\(list)")
    #expect(served("v/segment15.m4s") == nil && served("v/segment17.m4s") != nil)
    try advance(to: 18, ends: true)
    let result = push.result()
    #expect(result.status == 1, "\(result)")
    let last = try #require(result.output.split(separator: "\n").last)
    #expect(last.contains("\"end\"") && last.contains(/"lost":[1-9]/), "\(last)")
    #expect(served("v/index.m3u8")?.hasSuffix("#EXT-X-ENDLIST\n") == true)
    #expect(served("v/segment8.m4s") == nil)
  }

  @Test("a wrong password is told, and mended while the command runs", isThere)
  func password() async throws {
    try await configure()
    let server = try await startServer()
    defer { server.terminate() }
    let secret = try folder.text("secret.txt")
    _ = try folder.write("Authorization: Basic bm9uZTpub25l\n", to: "secret.txt")
    try advance(to: 0, ends: true)
    let push = try push(["--json"])
    let told = try push.wait(for: "interrupted")
    #expect(told.contains("answered with 401"), "\(told)")
    _ = try folder.write(secret, to: "secret.txt")
    let result = push.result()
    #expect(result.status == 0 && served("v/segment0.m4s") != nil, "\(result)")
  }

  @Test("an address or a file that cannot be used, and a server that is not there, are told")
  func mistakes() throws {
    try advance(to: 0, ends: true)
    _ = try folder.write("no header", to: "wrong.txt")
    // None of it may be left out in silence, and no writer of a pipe is waited for.
    _ = try folder.write(
      String(repeating: "X-Name: value\n", count: 3000), to: "large.txt")
    try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
    for arguments in [
      ["live", "ftp://127.0.0.1/"], ["live", "https://a:b@127.0.0.1/"],
      ["live", "http://127.0.0.1/", "--header-file", "wrong.txt"],
      ["live", "http://127.0.0.1/", "--header-file", "missing.txt"],
      ["live", "http://127.0.0.1/", "--header-file", "large.txt"],
      ["live", "http://127.0.0.1/", "--header-file", "pipe"],
      ["live/v/index.m3u8", "http://127.0.0.1/"],
    ] {
      let result = try Command.run(["push"] + arguments, in: folder)
      #expect(result.status == 2 && result.errors.hasPrefix("error: "), "\(result)")
    }
    #expect(
      try Command.run(
        ["push", "live", "http://127.0.0.1/", "--connections", "0"], in: folder
      ).status == 64)
    // Nothing listens there.
    let push = try Command.start(["push", "live", "http://127.0.0.1:1/", "--json"], in: folder)
    try push.wait(for: "interrupted")
    push.interrupt()
    #expect(push.result().status == 1)
  }

  @Test(
    "an object store that checks signatures gets the stream; other keys are refused",
    .tags(.judge), .enabled(if: Python.hasObjectStore, "no moto"))
  func objectStore() async throws {
    let tool = Repository.url.appending(path: "Tests/Tools/object_store.py").path
    let store = try Program([Python.interpreter, tool])
    defer { store.terminate() }
    let words = try store.wait(for: /http:\/\/\S+ \S+ \S+/).split(whereSeparator: \.isWhitespace)
      .map(String.init)
    let (address, keyID, secret) = (words[0], words[1], words[2])
    try advance(to: 0)
    // Characters that a signature must not spell in another way.
    let odd = "v ü+~/seg(1)'.m4s"
    try FileManager.default.createDirectory(
      atPath: folder.path("live/v ü+~"), withIntermediateDirectories: true)
    try write(odd, "odd")
    try advance(to: 1, ends: true)
    func push(_ variables: String, _ options: String...) throws -> Program {
      try Command.start(
        ["push", "live", "\(address)/live/news", "--s3-region", "us-east-1"] + options,
        in: folder, shell: "export HOME=$PWD; unset AWS_PROFILE; export \(variables); ")
    }
    let without = try push("AWS_ACCESS_KEY_ID= AWS_SECRET_ACCESS_KEY=").result()
    #expect(without.status == 2 && without.errors.contains("/.aws/credentials'"), "\(without)")
    let wrong = try push("AWS_ACCESS_KEY_ID=\(keyID) AWS_SECRET_ACCESS_KEY=no", "--json")
    let told = try wrong.wait(for: "interrupted")
    #expect(told.contains("answered with 403"), "\(told)")
    wrong.interrupt()
    #expect(wrong.result().status == 1)
    try FileManager.default.createDirectory(
      atPath: folder.path(".aws"), withIntermediateDirectories: true)
    _ = try folder.write(
      "[live]\naws_access_key_id = \(keyID)\naws_secret_access_key = \(secret)\n",
      to: ".aws/credentials")
    let profile = try push("A=b").result()
    #expect(profile.status == 2 && profile.errors.contains("the profile 'default'"), "\(profile)")
    let result = try push("AWS_PROFILE=live").result()
    #expect(result.status == 0, "\(result)")
    #expect(
      result.errors == "warning: the stream is sent unencrypted, and can be changed on the way\n")
    for (name, type) in [
      ("segment0.m4s", "video/iso.segment"), ("segment1.m4s", "video/iso.segment"),
      ("index.m3u8", "application/vnd.apple.mpegurl"),
    ] {
      let said = try await text(
        "curl -s -o got -w '%{http_code} %{content_type}' --aws-sigv4 aws:amz:us-east-1:s3 "
          + "-H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' --user '\(keyID):\(secret)' "
          + "\(address)/live/news/v/\(name) && cmp got live/v/\(name)")
      #expect(said == "200 \(type)", "\(name): \(said)")
    }
  }
}

extension TemporaryFolder {
  fileprivate func text(_ name: String) throws -> String {
    try String(contentsOfFile: path(name), encoding: .utf8)
  }
}
