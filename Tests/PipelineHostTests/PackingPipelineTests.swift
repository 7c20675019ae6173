// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import PipelineHost
import StereoVideo
import TestElements
import TestKit
import Testing

/// Ready pipelines that put both eyes into one picture.
struct PackingPipelineTests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  private func spatial() async throws -> String {
    let (input, output) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input, frames: 12)
    try await runReady(
      "sbs-to-mvhevc", ["input=\(input)", "output=\(output)", "quality=12", "preset=ultrafast"])
    return output
  }

  @Test("quality decides alone: no bitrate limits it")
  func unlimited() async throws {
    let (movie, packed) = (folder.path("noise.mov"), folder.path("noise.mp4"))
    try await TestMovie.play(
      "videotestsrc pattern=snow num-buffers=20 "
        + "! video/x-raw,format=I420,width=640,height=180,framerate=30/1 "
        + "! sbssplit name=s input-mode-override=side-by-side s.left ! queue ! mux.left "
        + "s.right ! queue ! mux.right mvhevcmux name=mux speed-preset=ultrafast quality=12 "
        + "! filesink location=\(movie)")
    try await runReady(
      "mvhevc-to-sbs", ["input=\(movie)", "output=\(packed)", "quality=15", "preset=ultrafast"])
    let bytes = try Data(contentsOf: URL(filePath: packed)).count
    // x264enc's default bitrate is 2 Mbit/s.
    #expect(Double(bytes) * 8 / (20.0 / 30) > 6e6, "\(bytes)")
  }

  @Test(
    "side by side to MV-HEVC and back keeps pictures, eyes and the audio's bytes",
    arguments: [("mvhevc-to-sbs", "side-by-side"), ("mvhevc-to-tb", "top-bottom")])
  func roundTrip(name: String, mode: String) async throws {
    let movie = try await spatial()
    let output = folder.path("b.mp4")
    try await runReady(
      name, ["input=\(movie)", "output=\(output)", "quality=10", "preset=ultrafast"])
    let (first, last) = (try MovieFile(folder.path("a.mp4")), try MovieFile(output))
    #expect(try last.samples("soun") == first.samples("soun"))
    #expect(try last.track("vide").samples.count == 12)
    let packing = PackingLayout(mode == "top-bottom" ? .topBottom : .sideBySide)
    let entry = try last.videoEntry()
    // For Apple's players and for all others.
    #expect(entry.extendedUsage?.packing == packing)
    #expect(entry.stereoscopicMode?.packing == packing)
    try await TestMovie.split(
      folder.path("a.mp4"), left: folder.path("l0"), right: folder.path("r0"))
    try await TestMovie.split(
      output, mode: mode, left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 36)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 36)
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("r1")) < 30)
  }

  @Test("half side by side has the size of one eye")
  func half() async throws {
    let movie = try await spatial()
    let output = folder.path("b.mp4")
    try await runReady(
      "mvhevc-to-sbs", ["input=\(movie)", "output=\(output)", "half=yes", "preset=ultrafast"])
    let entry = try MovieFile(output).videoEntry()
    #expect(entry.width == 320 && entry.height == 180)
  }

  @Test("an anaglyph has the left eye's red, and the right eye's green and blue")
  func anaglyph() async throws {
    let movie = try await spatial()
    try await runReady(
      "mvhevc-to-anaglyph",
      [
        "input=\(movie)", "output=\(folder.path("b.mp4"))", "colors=red-cyan-color",
        "preset=ultrafast", "quality=5",
      ])
    func channel(_ line: String, _ offset: Int) async throws -> String {
      let path = folder.path(UUID().uuidString)
      try await TestMovie.play(
        "\(line) ! videoconvert ! video/x-raw,format=RGBx ! filesink location=\(path)")
      let pixels = try Data(contentsOf: URL(filePath: path))
      let samples = stride(from: offset, to: pixels.count, by: 4).map { pixels[$0] }
      try Data(samples).write(to: URL(filePath: path))
      return path
    }
    let eyes = "filesrc location=\(movie) ! mvhevcdemux name=d d.video_0 ! mvhevcdec view="
    let mixed = "filesrc location=\(folder.path("b.mp4")) ! decodebin caps=video/x-raw"
    for (view, offset) in [("left", 0), ("right", 1)] {
      let eye = try await channel("\(eyes)\(view) name=e e.\(view)", offset)
      let glyph = try await channel(mixed, offset)
      // Colour is coded at half the size, so this is no exact copy.
      #expect(try TestMovie.psnr(eye, glyph) > 22, "\(view)")
    }
  }

  @Test("each frame becomes a picture")
  func frames() async throws {
    let movie = try await spatial()
    try await runReady(
      "mvhevc-to-frames", ["input=\(movie)", "output=\(folder.path("f"))"])
    let pictures = folder.names.filter { $0.hasSuffix(".png") }
    #expect(pictures.count == 12 && pictures.first == "f-00000.png")
    try await TestMovie.play(
      "filesrc location=\(folder.path("f-00005.png")) ! pngdec ! videoconvert "
        + "! video/x-raw,format=I420,width=640,height=180 ! filesink location=\(folder.path("f"))")
  }

  @Test("playback plays picture and audio")
  func playback() async throws {
    let movie = try await spatial()
    let pipeline = try HostedPipeline.load(
      Repository.pipeline("playback"),
      arguments: ["input=\(movie)", "video-sink=fakesink", "audio-sink=fakesink"])
    let summary = try await PipelineRun(pipeline).run()
    #expect(summary.progress.frames == 12)
  }

  @Test(
    "packing and splitting give the same bytes again",
    arguments: ["side-by-side", "top-bottom", "frame-by-frame"])
  func exactPacking(mode: String) async throws {
    let source = "stereotestsrc num-buffers=5 ! video/x-raw,format=I420,width=256,height=72"
    try await TestMovie.play("\(source) ! filesink location=\(folder.path("in"))")
    try await TestMovie.play(
      "\(source) ! sbssplit name=s s.left ! queue ! p.left s.right ! queue ! p.right "
        + "stereopack name=p mode=\(mode) ! sbssplit name=t t.left ! queue ! q.left "
        + "t.right ! queue ! q.right "
        + "stereopack name=q ! filesink location=\(folder.path("out"))")
    let (one, other) = (
      try Data(contentsOf: URL(filePath: folder.path("in"))),
      try Data(contentsOf: URL(filePath: folder.path("out")))
    )
    #expect(one == other && !one.isEmpty)
  }

  @Test("eyes of different sizes are refused with a message")
  func differentEyes() async throws {
    let error = await #expect(throws: (any Error).self) {
      try await TestMovie.play(
        "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64 ! p.left "
          + "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=32 ! p.right "
          + "stereopack name=p ! fakesink")
    }
    #expect(error != nil)
  }
}
