// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// `gst-spatial convert`.
@Suite(.tags(.process))
struct ConvertCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The line that convert prints and runs, after what it says of its guesses.
  @discardableResult
  private func convert(_ arguments: [String]) throws -> String {
    let result = try Command.run(["convert"] + arguments, in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    let lines = result.errors.split(separator: "\n").map(String.init)
    return try #require(lines.first { $0.hasPrefix("gst-spatial run") })
  }

  private func refusal(_ arguments: [String]) throws -> String {
    let result = try Command.run(["convert"] + arguments, in: folder)
    #expect(result.status == 2)
    return result.errors
  }

  private func makeSpatial() throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "live=no", "frames=8", "output=a.mov"], in: folder)
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test("two passes meet the bitrate, leave no other files, and print both command lines")
  func twoPass() async throws {
    try await TestMovie.play(
      "stereotestsrc num-buffers=150 ! video/x-raw,format=I420,width=640,height=180,framerate=30/1 "
        + "! x264enc speed-preset=ultrafast ! h264parse ! mp4mux "
        + "! filesink location=\(folder.path("a.mp4"))")
    let line = ["convert", "a.mp4", "b.mov", "--two-pass", "preset=ultrafast"]
    let refused = try Command.run(line, in: folder)
    #expect(refused.status == 2 && refused.errors.contains("bitrate=…"), "\(refused.errors)")
    let result = try Command.run(line + ["bitrate=700"], in: folder)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("output=b.pass1.mov"), "\(result.errors)")
    #expect(result.errors.contains("pass=pass2 pass-file=b.pass1\n"), "\(result.errors)")
    #expect(folder.names == ["a.mp4", "b.mov"])
    let bytes = try MovieFile(folder.path("b.mov")).samples("vide").reduce(0) { $0 + $1.count }
    let rate = Double(bytes) * 8 / 5000
    #expect(abs(rate / 700 - 1) < 0.1, "\(rate) kbit/s")
    // An existing file of that name is neither replaced nor removed.
    let own = URL(filePath: folder.path("c.pass1.mov"))
    try Data("mine".utf8).write(to: own)
    let taken = try Command.run(
      ["convert", "a.mp4", "c.mov", "--two-pass", "bitrate=700", "--force"], in: folder)
    #expect(taken.status == 3 && taken.errors.contains("'c.pass1.mov'"), "\(taken.errors)")
    #expect(try String(contentsOf: own, encoding: .utf8) == "mine")
    try FileManager.default.removeItem(at: own)
    let again = try Command.run(line + ["bitrate=700"], in: folder)
    #expect(again.status == 3 && again.errors.contains("already exists"), "\(again.errors)")
    let other = try Command.run(
      ["convert", "b.mov", "c.mp4", "--to", "sbs", "--two-pass", "bitrate=700"], in: folder)
    #expect(other.status == 2 && other.errors.contains("spatial movie"), "\(other.errors)")
    #expect(folder.names == ["a.mp4", "b.mov"])
  }

  @Test("a spatial movie is converted to the requested format, and the command line is printed")
  func fromSpatial() throws {
    try makeSpatial()
    for (target, output, pipeline) in [
      ("2d", "2d.mp4", "mvhevc-to-2d"), ("sbs", "sbs.mp4", "mvhevc-to-sbs"),
      ("tb", "tb.mp4", "mvhevc-to-tb"), ("anaglyph", "anaglyph.mp4", "mvhevc-to-anaglyph"),
      ("sbs", "sbs.mov", "mvhevc-to-packed"), ("tb", "tb.mov", "mvhevc-to-packed"),
      ("mvhevc", "tagged.mov", "retag"),
    ] {
      let line = try convert(["a.mov", output, "--to", target])
      #expect(line.hasPrefix("gst-spatial run \(pipeline) input=a.mov output=\(output)"))
      #expect(try MovieFile(folder.path(output)).track("vide").samples.count == 8)
    }
    #expect(
      try convert(["a.mov", "l.mp4", "r.mp4"])
        == "gst-spatial run mvhevc-to-two-files input=a.mov left=l.mp4 right=r.mp4")
    #expect(
      try convert(["l.mp4", "r.mp4", "b.mov", "preset=ultrafast"])
        == "gst-spatial run two-files-to-mvhevc left=l.mp4 right=r.mp4 output=b.mov fov=63.400 "
        + "preset=ultrafast"
    )
    #expect(try MovieFile(folder.path("b.mov")).videoEntry().lhvC != nil)
  }

  @Test(
    "the packing of an untagged movie is detected from its pictures",
    arguments: [
      ("side-by-side", false, "sbs"), ("side-by-side", true, "sbs"), ("top-bottom", false, "tb"),
      ("top-bottom", true, "tb"),
    ].sampled(2))
  func packing(mode: String, half: Bool, pipeline: String) async throws {
    try makeSpatial()
    try await TestMovie.play(
      "filesrc location=\(folder.path("a.mov")) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
        + "e.left ! queue ! p.left e.right ! queue ! p.right "
        + "stereopack name=p mode=\(mode) half=\(half) "
        + "! capssetter caps=video/x-raw,multiview-mode=mono,multiview-flags=none "
        + "! x264enc pass=qual quantizer=15 ! h264parse "
        + "! matroskamux ! filesink location=\(folder.path("b.mkv"))")
    #expect(
      try convert(["b.mkv", "c.mov", "preset=ultrafast"])
        == "gst-spatial run \(pipeline)-to-mvhevc input=b.mkv output=c.mov packing=\(mode) "
        + "half-aspect=\(half ? "yes" : "no") preset=ultrafast")
    let entry = try MovieFile(folder.path("c.mov")).videoEntry()
    #expect(entry.lhvC != nil)
    #expect(entry.width == (half && pipeline == "sbs" ? 320 : 640))
    #expect(entry.height == (half && pipeline == "tb" ? 180 : 360))
  }

  @Test("a movie of one eye is refused with advice, unless it is forced")
  func onePicture() throws {
    try makeSpatial()
    try convert(["a.mov", "flat.mp4", "--to", "2d"])
    let text = try refusal(["flat.mp4", "b.mov"])
    #expect(text.hasPrefix("error: 'flat.mp4' has one picture in each frame"))
    #expect(text.contains("--layout side-by-side"))
    try convert(["flat.mp4", "b.mov", "--layout", "side-by-side", "preset=ultrafast"])
    #expect(folder.names.contains("b.mov"))
  }

  @Test("the metadata of the shot survives conversion there and back")
  func geometry() throws {
    try makeSpatial()
    try convert([
      "a.mov", "b.mov", "--to", "mvhevc", "fov=180", "baseline=64.5", "disparity=0.03",
      "projection=half-equirectangular", "hero=right",
    ])
    try convert(["b.mov", "c.mov", "--to", "sbs", "preset=ultrafast"])
    let line = try convert(["c.mov", "d.mov", "preset=ultrafast"])
    #expect(
      line.contains(
        "packing=side-by-side half-aspect=no projection=half-equirectangular fov=180.000 "
          + "baseline=64.500 disparity=0.0300 hero=right"), "\(line)")
    let (first, last) = (
      try MovieFile(folder.path("b.mov")), try MovieFile(folder.path("d.mov"))
    )
    #expect(try last.videoEntry().spatialMetadata == first.videoEntry().spatialMetadata)
    #expect(try last.videoEntry().extendedUsage?.projectionKind == "hequ")
  }

  @Test("chapters, time code, place and subtitles of a packed movie are in the spatial one")
  func kept() async throws {
    _ = try folder.write(
      """
      ;FFMETADATA1
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=500
      title=One
      [CHAPTER]
      TIMEBASE=1/1000
      START=500
      END=1000
      title=Two

      """, to: "chapters.txt")
    _ = try folder.write(
      "1\n00:00:00,100 --> 00:00:00,900\n<i>Tom &amp; Jerry</i>\n", to: "text.srt")
    let pictures = ["-f", "lavfi", "-i", "testsrc2=size=640x180:rate=30:duration=1"]
    for (name, more) in [
      (
        "a_SBS.mov",
        [
          "-i", "chapters.txt", "-map", "0", "-map_chapters", "1", "-timecode", "01:02:03:04",
          "-metadata", "location=+48.1000+011.5000/",
        ]
      ), ("b_SBS.mkv", ["-i", "text.srt", "-c:s", "srt", "-metadata:s:s:0", "language=deu"]),
    ] {
      _ = try await Program.output(
        of: ["ffmpeg", "-v", "error"] + pictures + more
          + ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p", name],
        in: folder.url)
      try convert([name, "\(name).mov", "preset=ultrafast"])
    }
    func text(_ words: [String]) async throws -> String {
      String(decoding: try await Program.output(of: words, in: folder.url), as: UTF8.self)
    }
    func facts(_ name: String, _ arguments: String...) async throws -> String {
      try await text(["ffprobe", "-v", "error", "-of", "compact"] + arguments + [name])
    }
    let chapters = try await facts("a_SBS.mov.mov", "-show_chapters")
    #expect(chapters.contains("start_time=0.500000") && chapters.contains("tag:title=Two"))
    let tags = try await facts("a_SBS.mov.mov", "-show_entries", "format_tags:stream_tags")
    #expect(tags.contains("timecode=01:02:03:04") && tags.contains("+48.1000+011.5000"))
    // `info` names the tracks that it does not need, too.
    let info = try Command.run(["info", "b_SBS.mkv"], in: folder).output
    #expect(info.contains(/other track +subtitles, .*, deu/), "\(info)")
    let streams = try await facts("b_SBS.mkv.mov", "-show_streams")
    #expect(streams.contains("codec_name=mov_text") && streams.contains("tag:language=deu"))
    let subtitles = try await text(
      ["ffmpeg", "-v", "error", "-i", "b_SBS.mkv.mov", "-map", "0:s", "-f", "srt", "-"])
    #expect(subtitles.contains("00:00:00,100 --> "))
    #expect(subtitles.contains("Tom & Jerry") && !subtitles.contains("amp;"), "\(subtitles)")
  }

  @Test(
    "pictures that the movie's display matrix turns are turned once",
    arguments: ["90", "180", "270"].sampled(1))
  func turned(degrees: String) async throws {
    /// The likeness in decibels of a movie's base view, cropped, to another movie, cropped, both as
    /// FFmpeg displays them.
    func likeness(_ movie: String, _ crop: String, to other: String, _ otherCrop: String)
      async throws -> Double
    {
      let text = try await Program.output(
        of: [
          "ffmpeg", "-v", "info", "-i", movie, "-i", other, "-lavfi",
          "[0:v]crop=\(crop)[a];[1:v]crop=\(otherCrop)[b];[a][b]psnr=stats_file=-", "-f", "null",
          "/dev/null",
        ], in: folder.url)
      let line = String(decoding: text, as: UTF8.self).split(separator: "\n").first ?? ""
      let value = line.split(separator: " ").first { $0.hasPrefix("psnr_y:") }?.dropFirst(7)
      return try #require(value.flatMap { Double($0) }, "\(line)")
    }
    func rotation(_ name: String) async throws -> String {
      let text = try await Program.output(
        of: ["ffprobe", "-v", "error", "-show_entries", "stream_side_data=rotation", name],
        in: folder.url)
      return String(decoding: text, as: UTF8.self)
    }
    let coding = ["-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p"]
    for (name, size) in [("plain_LR.mp4", "640x360"), ("plain.mp4", "320x240")] {
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
          "testsrc2=size=\(size):rate=30:duration=0.2",
        ]
          + coding + [name], in: folder.url)
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-i", name, "-c", "copy", "-metadata:s:v:0",
          "rotate=\(degrees)", "turned_\(name)",
        ], in: folder.url)
    }
    #expect(try await rotation("turned_plain.mp4").contains("rotation="))
    try convert(["turned_plain_LR.mp4", "packed.mov", "preset=ultrafast", "quality=15"])
    try convert([
      "turned_plain.mp4", "turned_plain.mp4", "two.mov", "preset=ultrafast", "quality=15",
    ])
    for name in ["packed.mov", "two.mov"] {
      #expect(!(try await rotation(name)).contains("rotation="))
    }
    let left = "iw/2:ih:0:0"
    #expect(try await likeness("packed.mov", "iw:ih", to: "turned_plain_LR.mp4", left) > 30)
    #expect(try await likeness("two.mov", "iw:ih", to: "turned_plain.mp4", "iw:ih") > 30)
    // A spatial movie keeps its matrix if it is not encoded again; otherwise each eye is turned.
    try await TestMovie.play(
      "filesrc location=\(folder.path("plain_LR.mp4")) ! decodebin ! videoconvert "
        + "! taginject tags=image-orientation=rotate-\(degrees) "
        + "! sbssplit input-mode-override=side-by-side name=s "
        + "s.left ! queue ! m.left s.right ! queue ! m.right "
        + "mvhevcmux name=m speed-preset=ultrafast quality=15 "
        + "! filesink location=\(folder.path("spatial.mov"))")
    try convert(["spatial.mov", "flat.mp4", "--to", "2d"])
    try convert(["spatial.mov", "back.mp4", "--to", "sbs", "quality=15"])
    #expect(try await rotation("flat.mp4").contains("rotation="))
    #expect(!(try await rotation("back.mp4")).contains("rotation="))
    #expect(try await likeness("back.mp4", left, to: "flat.mp4", "iw:ih") > 30)
  }

  @Test("a file without pictures that can be decoded is refused for that, not for its layout")
  func unreadable() async throws {
    _ = try folder.write("", to: "empty.mp4")
    _ = try folder.write("This is a text, and a longer one.", to: "text.mp4")
    try Data((0..<50_000).map { _ in UInt8.random(in: .min ... .max) })
      .write(to: URL(filePath: folder.path("random.mp4")))
    for name in ["audio.mp4", "audio.mka"] {
      _ = try await Program.output(
        of: ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "sine", "-t", "1", name],
        in: folder.url)
    }
    // Video whose content is gone, beside audio that could be decoded.
    try await TestMovie.sideBySide(folder.path("damaged.mp4"))
    try zeroVideo("damaged.mp4")
    // Movies that end, or claim to go on, where their index should be: refused at once each time,
    // although `decodebin` loses the demuxer's error now and then.
    let fileType: [UInt8] =
      [0, 0, 0, 20] + Array("ftypqt  ".utf8) + [0, 0, 0, 0] + Array("qt  ".utf8)
    let claims = [UInt8](repeating: 0xFF, count: 4) + Array("moov".utf8) + [0, 0, 0, 0]
    try Data(fileType).write(to: URL(filePath: folder.path("short.mp4")))
    try Data(fileType + claims).write(to: URL(filePath: folder.path("claims.mp4")))
    try #require(mkfifo(folder.path("pipe.mp4"), 0o600) == 0)
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "folder.mp4"), withIntermediateDirectories: false)
    for (name, reason) in [
      ("empty.mp4", "is empty\n"),
      ("short.mp4", "cannot be read as a movie: file: the file ends without a moov box"),
      ("claims.mp4", "cannot be read as a movie: moov: it is 4294967295 bytes long"),
      ("text.mp4", "cannot be read as a movie: its format is not known"),
      ("random.mp4", "cannot be read as a movie: "),
      ("damaged.mp4", "cannot be read as a movie: No valid frames"),
      ("audio.mp4", "has no video\n"), ("audio.mka", "has no video\n"),
      ("pipe.mp4", "is not a file\n"), ("folder.mp4", "is a folder, not a file\n"),
    ] {
      let text = try refusal([name, "b.mov"])
      #expect(text.hasPrefix("error: '\(name)' \(reason)"), "\(text)")
    }
    for name in ["empty.mp4", "short.mp4", "claims.mp4"] {
      for line in [
        ["--left", "damaged.mp4", "--right", name, "b.mov"],
        [name, "b.mov", "--layout", "two-tracks"], [name, "b.mov", "--layout", "side-by-side"],
      ] {
        #expect(try refusal(line).hasPrefix("error: '\(name)' "))
      }
    }
    for name in ["pipe.mp4", "folder.mp4"] {
      #expect(try refusal(["audio.mp4", name, "b.mov"]).contains("'\(name)' is "))
      for command in [["info"], ["frames", "--at", "0"], ["view"], ["play"]] {
        let result = try Command.run(command + [name], in: folder)
        #expect(result.status != 0 && result.errors.contains("'\(name)' is "), "\(result.errors)")
        #expect(result.errors.contains("a file\n"), "\(result.errors)")
      }
    }
    let info = try Command.run(["info", "damaged.mp4"], in: folder)
    #expect(info.output.contains("unknown: the pictures cannot be decoded\n"), "\(info.output)")
  }

  /// Replaces the samples of a movie's video by zeros.
  private func zeroVideo(_ name: String) throws {
    let url = URL(filePath: folder.path(name))
    var bytes = try Data(contentsOf: url)
    for sample in try MovieFile(folder.path(name)).samples("vide") {
      let place = try #require(bytes.range(of: Data(sample)))
      bytes.replaceSubrange(place, with: Data(count: sample.count))
    }
    try bytes.write(to: url)
  }

  @Test("audio that cannot be decoded is left out by name; other audio is kept")
  func audio() async throws {
    func facts(_ name: String) async throws -> [Substring] {
      let text = try await Program.output(
        of: [
          "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name",
          "-of", "csv=p=0", name,
        ], in: folder.url)
      return String(decoding: text, as: UTF8.self).split(separator: "\n").map {
        $0.prefix { $0 != "," }
      }
    }
    let input = [
      "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x96:rate=30:duration=0.5",
      "-f", "lavfi", "-i", "sine=duration=0.5", "-c:v", "libx264", "-preset", "ultrafast",
      "-pix_fmt", "yuv420p", "-map", "0",
    ]
    for (name, audio, expected) in [
      ("mp2_SBS.ts", ["-map", "1", "-c:a", "mp2"], ["mp2"]),
      ("mp2_SBS.mkv", ["-map", "1", "-c:a", "mp2"], ["mp2"]),
      ("mp3_SBS.ts", ["-map", "1", "-c:a", "libmp3lame"], ["mp3"]),
      ("aac_SBS.ts", ["-map", "1", "-c:a", "aac"], ["aac"]),
      ("two_SBS.mkv", ["-map", "1", "-map", "1", "-c:a:0", "aac", "-c:a:1", "alac"], ["aac"]),
      ("no_SBS.mkv", ["-map", "1", "-c:a", "alac"], []),
    ] {
      _ = try await Program.output(of: input + audio + [name], in: folder.url)
      let result = try Command.run(
        ["convert", name, "\(name).mov", "preset=ultrafast"], in: folder)
      #expect(result.status == 0, "\(name): \(result.errors)")
      #expect(
        result.errors.contains("is left out: there is no decoder for") == audio.contains("alac"),
        "\(result.errors)")
      #expect(result.errors.contains("layer I or II") == name.hasPrefix("mp2"))
      #expect(try await facts("\(name).mov") == expected.map { Substring($0) }, "\(name)")
    }
  }

  @Test("eyes of an odd size lose a column or row, which is said")
  func oddSize() async throws {
    for (size, layout, eye) in [
      ("854x120", "side-by-side", "426x120"), ("320x246", "top-bottom", "320x122"),
    ] {
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i",
          "testsrc2=size=\(size):rate=30:duration=0.2", "-c:v", "libx264", "-preset", "ultrafast",
          "-pix_fmt", "yuv420p", "odd.mp4",
        ], in: folder.url)
      let result = try Command.run(
        [
          "convert", "odd.mp4", "o.mov", "--layout", layout, "preset=ultrafast", "quality=10",
          "--force",
        ], in: folder)
      #expect(result.status == 0, "\(result.errors)")
      #expect(result.errors.contains("are encoded as \(eye)"), "\(result.errors)")
      let entry = try MovieFile(folder.path("o.mov")).videoEntry()
      #expect("\(entry.width)x\(entry.height)" == eye)
    }
  }

  @Test("files and usual parameters can be options, and the output has a name of its own")
  func options() async throws {
    try await TestMovie.sideBySide(folder.path("film_SBS.mp4"), frames: 8)
    try await TestMovie.sideBySide(folder.path("eye.mp4"), frames: 8, width: 320)
    #expect(
      try convert(["film_SBS.mp4", "--preset", "ultrafast", "--quality", "30"])
        == "gst-spatial run sbs-to-mvhevc input=film_SBS.mp4 packing=side-by-side half-aspect=no "
        + "quality=30 preset=ultrafast")
    #expect(folder.names.contains("film_SBS_MVHEVC.mov"))
    #expect(
      try convert([
        "--left", "eye.mp4", "--right", "eye.mp4", "-o", "two.mov", "--preset", "ultrafast",
        "--bitrate", "900",
      ])
        == "gst-spatial run two-files-to-mvhevc left=eye.mp4 right=eye.mp4 output=two.mov "
        + "preset=ultrafast bitrate=900")
    #expect(try MovieFile(folder.path("two.mov")).videoEntry().lhvC != nil)
    let back = try Command.run(
      ["convert", "two.mov", "--to", "two-files", "--quiet"], in: folder)
    #expect(back.status == 0 && !back.errors.contains("of video in"), "\(back.errors)")
    #expect(folder.names.contains("two_left.mp4") && folder.names.contains("two_right.mp4"))
    // Nothing is replaced unless that is asked for.
    #expect(try Command.run(["convert", "film_SBS.mp4"], in: folder).status == 3)
  }

  @Test(
    "movies have any name",
    arguments: ["it's 50% = ü [1] {2} ${3} SBS.mp4", "quality=b_SBS.mp4", "#%03d ? * SBS.mp4"])
  func names(name: String) async throws {
    try await TestMovie.sideBySide(folder.path("plain.mp4"), frames: 4)
    try FileManager.default.moveItem(atPath: folder.path("plain.mp4"), toPath: folder.path(name))
    try convert([name, "--preset", "ultrafast"])
    #expect(folder.names == [name, name.dropLast(4) + "_MVHEVC.mov"].sorted())
  }

  @Test("wrong arguments are reported before anything runs")
  func mistakes() throws {
    try makeSpatial()
    #expect(try refusal(["no.mp4", "b.mov"]) == "error: 'no.mp4': No such file or directory\n")
    #expect(try refusal(["a.mov", "b.mov", "--to", "two-files"]).contains("requires two outputs"))
    #expect(try refusal(["a.mov", "l", "r", "--to", "sbs"]).contains("two outputs require"))
    try convert(["a.mov", "flat.mp4", "--to", "2d"])
    #expect(try refusal(["flat.mp4", "b.mp4", "--to", "anaglyph"]).contains("only be converted"))
    for line in [[], ["a.mov", "b.mov", "c.mov", "d.mov"], ["--left", "a.mov", "b.mov"]] {
      #expect(try Command.run(["convert"] + line, in: folder).status == 64, "\(line)")
    }
    #expect(try refusal(["--left", "a.mov", "--right", "a.mov"]).contains("has both eyes"))
    let twoPasses = try refusal(["a.mov", "--two-pass", "--bitrate", "700"])
    #expect(twoPasses.contains("--output"), "\(twoPasses)")
  }
}
