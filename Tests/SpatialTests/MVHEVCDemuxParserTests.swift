// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// The dependent eye of movies with inter-layer prediction, whose stream contains the other eye's
/// pictures, after `h265parse`: parsers take two pictures with the same time for one.
@Suite(.tags(.judge))
struct MVHEVCDemuxParserTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
    try #require(Python.hasAVAndNumPy)
  }

  /// What the stream is written to, and the name of the file's kind.
  static let sinks = [
    "mp4mux": "mp4", "qtmux": "mov", "matroskamux": "mkv", "mpegtsmux": "ts",
    "video/x-h265,stream-format=byte-stream,alignment=au": "hevc",
  ]

  /// Every picture of an eye reaches the file, each at a time of its own, and decodes exactly.
  private func expectAll(
    of movie: String, _ eye: Eye, through sink: String, are md5s: [String]
  ) async throws {
    let output = folder.path("eye." + (Self.sinks[sink] ?? ""))
    try await play(
      "filesrc location=\(movie) ! mvhevcdemux name=d d.\(eye.rawValue) ! queue ! h265parse ! "
        + "\(sink) ! filesink location=\(output)")
    let tool = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let lines = try Python.lines([tool, "--single", output]).map(\.words)
    #expect(lines.map { $0[1] } == md5s, "\(sink)")
  }

  @Test(
    "all pictures of foreign movies are kept", .tags(.long), ForeignMovies.areThere,
    arguments: ForeignMovies.names, sinks.keys.sorted())
  func foreign(name: String, sink: String) async throws {
    let facts = try #require(ForeignMovies.facts[name])
    let eye: Eye = facts.base_layer_eye == "right" ? .left : .right
    try await expectAll(
      of: ForeignMovies.path(name), eye, through: sink,
      are: facts.frame_md5_i420_presentation_order[eye.rawValue] ?? [])
  }

  @Test(
    "all pictures of a stream of keyframes alone are kept", .tags(.long),
    arguments: sinks.keys.sorted(),
    [Eye.left, .right])
  func keyframesAlone(sink: String, base: Eye) async throws {
    let movie = folder.path("keyframes.mov")
    try await play(
      "stereotestsrc num-buffers=8 ! video/x-raw,width=256,height=64 ! sbssplit name=s "
        + "s.left ! queue ! e.left s.right ! queue ! e.right "
        + "mvhevcenc name=e speed-preset=ultrafast inter-view-prediction=keyframes key-int-max=1 "
        + "hero-eye=\(base.rawValue) ! m.video_0 mvhevcmux name=m ! filesink location=\(movie)")
    let md5s = try OwnMovie.judged(movie, base: base)[base.other] ?? []
    #expect(md5s.count == 8)
    try await expectAll(of: movie, base.other, through: sink, are: md5s)
  }

  @Test("all pictures of a committed stream are kept", arguments: sinks.keys.sorted())
  func committed(sink: String) async throws {
    let streams = Repository.url.appending(path: "Tests/HEVCTests/Streams")
    let md5s = try JSONDecoder().decode(
      [String: [String: [String]]].self,
      from: Data(contentsOf: streams.appending(path: "interlayer.json")))
    let name = "interlayer-128x96"
    try await expectAll(
      of: streams.appending(path: "\(name).hevc").path, .right, through: sink,
      are: try #require(md5s[name]?["right"]))
  }

  @Test("decode times increase, and none is after the picture's own time")
  func times() async throws {
    let stream = Repository.url
      .appending(path: "Tests/HEVCTests/Streams/interlayer-128x96.hevc").path
    let pipeline = try pipeline(
      "filesrc location=\(stream) ! mvhevcdemux name=d " + DemuxRun.sinks(["left", "right"]))
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try await play(pipeline)
    let buffers = taps[1].buffers.map(\.buffer)
    #expect(buffers.count == 48)
    let decoded = buffers.compactMap(\.dts)
    let shown = buffers.compactMap(\.pts)
    #expect(decoded.count == 48 && zip(decoded, decoded.dropFirst()).allSatisfy { $0 < $1 })
    #expect(shown.count == 48 && Set(shown).count == 48)
    // The first hidden picture has nearly the time of the first shown one, for muxers.
    #expect(shown.first.map { $0 - 1 } == shown.min())
    #expect(zip(decoded, shown).allSatisfy { $0 <= $1 })
    // Both eyes are shown at the same times.
    let running = taps.map { tap in
      tap.buffers.filter { !$0.buffer.flags.contains(.decodeOnly) }.compactMap(\.runningTime)
        .sorted()
    }
    #expect(running[0].count == 24)
    #expect(running[0] == running[1])
  }
}
