// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing
import Web

/// The rules by which players follow a live stream closely.
@Suite(.tags(.realTime))
struct HLSOriginTests {
  let folder: TemporaryFolder
  let origin: HLSOrigin

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("v"), withIntermediateDirectories: false)
    origin = try HLSOrigin(folder: folder.url.path)
  }

  /// A playlist as a live stream has it: segments 10 to 13 of four parts each, and then the first
  /// parts of segment 14.
  private func live(open count: Int, last: Int = 13, target: Int = 2, ended: Bool = false) -> String
  {
    var lines = [
      "#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:\(target)",
      "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.50000,"
        + "CAN-SKIP-UNTIL=\(6 * target).00000",
      "#EXT-X-PART-INF:PART-TARGET=0.50000", "#EXT-X-MEDIA-SEQUENCE:0",
      "#EXT-X-DISCONTINUITY-SEQUENCE:0",
    ]
    lines.append("#EXT-X-MAP:URI=\"init.mp4\"")
    for segment in 0...last {
      if segment > last - 3 {
        lines += (0..<4).map { part(segment, $0) }
      }
      lines += ["#EXTINF:2.00000,", "s\(segment).m4s"]
    }
    lines += (0..<count).map { part(last + 1, $0) }
    if ended {
      lines.append("#EXT-X-ENDLIST")
    } else {
      lines.append("#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"s\(last + 1).\(count).m4s\"")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func part(_ segment: Int, _ part: Int) -> String {
    "#EXT-X-PART:DURATION=0.50000,URI=\"s\(segment).\(part).m4s\""
      + (part == 0 ? ",INDEPENDENT=YES" : "")
  }

  /// Gives a file its name when it is whole.
  private func publish(_ text: String, _ name: String = "v/index.m3u8") throws {
    _ = try folder.write(text, to: name + ".tmp")
    try #require(rename(folder.path(name + ".tmp"), folder.path(name)) == 0)
  }

  private func get(
    _ target: String, _ headers: [(name: String, value: String)] = [],
    _ method: WebRequest.Method = .get
  ) async throws -> (status: Int, text: String, headers: [String: String]) {
    let request = try #require(WebRequest(method, target, headers: headers))
    let response = await origin.respond(to: request)
    let bytes: [UInt8]
    switch response.body {
    case .bytes(let all): bytes = all
    case .file(let file, let range): bytes = try file.read(range)
    }
    return (
      response.status.rawValue, String(decoding: bytes, as: UTF8.self),
      Dictionary(response.headers.map { ($0.name, $0.value) }) { $1 }
    )
  }

  @Test("a playlist without directives is returned as it is")
  func plain() async throws {
    try publish(live(open: 1))
    let answer = try await get("/v/index.m3u8")
    #expect(answer.status == 200 && answer.text == live(open: 1))
    #expect(answer.headers["Content-Type"] == "application/vnd.apple.mpegurl")
    #expect(answer.headers["Cache-Control"] == "no-cache")
    #expect(answer.headers["Access-Control-Allow-Origin"] == "*")
    let known = [(name: "If-None-Match", value: try #require(answer.headers["ETag"]))]
    #expect(try await get("/v/index.m3u8", known).status == 304)
    try publish(live(open: 2))
    #expect(try await get("/v/index.m3u8", known).status == 200)
  }

  @Test(
    "a request for a listed segment is answered at once",
    arguments: [
      "_HLS_msn=0", "_HLS_msn=13", "_HLS_msn=13&_HLS_part=3", "_HLS_msn=14&_HLS_part=1",
      // The last part of a segment is followed by the first one of the next.
      "_HLS_msn=13&_HLS_part=4", "_HLS_msn=13&_HLS_part=400", "_HLS_msn=2&_HLS_part=7",
    ])
  func listed(query: String) async throws {
    try publish(live(open: 2))
    // What is held in vain has another status.
    let answer = try await get("/v/index.m3u8?" + query)
    #expect(answer.status == 200 && answer.text == live(open: 2))
    #expect(answer.headers["Cache-Control"] == "max-age=12")
  }

  @Test(
    "a request for a future segment is blocked, and answered when it exists",
    arguments: [
      ("_HLS_msn=14&_HLS_part=2", 3, 13), ("_HLS_msn=14", 0, 14),
      ("_HLS_msn=14&_HLS_part=3", 0, 14),
      ("_HLS_msn=15&_HLS_part=0", 1, 14), ("_HLS_msn=14&_HLS_part=7", 1, 14),
      ("_HLS_msn=13&_HLS_part=4", 1, 13),
    ])
  func held(query: String, open: Int, last: Int) async throws {
    // The machine may have something else to do at most moments, but not at all. Without being
    // told, the
    // origin looks four times a second, which at this moment would be 100 ms later.
    var delays: [Duration] = []
    while delays.count < 50, delays.last ?? .seconds(1) >= .milliseconds(50) {
      delays.append(try await delay(of: query, open: open, last: last))
    }
    #expect(try #require(delays.last) < .milliseconds(50), "\(delays)")
  }

  /// How long after its publication what was asked for is there.
  private func delay(of query: String, open: Int, last: Int) async throws -> Duration {
    try publish(live(open: query.contains("msn=13") ? 0 : 2))
    async let answer = get("/v/index.m3u8?" + query)
    try await Task.sleep(for: .milliseconds(300))
    // What is not asked for, or not whole, holds it on.
    _ = try folder.write("x", to: "v/other.tmp")
    try publish("y", "v/other.m4s")
    if last == 14, open == 1 { try publish(live(open: 3)) }
    try await Task.sleep(for: .milliseconds(100))
    let start = ContinuousClock.now
    try publish(live(open: open, last: last))
    let (status, text, _) = try await answer
    #expect(status == 200 && text == live(open: open, last: last))
    return .now - start
  }

  @Test("two hundred players that wait are all answered")
  func manyPlayers() async throws {
    try publish(live(open: 2, target: 100))
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<200 {
        group.addTask { try await get("/v/index.m3u8?_HLS_msn=14&_HLS_part=2").text }
      }
      try await Task.sleep(for: .milliseconds(300))
      try publish(live(open: 3, target: 100))
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(texts.count == 200 && texts.allSatisfy { $0 == live(open: 3, target: 100) })
  }

  @Test(
    "an invalid request is refused at once",
    arguments: [
      "_HLS_part=1", "_HLS_msn=16", "_HLS_msn=18446744073709551615", "_HLS_msn=14&_HLS_part=8",
      "_HLS_msn=15&_HLS_part=6", "_HLS_msn=-1", "_HLS_msn=x", "_HLS_msn=14&_HLS_part=",
      "_HLS_msn=99999999999999999999", "_HLS_msn=14&_HLS_part=18446744073709551615",
    ])
  func refused(query: String) async throws {
    try publish(live(open: 2))
    // What is held in vain has another status.
    #expect(try await get("/v/index.m3u8?" + query).status == 400)
  }

  @Test("a request that waits for three target durations gets an error")
  func late() async throws {
    try publish(live(open: 2, target: 1))
    let start = ContinuousClock.now
    #expect(try await get("/v/index.m3u8?_HLS_msn=14&_HLS_part=2").status == 503)
    #expect(.now - start > .seconds(2.9))
  }

  @Test("an ended stream is returned at once, whatever is requested")
  func ended() async throws {
    try publish(live(open: 2))
    async let held = get("/v/index.m3u8?_HLS_msn=14&_HLS_part=2")
    try await Task.sleep(for: .milliseconds(200))
    try publish(live(open: 0, ended: true))
    #expect(try await held.text == live(open: 0, ended: true))
    for query in ["_HLS_msn=900", "_HLS_part=2", "_HLS_msn=14&_HLS_skip=YES"] {
      let answer = try await get("/v/index.m3u8?" + query)
      #expect(answer.status == 200 && answer.text == live(open: 0, ended: true))
    }
  }

  @Test("a playlist of a stream without parts is returned at once, whatever is requested")
  func withoutParts() async throws {
    let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\na.m4s\n"
    try publish(text)
    #expect(try await get("/v/index.m3u8?_HLS_msn=7").text == text)
    try publish("#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv/index.m3u8\n", "main.m3u8")
    #expect(try await get("/main.m3u8?_HLS_part=3").status == 200)
  }

  @Test("a request for an announced part is blocked until the part is complete")
  func hint() async throws {
    try publish(live(open: 2))
    _ = try await get("/v/index.m3u8")
    async let answer = get("/v/s14.2.m4s")
    try await Task.sleep(for: .milliseconds(200))
    _ = try folder.write("half", to: "v/s14.2.m4s.tmp")
    try await Task.sleep(for: .milliseconds(100))
    try publish("whole", "v/s14.2.m4s")
    let (status, text, headers) = try await answer
    #expect(status == 200 && text == "whole")
    #expect(headers["Content-Type"] == "video/iso.segment")
  }

  @Test("an early request for a segment, as by DASH, is blocked until the segment is complete")
  func openSegment() async throws {
    try publish(live(open: 2))
    _ = try await get("/v/index.m3u8")
    #expect(try await get("/v/s15.m4s").status == 404)
    async let answer = get("/v/s14.m4s")
    try await Task.sleep(for: .milliseconds(200))
    try publish(live(open: 3))
    try await Task.sleep(for: .milliseconds(100))
    // The segment is there before a playlist lists it.
    try publish("whole", "v/s14.m4s")
    try publish(live(open: 0, last: 14))
    let (status, text, _) = try await answer
    #expect(status == 200 && text == "whole")
  }

  @Test("an announced part that never comes, and unannounced files, are not found")
  func brokenHint() async throws {
    let target = 100
    try publish(live(open: 2, target: target))
    #expect(try await get("/v/s14.3.m4s").status == 404)
    _ = try await get("/v/index.m3u8")
    async let answer = get("/v/s14.2.m4s")
    try await Task.sleep(for: .milliseconds(200))
    let start = ContinuousClock.now
    try publish(live(open: 0, last: 14, target: target))
    #expect(try await answer.status == 404)
    // It was not held to the end of the time for which it would be.
    #expect(.now - start < .seconds(2 * target))
  }

  @Test("a delta update and the previous playlist make the full playlist")
  func delta() async throws {
    let whole = live(open: 2)
    try publish(whole)
    let (status, text, _) = try await get("/v/index.m3u8?_HLS_msn=13&_HLS_skip=YES")
    #expect(status == 200 && text.count < whole.count && text.contains("#EXT-X-VERSION:9\n"))
    let skipped = try #require(
      text.firstMatch(of: /#EXT-X-SKIP:SKIPPED-SEGMENTS=(\d+)/).flatMap { Int($0.1) })
    #expect((5...8).contains(skipped))
    func segments(_ text: String) -> [String] {
      text.components(separatedBy: "\n").filter {
        $0.hasSuffix(".m4s") || $0.hasPrefix("#EXT-X-PART:")
      }
    }
    let before = live(open: 1)
    #expect(segments(before).prefix(skipped) + segments(text) == segments(whole)[...])
  }

  @Test("no delta update skips tags that the origin does not know; keys are known")
  func foreignDelta() async throws {
    for (tag, isKnown) in [("BITRATE:900", false), ("KEY:METHOD=SAMPLE-AES,URI=\"key\"", true)] {
      let foreign = live(open: 2).replacing(
        "#EXTINF:2.00000,\ns1.m4s", with: "#EXT-X-\(tag)\n#EXTINF:2.00000,\ns1.m4s")
      try publish(foreign)
      let text = try await get("/v/index.m3u8?_HLS_msn=13&_HLS_skip=YES").text
      #expect((text == foreign) == !isKnown && text.contains("#EXT-X-SKIP") == isKnown, "\(text)")
    }
  }

  @Test("only the files of a stream in the folder are served")
  func otherFiles() async throws {
    let outer = try TemporaryFolder()
    let files = FileManager.default
    _ = try outer.write("secret", to: "secret.mp4")
    try files.createSymbolicLink(
      atPath: folder.path("link.mp4"), withDestinationPath: outer.path("secret.mp4"))
    try files.createSymbolicLink(atPath: folder.path("l"), withDestinationPath: outer.url.path)
    for name in ["a.mp4", ".hidden.mp4", "a.mp4.tmp", "key.pem", "noend", "v/.mp4"] {
      _ = try folder.write("content", to: name)
    }
    try files.createDirectory(atPath: folder.path(".git"), withIntermediateDirectories: false)
    _ = try folder.write("content", to: ".git/a.mp4")
    let answer = try await get("/a.mp4")
    #expect(answer.text == "content" && answer.headers["Content-Type"] == "video/mp4")
    #expect(try #require(answer.headers["Cache-Control"]).contains("max-age="))
    for path in [
      "/link.mp4", "/l/secret.mp4", "/.hidden.mp4", "/a.mp4.tmp", "/key.pem", "/noend", "/v/.mp4",
      "/.git/a.mp4", "/", "/v", "/v/", "//a.mp4", "/a.mp4/", "/none.mp4",
      "/none/index.m3u8?_HLS_msn=1",
    ] {
      #expect(try await get(path).status == 404, "\(path)")
    }
    _ = try folder.write("page", to: "index.html")
    #expect(try await get("/").text == "page")
  }

  @Test("an invalid playlist is served, and does no harm")
  func hostilePlaylists() async throws {
    for text in [
      "", "#EXTM3U", "\0\0", "#EXTM3U\n#EXT-X-TARGETDURATION:0\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-PART-INF:PART-TARGET=0.000000001\n"
        + "#EXT-X-MEDIA-SEQUENCE:4611686018427387903\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:86400\n#EXT-X-PART-INF:PART-TARGET=99999999\n"
        + "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"../../../../etc/passwd\"\n",
    ] {
      try publish(text)
      #expect(try await get("/v/index.m3u8").text == text)
      let answer = try await get("/v/index.m3u8?_HLS_msn=9000000&_HLS_part=9&_HLS_skip=YES")
      #expect([200, 400].contains(answer.status))
    }
  }

  @Test("pages of other origins may read it, if allowed")
  func origins() async throws {
    let preflight = try await get("/v/index.m3u8", [], .options)
    #expect(preflight.status == 204)
    #expect(preflight.headers["Access-Control-Allow-Headers"]?.contains("Range") == true)
    let closed = try HLSOrigin(folder: folder.url.path, allowedOrigin: nil)
    let request = try #require(WebRequest(.options, "/"))
    #expect(await closed.respond(to: request).headers.allSatisfy { !$0.name.hasPrefix("Access-") })
  }

  @Test("there is no origin without a folder")
  func noFolder() throws {
    #expect(throws: FileError.self) { try HLSOrigin(folder: folder.path("none")) }
    _ = try folder.write("", to: "file")
    #expect(throws: FileError.self) { try HLSOrigin(folder: folder.path("file")) }
  }
}
