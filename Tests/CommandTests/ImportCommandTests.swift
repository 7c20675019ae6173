// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial import`.
@Suite(.tags(.process))
struct ImportCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The links of the file that a line becomes, and the bytes that both write to `out`.
  @Test(
    "a command line becomes a valid file that writes the same bytes",
    arguments: [
      (
        "videotestsrc num-buffers=2 ! video/x-raw, width=64, height=48 ! filesink location=out",
        ["videotestsrc -> video/x-raw,width=64,height=48 -> filesink"]
      ),
      (
        "videotestsrc num-buffers = 2 ! video/x-raw(memory:SystemMemory),width=(int)64 "
          + "! filesink location=\"out\"",
        ["videotestsrc -> video/x-raw(memory:SystemMemory),width=(int)64 -> filesink"]
      ),
      (
        "t. ! queue ! f.sink_1 videotestsrc num-buffers=2 ! tee name=t t. ! queue ! f.sink_0 "
          + "compositor name=f sink_0::xpos=320 sink_1::alpha=0.5 ! filesink location=out",
        [
          "t -> queue -> f.sink_1", "videotestsrc -> t", "t -> queue-2 -> f.sink_0",
          "f -> filesink",
        ]
      ),
      (
        "( name=b videotestsrc num-buffers=2 ! identity ) ! ( queue ) ! filesink location=out",
        ["videotestsrc -> identity -> queue -> filesink"]
      ),
      (
        "videotestsrc num-buffers=2 .src ! .sink filesink location=out",
        ["videotestsrc.src -> filesink.sink"]
      ),
      (
        "gst-launch-1.0 -e file:///etc/passwd ! queue name=my.queue ! filesink location=out",
        ["filesrc -> my-queue -> filesink"]
      ),
      (
        "audiotestsrc num-buffers=4 ! audio/x-raw,channels=2 ! deinterleave name=d "
          + "d.src_0 ! queue ! filesink location=out  d.src_1 ! queue ! fakesink",
        [
          "audiotestsrc -> audio/x-raw,channels=2 -> d", "d.src_0 -> queue -> filesink",
          "d.src_1 -> queue-2 -> fakesink",
        ]
      ),
    ])
  func lines(line: String, links: [String]) async throws {
    let imported = try Command.run(["import", line], in: folder)
    #expect(imported.status == 0, "\(imported.errors)")
    let written = imported.output.components(separatedBy: "links:\n").last ?? ""
    #expect(
      written.split(separator: "\n").map { $0.dropFirst(5).dropLast() } == links.map { $0[...] })
    let file = try folder.write(imported.output, to: "i.yaml")
    let run = try Command.run(["run", file], in: folder)
    #expect(run.status == 0, "\(run.errors)")
    let ours = try Data(contentsOf: URL(filePath: folder.path("out")))
    let start = line.hasPrefix("gst-launch-1.0 -e ") ? 18 : 0
    try await TestMovie.play(
      String(line.dropFirst(start)).replacing(
        "location=out", with: "location=\(folder.path("theirs"))"
      )
      .replacing("\"out\"", with: folder.path("theirs")))
    #expect(try Data(contentsOf: URL(filePath: folder.path("theirs"))) == ours && !ours.isEmpty)
  }

  @Test(
    "constructs that a file cannot express are reported with their position",
    arguments: [
      ("videotestsrc ! x264enc @preset=fast ! fakesink", 24, "pipeline files have no presets"),
      ("videotestsrc ! decodebin3 avdec::x=3 ! fakesink", 27, "'avdec' is not a pad of decodebin3"),
      ("a : b", 3, "':' links all pads"), ("videotestsrc ! t.a,b", 16, "several pads need"),
      ("http://example.org/a ! fakesink", 1, "uridecodebin uri=http://example.org/a"),
      ("videotestsrc !", 14, "nothing follows this '!'"),
      ("! fakesink", 1, "nothing precedes this"), ("a !! b", 3, "'!!' is neither"),
      ("videotestsrc ! ! fakesink", 14, "nothing follows this '!'"),
      ("( videotestsrc ! fakesink", 1, "this bin is not closed"),
      ("videotestsrc ! fakesink )", 25, "no matching '('"),
      ("videotestsrc ! 'x", 16, "this quote is not closed"),
      ("videotestsrc ! nobody.", 16, "no element has the name 'nobody'"),
      ("queue name=a ! queue name=a", 22, "two elements have the name 'a'"),
      ("( a b ) ! c", 1, "a bin with several chains"), ("", 1, "the line is empty"),
    ])
  func mistakes(line: String, column: Int, message: String) throws {
    let result = try Command.run(["import", line], in: folder)
    #expect(result.status == 2 && result.output.isEmpty)
    #expect(result.errors.hasPrefix("line:1:\(column): error: "), "\(result.errors)")
    #expect(result.errors.contains(message), "\(result.errors)")
  }
}
