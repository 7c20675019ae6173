// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// Movies as other programs and cameras write them, converted and retagged; FFmpeg and ExifTool
/// read what is kept.
@Suite(.tags(.process))
struct ForeignMovieTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private static func pictures(_ size: String = "320x120", rate: Int = 25) -> [String] {
    ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=\(rate):duration=1"]
  }
  private static let sound = ["-f", "lavfi", "-i", "sine=duration=1"]

  /// Makes a movie by FFmpeg.
  private func make(_ name: String, _ arguments: [String]) async throws {
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error"] + arguments + [name], in: folder.url)
  }

  @discardableResult
  private func convert(_ name: String) throws -> String {
    let result = try Command.run(
      [
        "convert", name, "--output", "out.mov", "--layout", "side-by-side", "--preset",
        "ultrafast", "--force",
      ], in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    return result.errors
  }

  private func retag(_ name: String) throws -> Program.Result {
    try Command.run(
      ["run", "retag", "input=\(name)", "output=out.mov", "fov=70", "--force"], in: folder)
  }

  private func probe(_ entries: String, _ name: String = "out.mov") async throws -> String {
    let said = try await Program.output(
      of: ["ffprobe", "-v", "error", "-of", "compact", "-show_entries", entries, name],
      in: folder.url)
    return String(decoding: said, as: UTF8.self)
  }

  @Test("full range stays full range, although 'nclc' does not signal it")
  func fullRange() async throws {
    try await make(
      "a.mov",
      Self.pictures() + [
        "-vf", "scale=out_range=full", "-color_range", "pc", "-color_primaries", "bt709",
        "-color_trc", "bt709", "-colorspace", "bt709", "-c:v", "libx264",
      ])
    try convert("a.mov")
    #expect(try await probe("stream=color_range").contains("color_range=pc"))
  }

  @Test(
    "audio of a transport stream that begins before its first timestamp", arguments: ["aac", "ac3"])
  func lateTimestamps(coding: String) async throws {
    try await make(
      "a.ts",
      ["-itsoffset", "1"] + Self.pictures() + ["-f", "lavfi", "-i", "sine=duration=3"] + [
        "-map", "0", "-map", "1", "-c:v", "libx264", "-bf", "3", "-c:a", coding,
      ])
    #expect(try convert("a.ts").contains("begins without timestamps"))
    let streams = try await probe("stream=codec_type,start_time")
    #expect(streams.contains("codec_type=audio|start_time=0.0"), "\(streams)")
    // The pictures stay one second after the audio, less what is left out.
    let start = try #require(streams.firstMatch(of: /video\|start_time=(0\.\d+)/)).1
    #expect((0.6...0.9).contains(Double(start) ?? 0), "\(streams)")
  }

  @Test(
    "audio that cannot be decoded is left out with a warning",
    arguments: [
      ("a.mkv", "tta", "the audio track 1 (Lossless True Audio (TTA)) is left out: it cannot be"),
      ("a.mkv", "alac", "the audio track 1 is left out: there is no decoder for"),
      ("a.ts", "dca", "audio of 'a.ts' (DTS) is left out"),
    ])
  func undecodable(name: String, coding: String, warning: String) async throws {
    try await make(
      name,
      Self.pictures() + Self.sound + ["-c:v", "libx264", "-c:a", coding, "-strict", "-2"])
    let said = try convert(name)
    #expect(said.contains("warning: \(warning)"), "\(said)")
    #expect(try await probe("stream=codec_name").contains("hevc"))
  }

  @Test(
    "nothing is said of audio that is kept",
    arguments: [
      ("a.mkv", "flac"), ("a.mkv", "libopus"), ("a.mkv", "pcm_s16le"), ("a.mkv", "libvorbis"),
      ("a.mp4", "flac"), ("a.ts", "ac3"), ("a.avi", "libmp3lame"),
    ].sampled(4))
  func silence(name: String, coding: String) async throws {
    try await make(
      name,
      Self.pictures() + Self.sound + ["-c:v", "libx264", "-c:a", coding, "-strict", "-2"])
    let said = try convert(name)
    #expect(!said.contains("warning"), "\(said)")
    let duration = try await probe("stream=codec_type,duration")
      .firstMatch(of: /audio\|duration=(\d\.\d+)/)?.1
    #expect((0.95...1.1).contains(duration.flatMap { Double($0) } ?? 0), "\(coding)")
  }

  @Test("vertical bars are one picture, not two eyes", arguments: ["testsrc", "smptebars"])
  func bars(pattern: String) async throws {
    try await make(
      "a.mp4",
      ["-f", "lavfi", "-i", "\(pattern)=size=1280x720:rate=10:duration=1", "-c:v", "libx264"])
    let result = try Command.run(["convert", "a.mp4", "out.mov"], in: folder)
    #expect(result.status == 2 && folder.names == ["a.mp4"], "\(result.errors)")
  }

  @Test("the time of the file stays beside another date of recording")
  func dates() async throws {
    try await make(
      "a.mp4",
      Self.pictures() + [
        "-c:v", "libx264", "-metadata", "creation_time=2016-05-31T17:01:35Z", "-metadata",
        "date=2024",
      ])
    for name in ["retagged", "converted"] {
      if name == "converted" { try convert("a.mp4") } else { _ = try retag("a.mp4") }
      let said = String(
        decoding: try await Program.output(of: ["exiftool", "out.mov"], in: folder.url),
        as: UTF8.self)
      #expect(said.contains(/\nCreate Date +: 2016:05:31 17:01:35\n/), "\(name): \(said)")
      #expect(said.contains(/\nCreation Date +: 2024\n/), "\(name): \(said)")
    }
  }

  @Test(
    "QuickTime's numbered languages stay",
    arguments: [("ger", "deu"), ("fra", "fra"), ("jpn", "jpn")])
  func languages(given: String, language: String) async throws {
    try await make(
      "a.mov",
      Self.pictures() + Self.sound + [
        "-c:v", "libx264", "-c:a", "aac", "-metadata:s:a:0", "language=\(given)",
      ])
    for name in ["retagged", "converted"] {
      if name == "converted" { try convert("a.mov") } else { _ = try retag("a.mov") }
      #expect(try await probe("stream_tags=language").contains("language=\(language)"), "\(name)")
    }
  }

  @Test("the pictures keep their time code")
  func timeCode() async throws {
    try await make(
      "a.mov", Self.pictures() + ["-c:v", "libx264", "-timecode", "10:00:00:00"])
    try convert("a.mov")
    let movie = try MovieFile(folder.path("out.mov")).movie
    let pictures = try #require(movie.tracks.first { $0.handlerType == "vide" })
    let codes = movie.tracks.filter { $0.handlerType == "tmcd" }
    #expect(codes.count == 1)
    #expect(pictures.references == codes.map { TrackReference(type: "tmcd", track: $0.id) })
  }

  @Test("closed captions of the pictures are those of the base layer")
  func captions() async throws {
    try await make(
      "a.h264",
      Self.pictures() + ["-c:v", "libx264", "-bf", "2", "-x264-params", "aud=1:scenecut=0"])
    // After each access unit delimiter, an SEI message with two letters (ATSC A/53 Part 4, 6.2.3).
    let url = URL(filePath: folder.path("a.h264"))
    var (stream, count) = (Data(), 0)
    let delimiter = Data([0, 0, 0, 1, 9])
    var rest = try Data(contentsOf: url)[...]
    while let found = rest.range(of: delimiter) {
      stream += rest[..<min(found.upperBound + 1, rest.endIndex)]
      rest = rest[min(found.upperBound + 1, rest.endIndex)...]
      let letter = 0x40 + UInt8(count % 26)
      stream += Data([
        0, 0, 0, 1, 6, 4, 14, 0xB5, 0, 0x31, 0x47, 0x41, 0x39, 0x34, 3, 0x41, 0xFF, 0xFC, letter,
        letter, 0xFF, 0x80,
      ])
      count += 1
    }
    #expect(count == 25)
    try (stream + rest).write(to: url)
    try await make("a.mp4", ["-r", "25", "-i", "a.h264", "-c", "copy"])
    let side = "frame_side_data=side_data_type"
    func captions(_ name: String) async throws -> Int {
      try await probe(side, name).split(separator: "\n").count { $0.contains("Closed Captions") }
    }
    let given = try await captions("a.mp4")
    try #require(given > 20)
    try convert("a.mp4")
    #expect(try await captions("out.mov") >= given)
  }

  @Test("a video that ends long before the movie's duration, and unreadable input, are told")
  func damaged() async throws {
    try await make(
      "whole.mkv",
      ["-f", "lavfi", "-i", "testsrc2=size=320x120:rate=25:duration=4"] + [
        "-c:v", "libx264", "-g", "25", "-b:v", "400k",
      ])
    let whole = try Data(contentsOf: URL(filePath: folder.path("whole.mkv")))
    let words = "the source says that it lasts 4.0 s, but its video ended after"
    #expect(try !convert("whole.mkv").contains(words))
    try whole.prefix(whole.count / 2).write(to: URL(filePath: folder.path("half.mkv")))
    let messages = try convert("half.mkv")
    #expect(messages.contains(words), "\(messages)")
    try await make("a.ts", Self.pictures() + ["-c:v", "libx264"])
    let stream = try Data(contentsOf: URL(filePath: folder.path("a.ts")))
    // The tables, and a picture's beginning.
    try stream.prefix(188 * 5).write(to: URL(filePath: folder.path("start.ts")))
    let result = try Command.run(
      ["convert", "start.ts", "out.mov", "--layout", "side-by-side", "--force"], in: folder)
    #expect(
      result.status == 1
        && result.errors.contains("the input may be damaged, cut off or encrypted"),
      "\(result.errors)")
    _ = try folder.write("no movie", to: "text.mov")
    let text = try Command.run(
      ["convert", "text.mov", "out.mov", "--layout", "side-by-side", "--force"], in: folder)
    #expect(text.status == 2, "\(text.errors)")
  }

  @Test("XMP after the index stays, and what cannot move to another file is named")
  func fileLevelBoxes() async throws {
    try await make("a.mp4", Self.pictures() + ["-c:v", "libx264"])
    var movie = try Data(contentsOf: URL(filePath: folder.path("a.mp4")))
    let packet = """
      <?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">\
      <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description \
      rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" dc:source="Tides"/></rdf:RDF>\
      </x:xmpmeta><?xpacket end="w"?>
      """
    let xmp: [UInt8] = [
      0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF,
      0xAC,
    ]
    for box in [
      OpaqueBox("uuid", payload: xmp + Array(packet.utf8)),
      OpaqueBox("sefd", payload: [1, 2, 3]), OpaqueBox("uuid", payload: Array(0..<20)),
      OpaqueBox("free", payload: [0]),
    ] {
      movie.append(contentsOf: box.bytes)
    }
    // Some cameras pad their files.
    movie.append(Data(count: 100))
    try movie.write(to: URL(filePath: folder.path("a.mp4")))
    for result in try [
      retag("a.mp4"),
      Command.run(
        ["convert", "a.mp4", "--output", "out.mov", "--layout", "side-by-side", "--force"],
        in: folder),
    ] {
      #expect(result.status == 0)
      #expect(
        result.errors.contains(
          "not written: Samsung's data on the shot ('sefd'), 'uuid' "
            + "00010203-0405-0607-0809-0A0B0C0D0E0F."), "\(result.errors)")
      let said = try await Program.output(
        of: ["exiftool", "-XMP-dc:Source", "-Warning", "out.mov"], in: folder.url)
      #expect(String(decoding: said, as: UTF8.self).split(separator: ":").last == " Tides\n")
    }
  }

  @Test("a cover of Matroska stays, and other attached files are named")
  func attachments() async throws {
    try await make("cover.png", ["-f", "lavfi", "-i", "testsrc2=size=64x64", "-frames:v", "1"])
    try Data("no font".utf8).write(to: URL(filePath: folder.path("some font.ttf")))
    try await make(
      "a.mkv",
      Self.pictures() + [
        "-c:v", "libx264", "-attach", "cover.png", "-metadata:s:t:0", "mimetype=image/png",
        "-metadata:s:t:0", "filename=cover.png", "-attach", "some font.ttf", "-metadata:s:t:1",
        "mimetype=application/x-truetype-font", "-metadata:s:t:1", "filename=some font.ttf",
      ])
    let messages = try convert("a.mkv")
    #expect(messages.contains("no place for it: 'some font.ttf'."), "\(messages)")
    // ExifTool's name for the item.
    let cover = try await Program.output(
      of: ["exiftool", "-b", "-CoverArt", "out.mov"], in: folder.url)
    #expect(cover == (try Data(contentsOf: URL(filePath: folder.path("cover.png")))))
    // Then it is one of the movie's own items.
    try FileManager.default.moveItem(atPath: folder.path("out.mov"), toPath: folder.path("b.mov"))
    _ = try retag("b.mov")
    let kept = try await Program.output(
      of: ["exiftool", "-b", "-CoverArt", "out.mov"], in: folder.url)
    #expect(kept == cover)
  }

  @Test("H.264 with its parameter sets among the pictures is copied, and converted")
  func avc3() async throws {
    try await make("a.mp4", Self.pictures() + ["-c:v", "libx264", "-tag:v", "avc3"])
    let result = try retag("a.mp4")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try await probe("stream=codec_tag_string").contains("=avc3"))
    let pictures = try await hash("a.mp4")
    #expect(try await hash("out.mov") == pictures)
    try convert("a.mp4")
    #expect(try await probe("stream=codec_tag_string").contains("=hvc1"))
  }

  /// The hash of the decoded pictures.
  private func hash(_ name: String) async throws -> Data {
    try await Program.output(
      of: ["ffmpeg", "-v", "error", "-i", name, "-map", "0:v", "-f", "md5", "-"], in: folder.url)
  }

  @Test("of several programs, one is converted, with a warning", arguments: [1, 2])
  func programs(count: Int) async throws {
    let programs = (0..<count).flatMap { ["-program", "title=\($0):st=\($0)"] }
    let maps = (0..<count).flatMap { ["-map", "\($0)"] }
    try await make(
      "a.ts",
      (0..<count).flatMap { _ in Self.pictures() } + maps + ["-c:v", "libx264", "-bf", "0"]
        + programs)
    let messages = try convert("a.ts")
    #expect(
      messages.contains("has 2 programs with video, 1, 2; only one") == (count == 2), "\(messages)")
  }

  @Test("what cannot be retagged is named by its coding, or as another format")
  func refusals() async throws {
    try await make("vp9.mp4", Self.pictures() + ["-c:v", "libvpx-vp9"])
    try await make("sound.mp4", Self.sound + ["-c:a", "aac"])
    try await make("a.mkv", Self.pictures() + ["-c:v", "libx264"])
    for (name, words) in [
      ("vp9.mp4", "no stream fits: 'demux' found VP9 (video_0)"),
      ("sound.mp4", "no stream fits: 'demux' found MPEG-4 AAC"),
      ("a.mkv", "not a QuickTime or MP4 file, but Matroska or WebM"),
    ] {
      let result = try retag(name)
      #expect(result.status == 1 && result.errors.contains(words), "\(result.errors)")
      #expect(!result.errors.contains("line "), "\(result.errors)")
    }
    #expect(folder.names == ["a.mkv", "sound.mp4", "vp9.mp4"])
  }

  @Test(
    "eyes of a few pixels are encoded",
    arguments: ["32x64", "64x48", "96x144", "100x64"].sampled(2))
  func smallEyes(size: String) async throws {
    try await make(
      "a.mp4",
      ["-f", "lavfi", "-i", "testsrc2=size=\(size):rate=30:duration=4", "-c:v", "libx264"])
    for _ in 0..<3 { try convert("a.mp4") }
    #expect(try MovieFile(folder.path("out.mov")).samples("vide").count == 120)
  }

  @Test("interlaced video is refused, and nothing is left")
  func interlaced() async throws {
    try await make(
      "a.mp4",
      Self.pictures() + Self.sound + [
        "-c:v", "libx264", "-flags", "+ilme+ildct", "-x264-params", "interlaced=1", "-c:a", "aac",
      ])
    let result = try Command.run(
      ["convert", "a.mp4", "out.mov", "--layout", "side-by-side"], in: folder)
    #expect(result.status == 1 && result.errors.contains("Interlaced"), "\(result.errors)")
    #expect(folder.names == ["a.mp4"])
  }
}
