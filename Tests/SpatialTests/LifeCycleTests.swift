// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// State changes of elements up and down, and leaks.
struct LifeCycleTests {
  static let movie =
    "stereotestsrc num-buffers=6 ! video/x-raw,width=128,height=64 ! sbssplit name=s "
    + "s.left ! stereotagger eye=left baseline=64 ! queue ! mux.left "
    + "s.right ! stereotagger eye=right ! queue ! mux.right "
    + "audiotestsrc num-buffers=6 ! audio/x-raw,channels=2,rate=44100 ! queue ! mux.audio_0 "
    + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location="
  static let stream =
    "stereotestsrc num-buffers=6 ! video/x-raw,width=128,height=64 ! sbssplit name=s "
    + "s.left ! queue ! enc.left s.right ! queue ! enc.right "
    + "mvhevcenc name=enc speed-preset=ultrafast ! fakesink name=sink"

  @Test("each element goes up and down twice without data", arguments: PluginTests.elements)
  func states(name: String) throws {
    try BuiltPlugin.require()
    let element = try Element(name)
    for _ in 0..<2 {
      for state in [
        State.ready, .paused, .playing, .paused, .ready, .null,
      ] {
        #expect(element.setState(state))
      }
    }
  }

  @Test("decoders that start in many threads at once all start")
  func manyDecoders() throws {
    try BuiltPlugin.require()
    // Loads the plugin, which brings the parts of the decoder along.
    _ = try Element("stereotestsrc")
    #expect(g_type_from_name("GstMVHEVCFlattening") != 0)
    #expect(g_type_from_name("GstMVHEVCPairing") != 0)
    let failures = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in
      guard let decoder = try? Element("mvhevcdec"), decoder.setState(.paused),
        decoder.setState(.null)
      else {
        failures.withLock { $0 += 1 }
        return
      }
    }
    #expect(failures.current == 0)
  }

  @Test("a pipeline makes the same movie twice")
  func movieTwice() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("movie.mov")
    let pipeline = try pipeline(Self.movie + path)
    var sizes: [Int] = []
    for _ in 0..<2 {
      try await play(pipeline)
      let file = try MovieFile(path)
      #expect(try file.video().samples.count == 6)
      #expect(try file.audio().samples.count == 6144)
      sizes.append(file.bytes.count)
    }
    #expect(sizes[0] == sizes[1])
  }

  @Test("an encoder makes the same stream twice")
  func streamTwice() async throws {
    let pipeline = try pipeline(Self.stream)
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    for _ in 0..<2 { try await play(pipeline) }
    let buffers = tap.buffers.map(\.buffer.bytes)
    #expect(buffers.count == 12)
    #expect(Array(buffers.prefix(6)) == Array(buffers.suffix(6)))
  }

  @Test("an element works again after an error and a way down to NULL")
  func afterError() async throws {
    let folder = try TemporaryFolder()
    let pipeline = try pipeline(
      Self.movie.replacing("name=mux", with: "name=mux option-string=nonsense=1")
        + folder.path("movie.mov"))
    _ = try await failure(of: pipeline)
    pipeline.element(named: "mux")?.set("option-string", "")
    try await play(pipeline)
    #expect(try MovieFile(folder.path("movie.mov")).video().samples.count == 6)
  }

  @Test("a pipeline can be stopped in the middle", arguments: [movie, stream])
  func stop(description: String) async throws {
    let folder = try TemporaryFolder()
    let endless = description.replacing("num-buffers=6", with: "num-buffers=-1")
    let pipeline = try pipeline(
      endless + (endless.hasSuffix("=") ? folder.path("movie.mov") : " sync=false"))
    for _ in 0..<2 {
      let tap = try Tap(pipeline.element(named: "s")?.staticPad("sink"))
      pipeline.setState(.playing)
      try await tap.waitForBuffers(10)
      pipeline.setState(.null)
    }
  }

  @Test("flushing seeks in quick succession neither hang nor fail")
  func seeks() async throws {
    let pipeline = try pipeline(
      Self.stream.replacing("num-buffers=6", with: "num-buffers=-1") + " sync=false")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    pipeline.setState(.playing)
    for second in 0..<20 as Range<UInt64> {
      #expect(pipeline.seek(to: second * .second))
      try await tap.waitForMore(Int(second % 3))
    }
    let end = 5 * ClockTime.second
    gst_element_seek(
      pipeline.pointer, 1, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
      GST_SEEK_TYPE_SET, gint64(end.nanoseconds))
    try await messages(of: pipeline)
    pipeline.setState(.null)
    let last = try #require(tap.buffers.last?.buffer.pts)
    #expect(last == 3_600_000 * .second + ClockTime(149, perSecond: 30))
  }

  @Test(
    "nothing leaks, and nothing is critical", .tags(.process),
    arguments: [
      movie + "/dev/shm/MOVIE",
      stream, "stereotestsrc num-buffers=2 ! sbssplit name=s s.left ! fakesink",
      "stereotestsrc num-buffers=2 ! sbssplit",
      movie.replacing("name=mux", with: "name=mux option-string=nonsense=1") + "/dev/shm/MOVIE",
      movie.replacing("num-buffers=6", with: "num-buffers=0") + "/dev/shm/MOVIE",
      movie + "/dev/full",
    ])
  func leaks(description: String) throws {
    try BuiltPlugin.require()
    let file = "spatial-\(UUID().uuidString).mov"
    defer { try? FileManager.default.removeItem(atPath: "/dev/shm/" + file) }
    try runExpectingNoLeaks(description.replacing("MOVIE", with: file))
  }
}
