// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial frames`.
@Suite(.tags(.process))
struct FramesCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func frames(_ arguments: [String]) throws -> [String] {
    let result = try Command.run(["frames", "-y"] + arguments, in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    return result.output.split(separator: "\n").map(String.init)
  }

  /// B-frames and several keyframes: what seeks go wrong with.
  private func makeSpatial(frames: Int = 40) async throws -> String {
    try await TestMovie.spatial(
      folder.path("a.mov"), frames: frames, "width=320,height=90,framerate=30000/1001")
    return "a.mov"
  }

  /// Asserts that each picture has exactly the pixels of its own frame of its own eye, as they are
  /// where the movie is decoded from its beginning. RGBA has no padding, whose bytes would differ.
  private func expect(_ pictures: [String], show eye: String, of movie: String) async throws {
    try await TestMovie.decode(
      movie, left: folder.path("left"), right: folder.path("right"), format: "RGBA")
    let frames = try Data(contentsOf: URL(filePath: folder.path(eye)))
    for (index, name) in pictures.enumerated() {
      try await TestMovie.play(
        "filesrc location=\(folder.path(name)) ! pngdec ! videoconvert "
          + "! video/x-raw,format=RGBA ! filesink location=\(folder.path("picture"))")
      let picture = try Data(contentsOf: URL(filePath: folder.path("picture")))
      try #require(frames.count == picture.count * pictures.count)
      let same = pictures.indices.filter { frame in
        frames.dropFirst(frame * picture.count).prefix(picture.count) == picture
      }
      #expect(same == [index], "\(name)")
    }
    let eyes = try ["left", "right"].map { try Data(contentsOf: URL(filePath: folder.path($0))) }
    #expect(eyes[0] != eyes[1])
  }

  @Test(
    "each frame of our own movies is the one shown at its time", arguments: ["left", "right"])
  func ownFrames(eye: String) async throws {
    let movie = try await makeSpatial()
    let times = (0..<40).map { ["--at", "\((Double($0) + 0.9) * 1001 / 30000)s"] }.flatMap(\.self)
    let names = try frames([movie, "--show", eye] + times)
    #expect(names == (0..<40).map { "a-000\($0 < 10 ? "0" : "")\($0).png" })
    try await expect(names, show: eye, of: folder.path(movie))
  }

  @Test(
    "each frame of foreign movies is the one shown at its time, for both eyes",
    .enabled(if: ForeignMedia.isThere, "needs ../shared/media"),
    arguments: [
      ("gradients-160x120-left-base.mp4", 10), ("water-1934x2160-right-base.mov", 5),
      ("water-1934x2160-left-base-fragmented.mp4", 5),
    ])
  func foreignFrames(name: String, count: Int) async throws {
    let movie = ForeignMedia.path(name)
    for eye in ["left", "right"] {
      let names = try frames([movie, "--show", eye, "--count", "\(count)", "--output", eye])
      #expect(names.count == count)
      try await expect(names, show: eye, of: movie)
    }
  }

  @Test("both eyes of a frame are side by side, also after a jump")
  func both() async throws {
    let movie = try await makeSpatial()
    let name = try #require(try frames([movie, "--at", "0.84s"]).first)
    #expect(name == "a-00025.png")
    try await TestMovie.decode(
      folder.path(movie), left: folder.path("left"), right: folder.path("right"), format: "RGBA")
    try await TestMovie.play(
      "filesrc location=\(folder.path(name)) ! pngdec ! videoconvert "
        + "! video/x-raw,format=RGBA,width=320 ! filesink location=\(folder.path("picture"))")
    let picture = try Data(contentsOf: URL(filePath: folder.path("picture")))
    let (row, rows) = (160 * 4, 90)
    for (place, eye) in ["left", "right"].enumerated() {
      let frames = try Data(contentsOf: URL(filePath: folder.path(eye)))
      let isSame = (0..<rows).allSatisfy { y in
        picture.dropFirst((2 * y + place) * row).prefix(row)
          == frames.dropFirst((25 * rows + y) * row).prefix(row)
      }
      #expect(isSame, "\(eye)")
    }
  }

  @Test("the frame at a time is the one that has begun; times after the end are refused")
  func times() async throws {
    let movie = try await makeSpatial()
    #expect(
      try frames([movie, "--at", "0", "--at", "0.6", "--at", "1320ms", "--show", "left"])
        == ["a-00000.png", "a-00017.png", "a-00039.png"])
    let late = try Command.run(["frames", movie, "--at", "0.1", "--at", "1:00"], in: folder)
    #expect(late.status == 1 && late.errors.contains("'a.mov' ends at 1.3"), "\(late.errors)")
    #expect(late.errors.contains("no frame at '1:00'") && late.output.isEmpty)
    let gif = try Command.run(["frames", movie, "--at", "0", "-o", "left.gif"], in: folder)
    #expect(gif.status == 64 && gif.errors.contains("not as gif"), "\(gif.errors)")
    #expect(
      try frames([movie, "--every", "500ms"]) == ["a-00000.png", "a-00014.png", "a-00029.png"])
  }

  @Test(
    "a sheet is one picture, in the format of its file name",
    arguments: [
      ([], "a-sheet.png", "PNG"), (["--format", "jpeg"], "a-sheet.jpg", "JPEG"),
      (["--output", "x.jpeg"], "x.jpeg", "JPEG"), (["--output", "x.png"], "x.png", "PNG"),
      (["--output", "sub"], "sub/a-sheet.png", "PNG"),
    ])
  func sheet(arguments: [String], name: String, kind: String) async throws {
    let movie = try await makeSpatial(frames: 12)
    try FileManager.default.createDirectory(
      atPath: folder.path("sub"), withIntermediateDirectories: false)
    let names = try frames([movie, "--count", "4", "--sheet", "--show", "anaglyph"] + arguments)
    #expect(names == [name])
    let bytes = [UInt8](try Data(contentsOf: URL(filePath: folder.path(name))).prefix(4))
    #expect(bytes == (kind == "PNG" ? [0x89, 0x50, 0x4E, 0x47] : [0xFF, 0xD8, 0xFF, bytes[3]]))
    #expect(folder.names.count == (name.hasPrefix("sub/") ? 2 : 3))
    // Four anaglyphs of 160 pixels, two in a row.
    try await TestMovie.play(
      "filesrc location=\(folder.path(name)) ! decodebin "
        + "! video/x-raw,width=320,height=180 ! fakesink")
  }

  @Test("FFmpeg sees the same colours in JPEG as in PNG", .tags(.judge))
  func colours() async throws {
    let movie = try await makeSpatial(frames: 2)
    for name in ["one.png", "one.jpg", "sheet.jpg", "sheet.png"] {
      let sheet = name.hasPrefix("sheet") ? ["--count", "1", "--sheet"] : ["--at", "0"]
      _ = try frames([movie, "--show", "left", "--output", name] + sheet)
    }
    func pixels(_ name: String) async throws -> [UInt8] {
      [UInt8](
        try await Program.output(
          of: ["ffmpeg", "-v", "error", "-i", name, "-pix_fmt", "rgb24", "-f", "rawvideo", "-"],
          in: folder.url))
    }
    for name in ["one", "sheet"] {
      let (png, jpeg) = (try await pixels("\(name).png"), try await pixels("\(name).jpg"))
      try #require(png.count == jpeg.count && !png.isEmpty)
      // The limited range of video would be 16 off for black, and 20 for white.
      for (least, greatest) in [(0, 40), (215, 255)] {
        let places = png.indices.filter { least <= png[$0] && png[$0] <= greatest }
        let sum = places.reduce(0) { $0 + Int(jpeg[$1]) - Int(png[$1]) }
        #expect(!places.isEmpty && abs(Double(sum) / Double(max(places.count, 1))) < 4, "\(name)")
      }
    }
  }

  @Test("one picture gets the name in --output; several get numbers")
  func names() async throws {
    let movie = try await makeSpatial(frames: 6)
    #expect(try frames([movie, "--at", "0s", "--output", "one.jpg"]) == ["one.jpg"])
    #expect(
      try frames([movie, "--count", "2", "--output", "two.jpg"])
        == ["two-00001.jpg", "two-00004.jpg"])
    let refused = try Command.run(
      ["frames", movie, "--at", "0s", "--output", "no/one.png"], in: folder)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("'no/one.png': No such file or directory"))
  }

  @Test("a movie of one eye gives that eye; each eye of a packed one can be extracted")
  func otherMovies() async throws {
    let movie = try await makeSpatial(frames: 6)
    let made = try Command.run(
      ["run", "mvhevc-to-2d", "input=\(movie)", "output=flat.mp4"], in: folder)
    #expect(made.status == 0)
    let flat = try Command.run(["frames", "flat.mp4", "--at", "0s", "--show", "left"], in: folder)
    #expect(flat.status == 0 && flat.errors == "note: 'flat.mp4' has only one eye\n")
    let anaglyph = try Command.run(
      ["frames", "flat.mp4", "--at", "0s", "--show", "anaglyph", "-o", "anaglyph.png"], in: folder)
    #expect(anaglyph.status == 1 && anaglyph.errors.contains("has only one eye"))
    // Recognized by its pictures.
    try await TestMovie.sideBySide(folder.path("pair.mp4"), frames: 6, width: 640, height: 180)
    let pair = try Command.run(
      ["frames", "pair.mp4", "--at", "0s", "--show", "anaglyph", "-o", "pair.png"], in: folder)
    #expect(pair.status == 0 && pair.errors.contains("its pictures show two eyes side by side"))
    // Half side by side, tagged in the stream and by the muxer.
    let packed = try Command.run(["run", "mvhevc-to-sbs", "input=\(movie)"], in: folder)
    #expect(packed.status == 0)
    #expect(try frames(["a_SBS.mp4", "--at", "0.1s"]) == ["a_SBS-00002.png"])
  }

  @Test("existing pictures are kept, unless --force is given")
  func existing() async throws {
    let movie = try await makeSpatial(frames: 6)
    _ = try folder.write("precious", to: "a-00000.png")
    for arguments in [["--at", "0s"], ["--count", "6"], ["--at", "0s", "-o", "a-00000.png"]] {
      let refused = try Command.run(["frames", movie] + arguments, in: folder)
      #expect(refused.status == 3 && refused.output.isEmpty)
      #expect(refused.errors.contains("'a-00000.png' already exists"))
    }
    #expect(folder.names == ["a-00000.png", "a.mov"])
    #expect(try Command.run(["frames", movie, "--at", "0s", "--force"], in: folder).status == 0)
    #expect(try Data(contentsOf: URL(filePath: folder.path("a-00000.png"))).count > 100)
  }
}
