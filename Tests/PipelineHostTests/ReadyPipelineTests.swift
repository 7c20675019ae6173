// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import PipelineFile
import PipelineHost
import StereoVideo
import TestElements
import TestKit
import Testing

/// Each ready pipeline on real input, checked by what comes out.
@Suite(.checkedStreams)
struct ReadyPipelineTests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
    StreamWatches.current?.watch(folder.url.path, in: folder)
  }

  private func expectSpatial(_ path: String, frames: Int) throws -> MovieFile {
    let movie = try MovieFile(path)
    let entry = try movie.videoEntry()
    #expect(entry.codec == "hvc1" && entry.hvcC != nil && entry.lhvC != nil)
    #expect(entry.extendedUsage?.views == [.leftEye, .rightEye])
    #expect(try movie.track("vide").samples.count == frames)
    return movie
  }

  @Test("side by side to MV-HEVC keeps each eye's pictures, and the audio's bytes")
  func sideBySide() async throws {
    let (input, output) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input)
    try await runReady(
      "sbs-to-mvhevc",
      ["input=\(input)", "output=\(output)", "quality=12", "preset=ultrafast", "fov=70"])
    let movie = try expectSpatial(output, frames: 24)
    #expect(try movie.videoEntry().horizontalFieldOfView?.degrees == 70)
    #expect(try movie.samples("soun") == MovieFile(input).samples("soun"))
    try await TestMovie.split(input, left: folder.path("l0"), right: folder.path("r0"))
    try await TestMovie.decode(output, left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 38)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 38)
    // Were the eyes swapped, these would be the same pictures.
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("r1")) < 30)
  }

  @Test("top-bottom to MV-HEVC keeps each eye's pictures")
  func topBottom() async throws {
    let (input, output) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input, frames: 8, width: 320, height: 360)
    try await runReady(
      "tb-to-mvhevc",
      ["input=\(input)", "output=\(output)", "quality=12", "preset=ultrafast"])
    _ = try expectSpatial(output, frames: 8)
    try await TestMovie.split(
      input, mode: "top-bottom", left: folder.path("l0"), right: folder.path("r0"))
    try await TestMovie.decode(output, left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 38)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 38)
  }

  @Test("to two files and back to one movie, the eyes are not swapped")
  func twoFiles() async throws {
    let (input, spatial) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input, frames: 12)
    try await runReady(
      "sbs-to-mvhevc", ["input=\(input)", "output=\(spatial)", "quality=12", "preset=ultrafast"])
    try await runReady("mvhevc-to-two-files", ["input=\(spatial)"])
    #expect(folder.names == ["a.mov", "a.mp4", "a_left.mp4", "a_right.mp4"])
    #expect(try MovieFile(folder.path("a_left.mp4")).track("vide").samples.count == 12)
    try await runReady(
      "two-files-to-mvhevc",
      [
        "left=\(folder.path("a_left.mp4"))", "right=\(folder.path("a_right.mp4"))",
        "output=\(folder.path("b.mov"))", "quality=12", "preset=ultrafast",
      ])
    _ = try expectSpatial(folder.path("b.mov"), frames: 12)
    try await TestMovie.split(input, left: folder.path("l0"), right: folder.path("r0"))
    try await TestMovie.decode(
      folder.path("b.mov"), left: folder.path("l1"), right: folder.path("r1"))
    #expect(try TestMovie.psnr(folder.path("l0"), folder.path("l1")) > 36)
    #expect(try TestMovie.psnr(folder.path("r0"), folder.path("r1")) > 36)
  }

  @Test("a live scene becomes a spatial movie with the requested number of frames")
  func live() async throws {
    let output = folder.path("live.mov")
    try await runReady("live-test-to-mvhevc", ["output=\(output)", "frames=10", "live=no"])
    _ = try expectSpatial(output, frames: 10)
  }

  @Test("re-tagging changes metadata but not pictures or audio")
  func retag() async throws {
    let (input, output) = (folder.path("a.mov"), folder.path("b.mov"))
    try await runReady("live-test-to-mvhevc", ["output=\(input)", "frames=10", "live=no"])
    try await runReady(
      "retag",
      ["input=\(input)", "output=\(output)", "fov=90", "baseline=64.5", "disparity=-0.02"])
    let before = try MovieFile(input)
    let after = try expectSpatial(output, frames: 10)
    #expect(try after.samples("vide") == before.samples("vide"))
    let metadata = try after.videoEntry().spatialMetadata
    #expect(metadata.horizontalFieldOfView?.degrees == 90)
    #expect(metadata.baseline?.millimetres == 64.5)
    #expect(metadata.disparityAdjustment?.pictureWidths == -0.02)
    #expect(metadata.heroEye == (try before.videoEntry().spatialMetadata.heroEye))
  }

  @Test("one eye of a spatial movie as 2D is that eye", arguments: ["left", "right"])
  func flat(eye: String) async throws {
    let (input, output) = (folder.path("a.mov"), folder.path("a.mp4"))
    try await runReady("live-test-to-mvhevc", ["output=\(input)", "frames=10", "live=no"])
    try await runReady("mvhevc-to-2d", ["input=\(input)", "output=\(output)", "eye=\(eye)"])
    #expect(try MovieFile(output).videoEntry().lhvC == nil)
    try await TestMovie.decode(input, left: folder.path("left"), right: folder.path("right"))
    try await TestMovie.play(
      "filesrc location=\(output) ! decodebin ! videoconvert ! video/x-raw,format=I420 "
        + "! filesink location=\(folder.path("flat"))")
    #expect(try TestMovie.psnr(folder.path("flat"), folder.path(eye)) == 100)
  }

  @Test(
    "each eye of a foreign movie as 2D is that eye, frame by frame", .tags(.long),
    .enabled(if: ForeignMedia.isThere, "needs ../shared/media"),
    arguments: [
      "gradients-160x120-left-base.mp4", "water-1934x2160-right-base.mov",
      "water-1934x2160-left-base-fragmented.mp4",
    ])
  func foreignFlat(name: String) async throws {
    let input = ForeignMedia.path(name)
    // RGBA has no padding, whose bytes would differ.
    try await TestMovie.decode(
      input, left: folder.path("left"), right: folder.path("right"), format: "RGBA")
    try await runReady(
      "mvhevc-to-two-files",
      ["input=\(input)", "left=\(folder.path("l.mp4"))", "right=\(folder.path("r.mp4"))"])
    for (eye, file) in [("left", "l.mp4"), ("right", "r.mp4")] {
      try await runReady(
        "mvhevc-to-2d", ["input=\(input)", "output=\(folder.path(eye + ".mp4"))", "eye=\(eye)"])
      for movie in [file, eye + ".mp4"] {
        try await TestMovie.play(
          "filesrc location=\(folder.path(movie)) ! decodebin ! videoconvert "
            + "! video/x-raw,format=RGBA ! filesink location=\(folder.path("flat"))")
        #expect(try TestMovie.psnr(folder.path("flat"), folder.path(eye)) == 100, "\(movie)")
      }
    }
  }

  @Test("a packed movie in H.265 keeps the metadata of the shot, and converts back with it")
  func packed() async throws {
    let (first, second) = (folder.path("a.mov"), folder.path("b.mov"))
    try await runReady("live-test-to-mvhevc", ["output=\(first)", "frames=6", "live=no"])
    try await runReady(
      "retag",
      [
        "input=\(first)", "output=\(second)", "fov=180", "baseline=64.5", "disparity=-0.02",
        "projection=half-equirectangular", "hero=right",
      ])
    let shot = try MovieFile(second).videoEntry().spatialMetadata
    for (mode, arrangement) in [
      ("side-by-side", PackingLayout.Arrangement.sideBySide), ("top-bottom", .topBottom),
    ] {
      let packed = folder.path("\(mode).mov")
      try await runReady(
        "mvhevc-to-packed",
        ["input=\(second)", "output=\(packed)", "mode=\(mode)", "preset=ultrafast"])
      let entry = try MovieFile(packed).videoEntry()
      #expect(entry.packing == PackingLayout(arrangement))
      #expect(entry.spatialMetadata == shot)
    }
  }

  @Test("a finished spatial movie becomes HLS and DASH, with the same access units")
  func packaged() async throws {
    let (input, spatial) = (folder.path("a.mp4"), folder.path("a.mov"))
    try await TestMovie.sideBySide(input)
    try await runReady(
      "sbs-to-mvhevc", ["input=\(input)", "output=\(spatial)", "preset=ultrafast"])
    try await runReady("mvhevc-to-hls", ["input=\(spatial)"])
    let place = folder.path("a_HLS")
    let main = try String(contentsOfFile: place + "/main.m3u8", encoding: .utf8)
    #expect(main.contains("REQ-VIDEO-LAYOUT=\"CH-STEREO\"") && main.contains("TYPE=AUDIO"))
    #expect(FileManager.default.fileExists(atPath: place + "/manifest.mpd"))
    // A second run replaces it if that is allowed, and tells that it is not.
    let packager = try HostedPipeline.load(
      Repository.pipeline("mvhevc-to-hls"), arguments: ["input=\(spatial)"])
    let told = await #expect(throws: RunFailure.self) { try await PipelineRun(packager).run() }
    #expect(told?.description.contains("of a finished stream; overwrite=true (--force") == true)
    var options = PipelineRun.Options()
    options.overwrites = true
    try await PipelineRun(packager, options: options).run()
    // The initialization section and the one segment are a movie.
    let tracks: [(String, FourCC)] = [("video_0", "vide"), ("audio_0", "soun")]
    for (name, track) in tracks {
      let parts = try ["init00000.mp4", "segment00000.m4s"].map {
        try Data(contentsOf: URL(filePath: "\(place)/\(name)/\($0)"))
      }
      let joined = folder.path("\(name).mp4")
      try (parts[0] + parts[1]).write(to: URL(filePath: joined))
      #expect(try MovieFile(joined).samples(track) == MovieFile(spatial).samples(track))
    }
  }

  @Test("beside a movie's own video, H.264 for browsers begins segments at the same pictures")
  func packagedForBrowsers() async throws {
    let spatial = folder.path("a.mov")
    // Keyframes that no rule foretells.
    try await TestMovie.make(
      spatial,
      TestMovie.eyes(100, "width=256,height=64,framerate=30/1")
        + "mvhevcmux name=mux speed-preset=ultrafast key-int-max=23 option-string=bframes=2")
    try await runReady(
      "mvhevc-to-hls-h264", ["input=\(spatial)", "segment=1", "preset=ultrafast"])
    let lists = try ["video_0", "video_0_mono", "video_1"].map {
      try String(contentsOfFile: folder.path("a_HLS/\($0)/index.m3u8"), encoding: .utf8)
    }
    let lengths = lists.map { $0.matches(of: /#EXTINF:([0-9.]+)/).map { String($0.output.1) } }
    #expect(lengths[0] == ["0.76667", "0.76667", "0.76667", "0.76667", "0.26667"], "\(lengths)")
    #expect(lengths[1] == lengths[0] && lengths[2] == lengths[0], "\(lengths)")
    let main = try String(contentsOfFile: folder.path("a_HLS/main.m3u8"), encoding: .utf8)
    #expect(main.contains("CODECS=\"avc1.") && main.contains("CODECS=\"hvc1."), "\(main)")
  }

  @Test("a movie's subtitles go into its stream, in HLS and in DASH")
  func packagedTexts() async throws {
    let spatial = folder.path("a.mov")
    let texts = try folder.write(
      "1\n00:00:00,200 --> 00:00:00,700\none & <i>two</i>\n\n", to: "a.srt")
    try await TestMovie.make(
      spatial,
      TestMovie.eyes(30, "width=128,height=64,framerate=30/1")
        + "filesrc location=\(texts) ! subparse ! "
        + "taginject tags=\"language-code=de\" ! queue ! mux.subtitle_0 "
        + "mvhevcmux name=mux speed-preset=ultrafast")
    try await runReady("mvhevc-to-hls", ["input=\(spatial)"])
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: folder.path("a_HLS/\(name)"), encoding: .utf8)
    }
    let segment = try text("subtitle_0/segment00000.vtt")
    #expect(segment.hasSuffix("\n\n00:00:00.200 --> 00:00:00.700\none &amp; two\n\n"), "\(segment)")
    #expect(try text("main.m3u8").contains("TYPE=SUBTITLES"))
    #expect(try text("manifest.mpd").contains("contentType=\"text\""))
  }

  @Test(
    "a live scene becomes low-latency HLS, with a preview beside it, until it is ended",
    .tags(.realTime))
  func liveStream() async throws {
    let place = folder.path("live")
    let pipeline = try HostedPipeline.load(
      Repository.pipeline("live-test-to-hls"),
      arguments: [
        "output=\(place)", "preview=fakesink", "segment=1", "part=250ms",
        "size=video/x-raw, format=I420, width=256, height=128, framerate=30/1",
      ])
    let run = PipelineRun(pipeline)
    async let running = run.run()
    for text in ["#EXT-X-PART:", "#EXT-X-PRELOAD-HINT"] {
      try await eventually("a playlist with \(text)") {
        let list = try? String(contentsOfFile: place + "/video_0/index.m3u8", encoding: .utf8)
        return list?.contains(text) == true
      }
    }
    try await eventually("main.m3u8") {
      FileManager.default.fileExists(atPath: place + "/main.m3u8")
    }
    run.stop()
    _ = try await running
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try String(contentsOfFile: "\(place)/\(name)/index.m3u8", encoding: .utf8)
      #expect(list.hasSuffix("#EXT-X-ENDLIST\n"), "\(list)")
    }
  }
}
