// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// 3D discs, MakeMKV's files and camcorders' movies: H.264 MVC.
@Suite(.tags(.process))
struct MVCCommandTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    let stream = try await MVCStream.make()
    try await MVCStream.writeDisc(folder.path("disc"))
    for (eye, bytes) in zip(["left", "right"], stream.eyes) {
      try Data(bytes).write(to: URL(filePath: folder.path("\(eye).264")))
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-i", "\(eye).264", "-fps_mode", "passthrough", "-pix_fmt",
          "yuv420p", "-f", "rawvideo", "\(eye).yuv",
        ], in: folder.url)
    }
  }

  private func run(_ arguments: [String]) throws -> Program.Result {
    try Command.run(arguments, in: folder)
  }

  private func probe(_ arguments: [String]) async throws -> String {
    String(
      decoding: try await Program.output(
        of: ["ffprobe", "-v", "error", "-of", "compact"] + arguments, in: folder.url),
      as: UTF8.self)
  }

  @Test("a movie with AC-3, chapters and subtitles becomes a spatial movie with one command")
  func convert() async throws {
    _ = try folder.write("1\n00:00:00,500 --> 00:00:01,000\nHello\n", to: "text.srt")
    _ = try folder.write(
      ";FFMETADATA1\ntitle=Disc\n"
        + [(0, 900, "One"), (900, 2000, "Two")].map {
          "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0)\nEND=\($1)\ntitle=\($2)\n"
        }.joined(), to: "chapters.txt")
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "disc.mkv", "-f", "lavfi", "-t", "2", "-i", "sine=440",
        "-i", "text.srt", "-i", "chapters.txt", "-map", "0:v", "-map", "1:a", "-map", "2:s",
        "-map_metadata", "3", "-map_chapters", "3", "-c:v", "copy", "-c:a", "ac3", "-c:s", "srt",
        "full.mkv",
      ], in: folder.url)
    let result = try run(["convert", "full.mkv", "full.mov", "preset=ultrafast", "quality=12"])
    try #require(result.status == 0, "\(result.errors)")

    let streams = try await probe(["-show_entries", "stream=codec_name", "full.mov"])
    for codec in ["hevc", "ac3", "mov_text"] { #expect(streams.contains(codec), "\(streams)") }
    let chapters = try await probe(["-show_chapters", "full.mov"])
    #expect(chapters.contains("title=One") && chapters.contains("title=Two"))
    let ends = try await probe([
      "-show_entries", "stream=codec_type,start_time,duration", "full.mov",
    ])
    for kind in ["video", "audio"] {
      let found = try #require(
        ends.split(separator: "\n").first { $0.contains("codec_type=\(kind)") }?
          .firstMatch(of: /start_time=(\S+)\|duration=([0-9.]+)/), "\(ends)")
      #expect(abs(Double(found.1) ?? 9) < 0.1 && abs((Double(found.2) ?? 0) - 2) < 0.1, "\(ends)")
    }
    try await expectBothEyes(of: "full.mov")
  }

  /// Expects that a spatial movie shows the eyes of the MVC, not swapped.
  private func expectBothEyes(of movie: String) async throws {
    try await TestMovie.decode(
      folder.path(movie), left: folder.path("l.yuv"), right: folder.path("r.yuv"))
    for (decoded, own, other) in [("l", "left", "right"), ("r", "right", "left")] {
      let quality = try TestMovie.psnr(folder.path("\(decoded).yuv"), folder.path("\(own).yuv"))
      let swapped = try TestMovie.psnr(folder.path("\(decoded).yuv"), folder.path("\(other).yuv"))
      #expect(quality > 38 && quality > swapped + 5, "\(decoded): \(quality), \(swapped)")
    }
  }

  /// Makes the stream without a container, if it is the one with this name.
  private func writeByteStream(_ name: String) async throws {
    guard name == "all.264" else { return }
    let stream = try await MVCStream.make()
    try Data(stream.accessUnits.flatMap(\.self)).write(to: URL(filePath: folder.path(name)))
  }

  @Test(
    "every container is recognized and converted", arguments: ["disc.mkv", "disc.m2ts", "all.264"])
  func containers(name: String) async throws {
    try await writeByteStream(name)
    let result = try run(["convert", name, "out.mov", "preset=ultrafast", "quality=12"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("mvc-to-mvhevc"))
    // A guess is said.
    #expect(result.errors.contains("taken for the left one"))
    try await expectBothEyes(of: "out.mov")
    let swapped = try run([
      "convert", name, "swapped.mov", "preset=ultrafast", "quality=12", "base-eye=right",
    ])
    #expect(swapped.status == 0 && !swapped.errors.contains("taken for the left one"))
    try await TestMovie.decode(
      folder.path("swapped.mov"), left: folder.path("l.yuv"), right: folder.path("r.yuv"))
    #expect(try TestMovie.psnr(folder.path("l.yuv"), folder.path("right.yuv")) > 38)
  }

  @Test("a recording that begins within a packet is read")
  func beginnings() throws {
    let disc = try Data(contentsOf: URL(filePath: folder.path("disc.m2ts")))
    for count in [1, 150, 1001] {
      try disc.dropFirst(count).write(to: URL(filePath: folder.path("cut.m2ts")))
      let info = try run(["info", "cut.m2ts"])
      #expect(info.output.contains("H.264 MVC: a view for each eye"), "\(count): \(info)")
    }
  }

  @Test("H.264 of one eye without container has its frames and its rate")
  func plainStream() throws {
    let info = try run(["info", "left.264", "--json"])
    #expect(info.status == 0 && info.output.contains("\"stereo\": \"no\""), "\(info)")
    #expect(info.output.contains("\"samples\": 60"), "\(info.output)")
    let frames = try run(["frames", "left.264", "--at", "1", "--output", "f.png"])
    #expect(frames.status == 0, "\(frames.errors)")
    try Data([0, 0, 0, 1, 0x67, 0x64]).write(to: URL(filePath: folder.path("torn.264")))
    #expect(try run(["info", "torn.264"]).status != 0)
  }

  @Test("MP4 as FFmpeg copies it: the second view's record is no box of its own")
  func copied() async throws {
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error", "-i", "disc.mkv", "-c", "copy", "copy.mp4"], in: folder.url)
    #expect(try MovieFile(folder.path("copy.mp4")).videoEntry().mvcC == nil)
    let info = try run(["info", "copy.mp4"])
    #expect(info.output.contains("H.264 MVC: a view for each eye"), "\(info)")
    let result = try run(["convert", "copy.mp4", "out.mov", "preset=ultrafast", "quality=12"])
    #expect(result.status == 0, "\(result.errors)")
    try await expectBothEyes(of: "out.mov")
  }

  @Test("MP4 with a track for each view", arguments: [false, true])
  func twoTracks(isFragmented: Bool) async throws {
    let views = SeparateViews(try await MVCStream.make())
    let bytes = try isFragmented ? views.fragments() : views.movie(.chunks)
    try Data(bytes).write(to: URL(filePath: folder.path("two.mp4")))
    let info = try run(["info", "two.mp4"])
    #expect(info.output.contains("H.264 MVC: a view for each eye"), "\(info)")
    #expect(!info.output.contains("track of its own"), "\(info)")
    let result = try run(["convert", "two.mp4", "out.mov", "preset=ultrafast", "quality=12"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(!result.errors.contains("left out"), "\(result.errors)")
    try await expectBothEyes(of: "out.mov")
  }

  @Test("a second eye in a track that does not refer to the first is named, and refused")
  func separateTracks() async throws {
    var views = SeparateViews(try await MVCStream.make())
    views.reference = nil
    try Data(try views.movie(.chunks)).write(to: URL(filePath: folder.path("two.mp4")))
    let info = try run(["info", "two.mp4"])
    #expect(info.output.contains("track of its own (track 2, 'mvc1')"), "\(info)")
    let result = try run(["convert", "two.mp4", "out.mov"])
    #expect(
      result.status != 0 && result.errors.contains("track of its own (track 2, 'mvc1')"),
      "\(result)")
  }

  @Test("info, frames and packed movies", arguments: ["disc.mkv", "disc.m2ts", "all.264"])
  func others(name: String) async throws {
    try await writeByteStream(name)
    let info = try run(["info", name])
    #expect(info.status == 0 && info.output.contains("H.264 MVC: a view for each eye"))
    #expect(try run(["info", name, "--json"]).output.contains("\"stereo\": \"mvc\""))
    let frames = try run(["frames", name, "--at", "1", "--show", "right", "--output", "f.png"])
    #expect(frames.status == 0, "\(frames.errors)")
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "f.png", "-pix_fmt", "yuv420p", "-f", "rawvideo", "f.yuv",
      ], in: folder.url)
    // Frame 30 of the right eye.
    let size = 128 * 96 * 3 / 2
    let right = try Data(contentsOf: URL(filePath: folder.path("right.yuv")))
    try right.dropFirst(30 * size).prefix(size).write(to: URL(filePath: folder.path("own.yuv")))
    #expect(try TestMovie.psnr(folder.path("f.yuv"), folder.path("own.yuv")) > 35)

    let packed = try run(["convert", name, "packed.mov", "--to", "sbs", "preset=ultrafast"])
    #expect(packed.status == 0, "\(packed.errors)")
    #expect(try MovieFile(folder.path("packed.mov")).videoEntry().width == 256)
    let refused = try run(["convert", name, "2d.mp4", "--to", "2d"])
    #expect(refused.status != 0 && refused.errors.contains("mvhevc, sbs, tb"))
  }

  @Test("MP4 keeps both views of copied H.264, and they decode")
  func kept() async throws {
    try await TestMovie.play(
      "filesrc location=\(folder.path("disc.mkv")) ! parsebin ! queue ! mvhevcmux container=mp4 "
        + "! filesink location=\(folder.path("kept.mp4"))")
    let entry = try MovieFile(folder.path("kept.mp4")).videoEntry()
    #expect(entry.codec == "avc1" && entry.mvcC != nil)
    // The parser has put the subset SPS in the place of the SPS; other players need this one.
    let record = try #require(entry.configuration.first { $0.type == "avcC" }?.payload)
    #expect(record.count > 8 && record[8] & 31 == 7)
    // A plain decoder shows the base view.
    let pictures = try await probe([
      "-count_frames", "-show_entries", "stream=nb_read_frames", "kept.mp4",
    ])
    #expect(pictures.contains("nb_read_frames=60"))
    let result = try run(["convert", "kept.mp4", "out.mov", "preset=ultrafast", "quality=12"])
    #expect(result.status == 0, "\(result.errors)")
    try await expectBothEyes(of: "out.mov")
  }
}
