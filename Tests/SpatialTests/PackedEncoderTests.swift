// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestElements
import TestKit
import Testing

/// `mvhevcsbsenc`, alone and as what `encodebin` finds.
struct PackedEncoderTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path("movie.mov") }

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  private let scene = "stereotestsrc num-buffers=30 ! video/x-raw,framerate=30/1,width=256,height="
  private let settings = "speed-preset=ultrafast option-string=lossless=1"

  private func samples() throws -> [[UInt8]] { try MovieFile(path).samples("vide") }

  @Test(
    "the stream is that of sbssplit and mvhevcenc, for each layout",
    arguments: [
      "64,multiview-mode=side-by-side", "256,multiview-mode=top-bottom",
      "128,multiview-mode=frame-by-frame",
    ])
  func stream(caps: String) async throws {
    try await play(
      "\(scene)\(caps) ! mvhevcsbsenc \(settings) ! mvhevcmux ! filesink location=\(path)")
    let one = try samples()
    #expect(one.count == (caps.contains("frame-by-frame") ? 15 : 30))
    try await play(
      "\(scene)\(caps) ! sbssplit name=s s.left ! queue ! e.left s.right ! queue ! e.right "
        + "mvhevcenc name=e \(settings) ! mvhevcmux ! filesink location=\(path)")
    #expect(try samples() == one)
  }

  @Test(
    "video that may have one eye is refused, unless a property says how the eyes share a frame",
    arguments: ["multiview-mode=mono", "multiview-mode=(string)NULL"])
  func oneEye(mode: String) async throws {
    let source =
      "\(scene)64 ! capssetter replace=true caps=video/x-raw,format=I420,width=256,"
      + "height=64,framerate=30/1\(mode.contains("NULL") ? "" : ",\(mode)") ! "
    let failure = await #expect(throws: PipelineFailure.self) {
      try await play(
        "\(source) mvhevcsbsenc \(settings) ! mvhevcmux ! filesink location=\(path)")
    }
    #expect(failure?.message.contains("does not specify how the eyes share a frame") ?? false)
    try await play(
      "\(source) mvhevcsbsenc input-mode-override=side-by-side \(settings) ! mvhevcmux ! "
        + "filesink location=\(path)")
    #expect(try MovieFile(path).videoEntry().width == 128)
  }

  @Test("a change of quality while playing reaches the encoder")
  func quality() async throws {
    func size(_ quality: Int, then later: Int?) async throws -> Int {
      let pipeline = try Pipeline(
        parsing: "\(scene)64 ! mvhevcsbsenc name=e speed-preset=ultrafast key-int-min=2 "
          + "quality=\(quality) ! mvhevcmux ! filesink location=\(path)")
      let encoder = try #require(pipeline.element(named: "e"))
      let gate = try Gate(encoder.staticPad("sink"), after: 5)
      pipeline.setState(.playing)
      try await gate.waitUntilHeld()
      if let later { encoder.set("quality", "\(later)") }
      gate.open()
      try await pipeline.run()
      return try samples().reduce(0) { $0 + $1.count }
    }
    #expect(try await size(50, then: 10) > 3 * (try await size(50, then: nil)))
  }

  @Test(
    "encodebin finds it by name and by fields, and a muxer that takes both layers",
    arguments: [
      "mvhevcmux:mvhevcsbsenc",
      "video/quicktime:video/x-h265,profile=multiview-main,views=2,stream-format=byte-stream",
    ])
  func encodebin(profile: String) async throws {
    try await play(
      "\(scene)64,multiview-mode=side-by-side ! encodebin profile=\"\(profile)\" ! "
        + "filesink location=\(path)")
    let eyes = try await record(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! fakesink name=left e.right ! queue ! fakesink name=right",
      sinks: ["left", "right"])
    #expect(eyes.allSatisfy { [30, 31].contains($0.count) })
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.hvcC != nil && entry.lhvC != nil)
    // The videorate within encodebin repeats the last picture in GStreamer 1.28.
    #expect([30, 31].contains(try samples().count))
  }

  @Test("the installed profile makes a spatial movie with audio of a file", .tags(.process))
  func transcoding() throws {
    let movie = folder.path("movie.mkv")
    let environment = [
      "GST_ENCODING_TARGET_PATH": Repository.url.appending(path: "Plugins/Spatial/Profiles").path
    ]
    let made = try Program.run(
      [
        "bash", "-c",
        "gst-launch-1.0 -q \(scene)64 ! x264enc speed-preset=ultrafast ! h264parse ! queue ! "
          + "matroskamux name=m ! filesink location='\(movie)' "
          + "audiotestsrc num-buffers=44 ! audioconvert ! avenc_aac ! aacparse ! queue ! m. && "
          + "gst-launch-1.0 -q uritranscodebin source-uri='file://\(movie)' "
          + "dest-uri='file://\(path)' profile=spatial/mov",
      ], environment: environment)
    #expect(made.status == 0, "\(made.output)")
    let entry = try MovieFile(path).videoEntry()
    #expect(entry.hvcC != nil && entry.lhvC != nil && entry.width == 128)
    #expect(try samples().count == 30)
    #expect(try MovieFile(path).tracks("soun").count == 1)
  }

  @Test("the container is the one that follows the muxer, and one that it cannot write is refused")
  func container() async throws {
    let encoding = "\(scene)64,multiview-mode=side-by-side ! mvhevcsbsenc \(settings) ! mvhevcmux"
    for (variant, isQuickTime) in [("iso", false), ("apple", true)] {
      try await play(
        "\(encoding) ! video/quicktime,variant=\(variant) ! filesink location=\(path)")
      #expect(try MovieFile(path).fileType?.isQuickTime == isQuickTime)
    }
    let failure = await #expect(throws: PipelineFailure.self) {
      try await play("\(encoding) ! video/quicktime,variant=3gpp ! filesink location=\(path)")
    }
    #expect(failure?.message.contains("does not take its output") ?? false)
  }
}
