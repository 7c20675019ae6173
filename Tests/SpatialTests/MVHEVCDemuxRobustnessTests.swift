// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import FuzzTargets
import GStreamer
import GStreamerCheck
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

  @Test("a truncated movie is reported, and the frames before are output; or it is refused")
  func cutOff() async throws {
    try await OwnMovie.make(path, frames: 12)
    let movie = try #require(SeedMovie([UInt8](try Data(contentsOf: URL(filePath: path)))))
    let short = folder.path("short.mov")
    func cut(_ bytes: [UInt8]) throws {
      try Data(bytes.prefix(bytes.count * 3 / 4)).write(to: URL(filePath: short))
    }
    try cut(movie.indexFirst)
    for between in ["", "queue !"] {
      let pipeline = try pipeline(
        "filesrc location=\(short) ! \(between) mvhevcdemux name=d " + DemuxRun.sinks(["left"]))
      let tap = try Tap(pipeline.element(named: "left")?.staticPad("sink"))
      let messages = try await play(pipeline)
      #expect(messages.warnings.contains { $0.contains("cut off") }, "\(between)")
      #expect((1..<12).contains(tap.buffers.count), "\(between)")
    }
    try cut(movie.bytes)
    for between in ["", "queue !"] {
      let failure = try await failure(
        of: "filesrc location=\(short) ! \(between) mvhevcdemux name=d d.left ! fakesink")
      #expect(failure.message.contains("moov"), "\(failure.message)")
    }
  }

  @Test(
    "H.265 without a container gives the eyes of the movie made of it, at the requested framerate",
    .tags(.judge),
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
        let frames = try await record(
          "filesrc location=\(file) ! \(between) mvhevcdemux name=d framerate=25/2 "
            + "d.\(eye) ! queue ! avdec_h265 max-threads=2 ! fakesink name=sink")[0]
        #expect(try frames.map { md5(try $0.pixels()) } == expected[eye], "\(eye) \(between)")
        #expect(frames.map(\.runningTime) == (0..<12).map { $0 * 80_000_000 })
        #expect(frames.first?.caps.first?.fraction("framerate") == Fraction(25, 2))
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

  @Test(
    "if nothing that is linked is there, an error says what the movie has",
    arguments: [
      (true, "", "linked: left, right, video_0"),
      (false, "d.left ! fakesink", "linked: video_0. There is no video with two layers"),
    ])
  func unlinked(isLayered: Bool, links: String, words: String) async throws {
    if isLayered {
      try await OwnMovie.make(path, frames: 4)
    } else {
      try await play(
        "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=64 ! x265enc ! h265parse ! "
          + "mp4mux ! filesink location=\(path)")
    }
    let failure = try await failure(
      of: "filesrc location=\(path) ! mvhevcdemux name=d \(links)")
    #expect(failure.debug.contains("not-linked"))
    #expect(failure.message.contains(words), "\(failure.message)")
  }
}
