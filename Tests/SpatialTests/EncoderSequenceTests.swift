// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestKit
import Testing

/// `mvhevcenc` where the video changes its size or format: what follows is another coded video
/// sequence.
struct EncoderSequenceTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func clip(_ frames: Int, _ caps: String, to target: String) -> String {
    "videotestsrc pattern=ball num-buffers=\(frames) ! video/x-raw,framerate=30/1,\(caps) ! "
      + "\(target) "
  }

  /// A packed stream that changes after ten frames.
  private func changing(_ second: String) -> String {
    "concat name=c ! sbssplit name=s input-mode-override=side-by-side s.left ! queue ! enc.left "
      + "s.right ! queue ! enc.right "
      + clip(10, "format=I420,width=256,height=64", to: "c.")
      + clip(12, second, to: "c.")
      + "mvhevcenc name=enc speed-preset=ultrafast option-string=bframes=2:rc-lookahead=5 "
  }

  /// How many pictures of each view an independent decoder finds.
  private func views(of path: String) throws -> [String: Int] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let lines = try Python.lines([program, "--format", "hevc", path]).map(\.words)
    return Dictionary(
      lines.filter { ["0", "1"].contains($0[0]) }.map { ($0[0], 1) }, uniquingKeysWith: +)
  }

  @Test(
    "at the end, what is in the encoder is encoded or discarded, but never all of it",
    arguments: [(1, true, 1...1), (1, false, 1...1), (60, true, 60...60), (60, false, 15...45)])
  func draining(count: Int, drains: Bool, expected: ClosedRange<Int>) throws {
    let harness = try EncoderHarness(
      ["option-string": "bframes=3:rc-lookahead=10", "drain-on-eos": "\(drains)"])
    for index in 0..<count { try harness.push(index * EncoderHarness.frameDuration) }
    #expect(expected.contains(harness.finish().count))
  }

  @Test(
    "both eyes continue in another size or format, and no frame is lost", .tags(.judge),
    Judge.isThere,
    arguments: [
      "format=I420,width=384,height=96", "format=I420,width=128,height=64",
      "format=I420_10LE,width=256,height=64",
    ])
  func change(second: String) async throws {
    let pipeline = try pipeline(
      changing(second)
        + "! tee name=t ! queue ! mvhevcdec name=d d.left ! queue ! fakesink name=left "
        + "d.right ! queue ! fakesink name=right "
        + "t. ! queue ! video/x-h265,stream-format=hvc1 ! fakesink")
    let coded = try Tap(pipeline.element(named: "enc")?.staticPad("src"))
    let eyes = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    try await play(pipeline)
    #expect(coded.buffers.count == 22)
    let changes = coded.buffers.indices.dropFirst().filter {
      coded.buffers[$0].caps.description != coded.buffers[$0 - 1].caps.description
    }
    #expect(changes == [10])
    #expect(!coded.buffers[10].buffer.flags.contains(.deltaUnit))
    let times = coded.buffers.compactMap(\.buffer.dts)
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 }, "\(times)")
    for eye in eyes {
      #expect(eye.buffers.count == 22)
      #expect(eye.buffers.compactMap(\.buffer.pts) == eyes[0].buffers.compactMap(\.buffer.pts))
    }
    let path = folder.path("stream.hevc")
    try await play(
      changing(second) + "! video/x-h265,stream-format=byte-stream ! filesink location=\(path)")
    #expect(try views(of: path) == ["0": 22, "1": 22])
  }

  @Test("an eye that changes later than the other costs the frames between, and no more")
  func apart() async throws {
    let (small, large) = ("format=I420,width=128,height=64", "format=I420,width=192,height=96")
    let pipeline = try pipeline(
      "concat name=l ! queue ! enc.left concat name=r ! queue ! enc.right "
        + clip(10, small, to: "l.") + clip(10, large, to: "l.")
        + clip(13, small, to: "r.") + clip(7, large, to: "r.")
        + "mvhevcenc name=enc speed-preset=ultrafast ! fakesink")
    let encoder = try #require(pipeline.element(named: "enc"))
    let coded = try Tap(encoder.staticPad("src"))
    let messages = try await play(pipeline)
    #expect(coded.buffers.count == 17)
    #expect(messages.warnings.last?.contains("3 of the left, 3 of the right") == true)
  }

  @Test("eyes that stay apart are an error")
  func neverTogether() async throws {
    let (small, large) = ("format=I420,width=128,height=64", "format=I420,width=192,height=96")
    let told = try await failure(
      of: "concat name=l ! queue ! enc.left concat name=r ! queue ! enc.right "
        + clip(10, small, to: "l.") + clip(200, large, to: "l.") + clip(210, small, to: "r.")
        + "mvhevcenc name=enc speed-preset=ultrafast ! fakesink")
    #expect(told.message.contains("differ in size"), "\(told)")
  }

  @Test("the measurements of a pass are of one size")
  func pass() async throws {
    let told = try await failure(
      of: changing("format=I420,width=384,height=96")
        + "pass=pass1 multipass-cache-file=\(folder.path("pass")) ! fakesink")
    #expect(told.message.contains("changed mid-stream"), "\(told)")
  }
}
