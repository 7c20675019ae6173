// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import HEVC
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux`: broken files, other inputs, life cycles.
struct MVHEVCDemuxRobustnessTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// Reads bytes in both modes. An error is an answer; what is asked is that there is one.
  private func survives(_ bytes: [UInt8]) async throws {
    let file = folder.path("broken.mov")
    try Data(bytes).write(to: URL(filePath: file))
    for between in ["", "queue !"] {
      do {
        let pipeline = try pipeline("filesrc location=\(file) ! \(between) mvhevcdemux name=d")
        DemuxRun.linkAllPads(of: pipeline.element(named: "d"), in: pipeline)
        try await play(pipeline)
      } catch is PipelineFailure {}
    }
  }

  @Test("a file that is cut off anywhere is played up to there, or refused")
  func truncated() async throws {
    try await OwnMovie.make(path, frames: 12, audio: true)
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    var dice = Dice(3)
    for _ in 0..<30 { try await survives(Array(bytes.prefix(dice.next(below: bytes.count)))) }
  }

  @Test(
    "a file with a wrong byte somewhere never hangs or crashes",
    arguments: ["plain", "edits", "layers"])
  func corrupted(kind: String) async throws {
    try await OwnMovie.make(path, frames: 12, audio: true)
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: path)))
    if kind == "edits" {
      let pieces: [(UInt64, Int64?)] = [(90_000, nil), (9_000, 0), (9_000, 12_000), (6_000, 3_000)]
      bytes = try MovieIndex.replacingEdits(
        pieces.map { Edit(duration: $0.0, mediaTime: $0.1) }, of: "vide", in: bytes)
    } else if kind == "layers" {
      let changed = folder.path("layers.mov")
      try MovieFile(path).rebuildVideo(at: changed) { entry in
        try entry.changeVPS { vps in
          vps.multilayer?.scalabilityMask = 1 << 3
          vps.multilayer?.layers[1].scalabilityIDs[3] = 1
        }
      }
      bytes = [UInt8](try Data(contentsOf: URL(filePath: changed)))
    }
    let index = try #require(bytes.lastRange(of: Array("moov".utf8))).lowerBound
    var dice = Dice(11)
    for round in 0..<40 {
      var broken = bytes
      let at =
        round % 3 == 0
        ? dice.next(below: bytes.count) : index + dice.next(below: bytes.count - index)
      broken[at] = UInt8(dice.next(below: 256))
      try await survives(broken)
    }
  }

  @Test(
    "a truncated foreign movie is reported, and the frames before are output",
    ForeignMovies.areThere)
  func cutOff() async throws {
    let name = "gradients-160x120-left-base.mp4"
    let bytes = [UInt8](
      try Data(contentsOf: URL(filePath: ForeignMovies.path(name))))
    let file = folder.path("short.mp4")
    try Data(bytes.prefix(bytes.count * 3 / 4)).write(to: URL(filePath: file))
    let pipeline = try pipeline(
      "filesrc location=\(file) ! mvhevcdemux name=d " + DemuxRun.sinks(["left"]))
    let tap = try Tap(pipeline.element(named: "left")?.staticPad("sink"))
    do {
      let messages = try await play(pipeline)
      #expect(messages.warnings.contains { $0.contains("cut off") })
      #expect(tap.buffers.count > 0)
    } catch let failure as PipelineFailure {
      #expect(failure.message.contains("moov"))
    }
  }

  @Test(
    "layered H.265 without a container gives the eyes of the movie made of it", .tags(.judge),
    Judge.isThere)
  func elementary() async throws {
    let pipeline = try pipeline(
      eyes(12, "format=I420,width=320,height=96,framerate=30/1")
        + "mvhevcenc name=mux speed-preset=superfast ! tee name=t t. ! queue ! m.video_0 "
        + "mvhevcmux name=m ! filesink location=\(path) t. ! queue ! mvhevcdemux name=d "
        + "d.left ! queue ! avdec_h265 ! fakesink name=left "
        + "d.right ! queue ! avdec_h265 ! fakesink name=right")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try await play(pipeline)
    let expected = try OwnMovie.judged(path)
    for (eye, tap) in zip([Eye.left, .right], taps) {
      #expect(try tap.buffers.map { md5(try $0.pixels()) } == expected[eye], "\(eye)")
    }
    let file = folder.path("stream.hevc")
    try Data(MovieFile(path).videoByteStream()).write(to: URL(filePath: file))
    for eye in Eye.allCases {
      for between in ["", "queue !"] {
        let frames = try await DemuxRun.decoded(file, eye.rawValue, between: between)
        #expect(frames.map(\.md5) == expected[eye], "\(eye) \(between)")
      }
    }
  }

  @Test(
    "the element goes up and down twice, with any of its pads linked, and leaks nothing",
    .tags(.process))
  func lifeCycle() async throws {
    try await OwnMovie.make(path, frames: 12, audio: true)
    let pipeline = try pipeline("filesrc location=\(path) ! mvhevcdemux name=d")
    DemuxRun.linkAllPads(of: pipeline.element(named: "d"), in: pipeline)
    for _ in 0..<3 {
      try await play(pipeline)
      #expect(pipeline.element(named: "d")?.staticPad("left") == nil)
      DemuxRun.removeSinks(["left", "right", "video_0", "audio_0"], from: pipeline)
    }
    for pad in ["left", "audio_0", "video_0"] {
      let status = try runExpectingNoLeaks(
        "filesrc location=\(path) ! mvhevcdemux name=d d.\(pad) ! fakesink")
      #expect(status == 0)
    }
  }

  @Test("no linked pad is an error that says so")
  func unlinked() async throws {
    try await OwnMovie.make(path, frames: 4)
    let failure = try await failure(
      of: "filesrc location=\(path) ! mvhevcdemux")
    #expect(failure.debug.contains("not-linked"))
    #expect(failure.message.contains("left, right, video_0"))
  }

  @Test("linked eyes of an ordinary movie are an error that says what the movie has")
  func flat() async throws {
    try await play(
      "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=64 ! x265enc ! h265parse ! "
        + "mp4mux ! filesink location=\(path)")
    let pipeline = try pipeline("filesrc location=\(path) ! mvhevcdemux name=d d.left ! fakesink")
    let failure = try await failure(of: pipeline)
    #expect(failure.message.contains("linked: video_0. There is no video with two layers"))
  }
}
