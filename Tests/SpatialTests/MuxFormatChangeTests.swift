// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// `mvhevcmux` in fragments where a stream changes its format: another initialization segment
/// follows.
struct MuxFormatChangeTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let follows = "header-update-mode=caps fragment-duration=333333333"

  private static let encoding = "speed-preset=ultrafast option-string=bframes=2:rc-lookahead=5"

  /// Ten pairs of one size, and twelve of another.
  private static let parts = [(10, "width=256,height=64"), (12, "width=384,height=96")].map {
    "videotestsrc pattern=ball num-buffers=\($0) ! "
      + "video/x-raw,format=I420,framerate=30/1,\($1) ! "
  }

  /// These parts, one after the other, as eyes for an element.
  private static func eyes(of parts: [String], to element: String) -> String {
    "concat name=c ! sbssplit name=s input-mode-override=side-by-side s.left ! queue ! "
      + "\(element).left s.right ! queue ! \(element).right "
      + parts.map { $0 + "c. " }.joined()
  }

  /// All of them, coded.
  private static let changing =
    eyes(of: parts, to: "enc") + "mvhevcenc name=enc \(encoding) "

  /// The streams of a movie, with what leaves the muxer.
  private func muxed(_ streams: String, _ properties: String) async throws -> [PassedBuffer] {
    let pipeline = try pipeline(streams + "mvhevcmux name=mux \(properties) ! fakesink")
    let tap = try Tap(pipeline.element(named: "mux")?.staticPad("src"))
    try await play(pipeline)
    return tap.buffers
  }

  /// Files of their own: each begins with an initialization segment.
  private func parts(_ buffers: [PassedBuffer]) throws -> [String] {
    let starts = buffers.indices.filter {
      buffers[$0].buffer.flags.isSuperset(of: [.header, .discont])
    }
    #expect(starts.first == 0)
    return try zip(starts, starts.dropFirst() + [buffers.count]).map { start, end in
      let path = folder.path("part-\(start).mp4")
      try Data(buffers[start..<end].flatMap(\.buffer.bytes)).write(to: URL(filePath: path))
      return path
    }
  }

  /// The MD5s of the pictures that an independent decoder finds, by view.
  private func pictures(_ path: String, _ options: [String] = []) throws -> [String: [String]] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let lines = try Python.lines([program] + options + [path]).map(\.words)
    return Dictionary(
      lines.filter { ["0", "1"].contains($0[0]) }.map { ($0[0], [$0[1]]) },
      uniquingKeysWith: +)
  }

  @Test(
    "both eyes continue in another size, after an initialization segment of its own", .tags(.judge),
    Judge.isThere,
    arguments: ["container=mp4", "container=mov", "container=cmaf", "chunk-duration=66666666"])
  func video(properties: String) async throws {
    let buffers = try await muxed(
      Self.changing + "! mux.video_0 ", "\(Self.follows) \(properties)")
    let paths = try parts(buffers)
    try #require(paths.count == 2)
    let elementary = folder.path("stream.hevc")
    try await play(
      Self.changing
        + "! video/x-h265,stream-format=byte-stream ! filesink location=\(elementary)")
    let expected = try pictures(elementary, ["--format", "hevc"])
    let found = try paths.map { try pictures($0) }
    #expect(found.map { $0["0"]?.count } == [10, 12])
    for view in ["0", "1"] {
      #expect(found.flatMap { $0[view] ?? [] } == expected[view])
    }
    // Who comes late gets the new one.
    let headers = buffers.compactMap { passed in
      if case .array(let list)? = passed.caps.first?["streamheader"],
        case .buffer(let header)? = list.first
      {
        header.bytes
      } else {
        nil
      }
    }
    #expect(Set(headers).count == 2)
    #expect(headers.last == buffers.last { $0.buffer.flags.contains(.discont) }?.buffer.bytes)
    try await checkTimes(buffers)
  }

  /// Times continue: the reader reads one stream.
  private func checkTimes(_ buffers: [PassedBuffer]) async throws {
    let whole = folder.path("whole.mp4")
    try Data(buffers.flatMap(\.buffer.bytes)).write(to: URL(filePath: whole))
    let pipeline = try pipeline(
      "filesrc location=\(whole) ! queue ! mvhevcdemux name=d d.left ! queue ! fakesink name=left "
        + "d.right ! queue ! fakesink name=right")
    let eyes = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try await play(pipeline)
    for eye in eyes {
      // A flattened eye has the other one's pictures inside, which are not shown.
      let times = eye.buffers.filter { !$0.buffer.flags.contains(.decodeOnly) }
        .compactMap(\.runningTime).sorted()
      #expect(times.count == 22)
      let distances = zip(times, times.dropFirst()).map { $1 - $0 }
      #expect(distances.allSatisfy { (33_000_000..<35_000_000).contains($0) })
    }
  }

  @Test(
    "two eyes that the muxer encodes continue in another size, too", .tags(.judge), Judge.isThere,
    arguments: ["container=mp4", "container=mov", "container=cmaf", "chunk-duration=66666666"])
  func eyes(properties: String) async throws {
    // Keyframes come where they would without fragments.
    let buffers = try await muxed(
      Self.eyes(of: Self.parts, to: "mux"),
      "\(Self.encoding) \(Self.follows) send-force-keyunit=false \(properties)")
    let found = try parts(buffers).map { try pictures($0) }
    try #require(found.map { $0["0"]?.count } == [10, 12])
    for (part, found) in zip(Self.parts, found) {
      let path = folder.path("expected.mov")
      try await play(
        Self.eyes(of: [part], to: "mux")
          + "mvhevcmux name=mux \(Self.encoding) ! filesink location=\(path)")
      #expect(try pictures(path) == found)
    }
    try await checkTimes(buffers)
  }

  @Test("audio continues in another format, while video does not change")
  func audio() async throws {
    func tone(_ rate: Int, _ channels: Int) -> String {
      "audiotestsrc num-buffers=20 samplesperbuffer=1024 ! "
        + "audio/x-raw,rate=\(rate),channels=\(channels) ! avenc_aac ! c. "
    }
    let streams =
      "concat name=c ! queue ! mux.audio_0 \(tone(48_000, 2)) \(tone(44_100, 1)) "
      + "stereotestsrc num-buffers=30 ! "
      + "video/x-raw,format=I420,width=256,height=64,framerate=30/1 ! "
      + "sbssplit name=s s.left ! queue ! mux.left s.right ! queue ! mux.right "
    let buffers = try await muxed(
      streams, "\(Self.follows) container=mp4 speed-preset=ultrafast key-int-max=10")
    let paths = try parts(buffers)
    try #require(paths.count == 2)
    var rates: [UInt32] = []
    var counts: [Int] = []
    for path in paths {
      let audio = try #require(try MovieFile(path).tracks("soun").first)
      let entry = try #require(audio.sampleEntries.first)
      if case .audio(let audio) = entry { rates.append(audio.sampleRate) }
      counts.append(audio.samples.count)
    }
    #expect(rates == [48_000, 44_100])
    // Each encoder gives what it holds, and one packet first.
    #expect(counts == [21, 21])
  }

  @Test("without it, a change is an error that names it")
  func refused() async throws {
    for streams in [
      Self.changing + "! mux.video_0 mvhevcmux name=mux",
      Self.eyes(of: Self.parts, to: "mux") + "mvhevcmux name=mux \(Self.encoding)",
    ] {
      let failure = try await failure(of: "\(streams) fragment-duration=333333333 ! fakesink")
      #expect(failure.message.contains("header-update-mode=caps"), "\(failure)")
    }
  }

  private static let coded = changing + "! mux.video_0 mvhevcmux name=mux"

  @Test("a movie that becomes progressive has one format, and so have the eyes of any")
  func oneFormat() async throws {
    let raw = Self.eyes(of: Self.parts, to: "mux") + "mvhevcmux name=mux \(Self.encoding)"
    let finalise = "\(Self.follows) fragment-mode=first-moov-then-finalise"
    for line in [
      "\(raw) header-update-mode=caps", "\(raw) \(finalise)", "\(Self.coded) \(finalise)",
    ] {
      let path = folder.path("movie.mov")
      let failure = try await failure(of: "\(line) ! filesink location=\(path)")
      #expect(failure.message.contains("changed mid-stream"), "\(failure)")
      #expect(try MovieFile(path).video().samples.count == 10)
    }
  }

  @Test(
    "a progressive movie of coded video has a sample entry for each format", .tags(.judge),
    Judge.isThere, arguments: ["mov", "mp4"])
  func progressive(container: String) async throws {
    let (path, copy) = (folder.path("movie.\(container)"), folder.path("copy.\(container)"))
    try await play("\(Self.coded) container=\(container) ! filesink location=\(path)")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! "
        + "mvhevcmux container=\(container) ! "
        + "filesink location=\(copy)")
    for file in [path, copy] {
      let video = try MovieFile(file).video()
      #expect(video.sampleEntries.count == 2)
      let used = video.allSamples.map(\.sampleEntryIndex)
      #expect(used == Array(repeating: 0, count: 10) + Array(repeating: 1, count: 12))
      #expect(try pictures(file).mapValues(\.count) == ["0": 22, "1": 22])
    }
    #expect(try pictures(path) == pictures(copy))
  }
}
