// SPDX-License-Identifier: MPL-2.0

import Foundation
import Synchronization
import TestKit
import Testing

import Web

/// A stream that is pushed to a server, round by round: no clock and no network.
struct StreamPushTests {
  /// A server that answers as it is told.
  private final class Server: PushServer {
    struct State {
      var files: [String: [UInt8]] = [:]
      var requests: [String] = []
      var answers: [String: PushAnswer] = [:]
      var all: PushAnswer?
      var hook: (@Sendable (String) -> Void)?
    }

    let state = Mutex(State())

    func put(_ bytes: [UInt8], to path: [String]) -> PushAnswer {
      answer("PUT", path) { $0[path.joined(separator: "/")] = bytes }
    }

    func delete(_ path: [String]) -> PushAnswer {
      answer("DELETE", path) { $0[path.joined(separator: "/")] = nil }
    }

    private func answer(
      _ method: String, _ path: [String], _ change: (inout [String: [UInt8]]) -> Void
    ) -> PushAnswer {
      let name = path.joined(separator: "/")
      let (answer, hook) = state.withLock { state -> (PushAnswer, (@Sendable (String) -> Void)?) in
        state.requests.append("\(method) \(name)")
        let answer = state.all ?? state.answers[name] ?? .done
        if answer == .done { change(&state.files) }
        return (answer, state.hook)
      }
      hook?(name)
      return answer
    }

    var names: [String] { state.withLock { $0.files.keys.sorted() } }

    func text(_ name: String) -> String? {
      state.withLock { $0.files[name].map { String(decoding: $0, as: UTF8.self) } }
    }

    func takeRequests() -> [String] {
      state.withLock { state in
        defer { state.requests = [] }
        return state.requests
      }
    }
  }

  private let folder: TemporaryFolder
  private let server = Server()
  private let push: StreamPush

  init() throws {
    folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("v"), withIntermediateDirectories: true)
    push = try StreamPush(folder: folder.url.path, to: [server])
  }

  private func write(_ name: String, _ text: String = "") throws {
    // As the sink does: a file gets its name when it is complete.
    let temporary = try folder.write(text.isEmpty ? name : text, to: "\(name).tmp")
    #expect(rename(temporary, folder.path(name)) == 0)
  }

  private func remove(_ name: String) { unlink(folder.path(name)) }

  private func playlist(_ numbers: ClosedRange<Int>, ends: Bool = false) throws {
    let segments = numbers.map { "#EXTINF:1.0,\nsegment\($0).m4s\n" }
    try write(
      "v/index.m3u8",
      "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:\(numbers.lowerBound)\n"
        + "#EXT-X-MAP:URI=\"init.mp4\"\n\(segments.joined())" + (ends ? "#EXT-X-ENDLIST\n" : ""))
  }

  private func begin() throws {
    try write("v/init.mp4")
    try write("v/segment0.m4s")
    try write("v/segment1.m4s")
    try playlist(0...1)
    try write("main.m3u8", "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\nv/index.m3u8\n")
    try write("manifest.mpd", "<MPD/>")
  }

  /// The outcome of a round, and its events.
  private func round() -> (StreamPush.Round, [StreamPush.Event]) {
    var events: [StreamPush.Event] = []
    let round = push.round { events.append($0) }
    return (round, events)
  }

  @Test("media is written before the lists of it, manifests last; what leaves is deleted after")
  func order() throws {
    try begin()
    try write("v/segment2.m4s.tmp", "not complete")
    try write("v/notes.txt")
    try write("main.m3u8.lock")
    #expect(round() == (.complete, []))
    #expect(
      server.takeRequests() == [
        "PUT v/init.mp4", "PUT v/segment0.m4s", "PUT v/segment1.m4s", "PUT v/index.m3u8",
        "PUT main.m3u8", "PUT manifest.mpd",
      ])
    #expect(round() == (.complete, []))
    #expect(server.takeRequests().isEmpty)
    try write("v/segment2.m4s")
    try playlist(1...2)
    remove("v/segment0.m4s")
    #expect(round() == (.complete, []))
    #expect(
      server.takeRequests() == ["PUT v/segment2.m4s", "PUT v/index.m3u8", "DELETE v/segment0.m4s"])
    try playlist(1...2, ends: true)
    #expect(round() == (.ended, []))
    #expect(push.counts.files == 9 && push.counts.deleted == 1 && push.counts.lost == 0)
  }

  @Test("a server that is away is told once; it gets what is there when it is back, with gaps")
  func outage() throws {
    try begin()
    #expect(round() == (.complete, []))
    _ = server.takeRequests()
    server.state.withLock { $0.all = .failed(reason: "no route", isAnswered: false) }
    for number in 2...30 {
      try write("v/segment\(number).m4s")
      remove("v/segment\(number - 4).m4s")
      try playlist(max(0, number - 3)...number)
      let (outcome, events) = round()
      #expect(outcome == .failed)
      let lost = events.filter { if case .lost = $0 { true } else { false } }.count
      #expect(lost == (number >= 6 ? 1 : 0))
      #expect(events.contains(.interrupted(reason: "no route")) == (number == 2))
      // It is not asked for each of the files that wait.
      #expect(server.takeRequests().count == 1)
    }
    #expect(push.counts.isInterrupted && push.counts.waiting == 4 && push.counts.lost == 25)
    server.state.withLock { $0.all = nil }
    // One that is listed leaves the folder while it waits.
    remove("v/segment27.m4s")
    let (outcome, events) = round()
    #expect(outcome == .complete && events.contains(.resumed))
    #expect(!push.counts.isInterrupted && push.counts.waiting == 0 && push.counts.lost == 26)
    let text = try #require(server.text("v/index.m3u8"))
    #expect(text.contains("#EXT-X-GAP\n#EXTINF:1.0,\nsegment27.m4s\n#EXTINF:1.0,\nsegment28.m4s"))
    #expect(text.components(separatedBy: "#EXT-X-GAP").count == 2)
    #expect(server.names.filter { $0.hasPrefix("v/segment") }.count == 3)
  }

  @Test("a segment that the server does not take is a gap, and no longer tried")
  func refusedSegment() throws {
    try begin()
    server.state.withLock { $0.answers["v/segment1.m4s"] = PushAnswer(status: 413, of: "PUT") }
    #expect(
      round() == (
        .complete, [.lost(path: "v/segment1.m4s", reason: "PUT is answered with 413")]
      ))
    #expect(server.text("v/index.m3u8")?.contains("#EXT-X-GAP\n#EXTINF:1.0,\nsegment1.m4s") == true)
    _ = server.takeRequests()
    #expect(round() == (.complete, []))
    #expect(server.takeRequests().isEmpty)
    // A file of the same name later is another one.
    server.state.withLock { $0.answers = [:] }
    try write("v/segment1.m4s", "another one")
    #expect(round() == (.complete, []))
    #expect(server.text("v/index.m3u8")?.contains("GAP") == false)
  }

  @Test("a segment that fails again and again is given up; the others continue")
  func failingSegment() throws {
    try begin()
    server.state.withLock { $0.answers["v/segment0.m4s"] = PushAnswer(status: 503, of: "PUT") }
    for _ in 1..<56 { #expect(round().0 == .failed) }
    let (outcome, events) = round()
    #expect(outcome == .complete && events.count == 2)
    #expect(push.counts.lost == 1 && server.names.contains("v/segment1.m4s"))
    // Sooner if the server takes others.
    server.state.withLock { $0.answers["v/segment2.m4s"] = PushAnswer(status: 500, of: "PUT") }
    try write("v/segment2.m4s")
    for number in 3..<14 {
      try write("v/segment\(number).m4s")
      #expect(round().0 == .failed)
    }
    try write("v/segment14.m4s")
    #expect(round().0 == .complete)
  }

  @Test("a server that answers nothing but failures is not asked for all that waits")
  func overload() throws {
    try begin()
    for number in 2...30 { try write("v/segment\(number).m4s") }
    server.state.withLock { $0.all = PushAnswer(status: 503, of: "PUT") }
    #expect(round() == (.failed, [.interrupted(reason: "PUT is answered with 503")]))
    #expect(server.takeRequests().count == 4 && push.counts.waiting == 32)
  }

  @Test("a segment that leaves the folder while others are sent is not listed")
  func leavesMeanwhile() throws {
    try begin()
    let path = folder.path("v/segment1.m4s")
    server.state.withLock { $0.hook = { if $0 == "v/segment0.m4s" { unlink(path) } } }
    #expect(round() == (.outdated, []))
    #expect(server.text("v/index.m3u8") == nil)
    let (outcome, events) = round()
    #expect(outcome == .complete && events.count == 1 && push.counts.lost == 1)
    #expect(server.text("v/index.m3u8")?.contains("GAP") == true)
  }

  @Test("a folder that cannot be read leaves the server as it is")
  func missingFolder() throws {
    try begin()
    #expect(round() == (.complete, []))
    _ = server.takeRequests()
    let moved = folder.url.path + ".moved"
    try FileManager.default.moveItem(atPath: folder.url.path, toPath: moved)
    #expect(round() == (.failed, [.missingFolder]))
    #expect(round() == (.failed, []))
    try FileManager.default.moveItem(atPath: moved, toPath: folder.url.path)
    #expect(round() == (.complete, []))
    #expect(server.takeRequests().isEmpty)
  }

  @Test("a server that deletes nothing, or refuses a list, is told once for each file")
  func refusedRequests() throws {
    try begin()
    server.state.withLock { $0.answers["manifest.mpd"] = PushAnswer(status: 405, of: "PUT") }
    #expect(
      round() == (
        .complete, [.refused(path: "manifest.mpd", reason: "PUT is answered with 405")]
      ))
    server.state.withLock { $0.answers["v/segment0.m4s"] = PushAnswer(status: 405, of: "DELETE") }
    remove("v/segment0.m4s")
    try playlist(1...1)
    try write("manifest.mpd", "<MPD a=\"\"/>")
    #expect(
      round() == (
        .complete, [.refused(path: "v/segment0.m4s", reason: "DELETE is answered with 405")]
      ))
    #expect(round() == (.complete, []))
  }

  @Test("links that lead elsewhere are not followed, and strange lists harm nothing")
  func hostileFolder() throws {
    try begin()
    symlink("/etc/passwd", folder.path("v/segment9.m4s"))
    symlink("/", folder.path("root"))
    mkfifo(folder.path("v/pipe.m4s"), 0o600)
    try write(
      "v/strange.m3u8",
      "#EXTM3U\n../../../x.m4s\nhttps://example.org/a.m4s\n#EXT-X-PART:DURATION=1,URI=\"no.m4s\"\n"
        + "#EXT-X-PART:URI=\"\n#EXTINF:\nno.m4s\nno.m4s")
    try Data([0xFF, 0xFE, 0, 10, 13]).write(to: URL(filePath: folder.path("v/bytes.m3u8")))
    #expect(round() == (.complete, [.hasParts]))
    #expect(!server.names.contains { $0.contains("segment9") || $0.contains("root") })
    #expect(
      server.text("v/strange.m3u8")
        == "#EXTM3U\n../../../x.m4s\nhttps://example.org/a.m4s\n"
        + "#EXT-X-PART:DURATION=1,URI=\"no.m4s\",GAP=YES\n#EXT-X-PART:URI=\"\n"
        + "#EXT-X-GAP\n#EXTINF:\nno.m4s\nno.m4s")
  }

  @Test(
    "addresses and headers that cannot be used are refused",
    arguments: [
      "ftp://example.org/", "https://", "https:///a", "http://user:secret@example.org/a",
      "https://example.org/a?b", "https://example.org/a b", "example.org", "",
    ])
  func addresses(_ address: String) throws {
    #expect(throws: HTTPPushServer.Problem.self) { try HTTPPushServer(address) }
    #expect(try HTTPPushServer.headers(in: "A: b\n\nC:d\r\n") == ["A: b", "C:d"])
    for text in ["A", ": b", "A b: c", "A: b\nnone", "A: \u{1}"] {
      #expect(throws: HTTPPushServer.Problem.self) { try HTTPPushServer.headers(in: text) }
    }
  }
}
