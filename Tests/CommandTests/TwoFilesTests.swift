// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// Movies of two files, one for each eye, that do not begin together; FFmpeg decodes both views.
@Suite(.tags(.process))
struct TwoFilesTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes `whole` and `late`, which begins half a second later; the brightness tells the time.
  private func makeMovies(_ container: String) async throws {
    let source = "color=black:size=160x96:rate=30:duration=1.5,geq=lum='20+4*N':cb=128:cr=128"
    for (name, cut) in [("whole", []), ("late", ["-ss", "0.5", "-copyts"])] {
      // Seeking needs a file.
      let input =
        cut.isEmpty ? ["-f", "lavfi", "-i", source] : cut + ["-i", "whole.mkv"]
      _ = try await Program.output(
        of: ["ffmpeg", "-y", "-v", "error"] + input + [
          "-c:v", "libx264", "-preset", "ultrafast", "-crf", "4", "-bf", "0", "-pix_fmt",
          "yuv420p", "\(name).mkv",
        ], in: folder.url)
    }
    guard container != "mkv" else { return }
    for name in ["whole", "late"] {
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-copyts", "-i", "\(name).mkv", "-c", "copy",
          "\(name).\(container)",
        ], in: folder.url)
    }
  }

  /// Converts, and returns the messages and how much brighter the left view of the first picture
  /// is than the right one.
  private func difference(_ arguments: [String]) throws -> (Double, String) {
    let result = try Command.run(
      ["convert"] + arguments + ["out.mov", "--preset", "ultrafast", "--quality", "8", "--force"],
      in: folder)
    guard result.status == 0 else { throw Failure(result.errors) }
    let judged = try Python.lines(["-c", Self.judge, folder.path("out.mov")])
    return (try #require(judged.last.flatMap(Double.init)), result.errors)
  }

  private static let judge = """
    import sys, av
    means = []
    with av.open(sys.argv[1]) as movie:
        stream = movie.streams.video[0]
        stream.codec_context.options = {"view_ids": "-1"}
        for frame in movie.decode(stream):
            plane = frame.planes[0]
            rows = bytes(plane)
            size = plane.line_size
            shown = [rows[row * size:row * size + plane.width] for row in range(plane.height)]
            means.append(sum(map(sum, shown)) / (plane.width * plane.height))
            if len(means) == 2: break
    print(means[0] - means[1])
    """

  @Test(
    "pictures of the same times are pairs, in every container that has times", .tags(.judge),
    .enabled("no PyAV") { Python.hasAV }, arguments: ["mkv", "mp4", "mov"])
  func times(container: String) async throws {
    try await makeMovies(container)
    for (left, right) in [("whole", "late"), ("late", "whole")] {
      let (difference, _) = try difference(["\(left).\(container)", "\(right).\(container)"])
      #expect(abs(difference) < 5, "\(left)")
    }
  }

  @Test("files of different lengths are not taken for the eyes of one movie by their order alone")
  func otherMovies() async throws {
    for (name, seconds) in [("a.mp4", 1), ("b.mp4", 4)] {
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-f", "lavfi", "-i",
          "testsrc2=size=160x96:rate=10:duration=\(seconds)", "-c:v", "libx264", name,
        ], in: folder.url)
    }
    let result = try Command.run(["convert", "a.mp4", "b.mp4", "out.mov"], in: folder)
    #expect(result.status == 2 && result.errors.contains("'a.mp4' lasts 1.0 s and 'b.mp4' 4.0 s"))
    #expect(result.errors.contains("--left LEFT --right RIGHT"))
    let named = try Command.run(
      ["convert", "--left", "a.mp4", "--right", "b.mp4", "out.mov", "--preset", "ultrafast"],
      in: folder)
    #expect(named.status == 0, "\(named.errors)")
    // The last of `*.mp4` is not an output.
    let before = try Data(contentsOf: URL(filePath: folder.path("b.mp4")))
    let forced = try Command.run(
      ["convert", "a.mp4", "b.mp4", "--force", "--layout", "side-by-side"], in: folder)
    #expect(forced.status == 3 && forced.errors.contains("use --output b.mp4"), "\(forced.errors)")
    #expect(try Data(contentsOf: URL(filePath: folder.path("b.mp4"))) == before)
  }

  @Test("eyes in the wrong order by their names, and a second eye without an output, are refused")
  func order() async throws {
    for name in ["clip_left.mp4", "clip_right.mp4"] {
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "mandelbrot=size=160x96:rate=10", "-t",
          "0.5", "-c:v", "libx264", name,
        ], in: folder.url)
    }
    let wrong = try Command.run(
      ["convert", "clip_right.mp4", "clip_left.mp4", "out.mov"], in: folder)
    #expect(wrong.status == 2 && wrong.errors.contains("--left clip_left.mp4"), "\(wrong.errors)")
    let alone = try Command.run(["convert", "clip_left.mp4", "clip_right.mp4"], in: folder)
    #expect(
      alone.status == 2 && alone.errors.contains("'clip_right.mp4' is taken for the output"),
      "\(alone.errors)")
    let missing = try Command.run(["convert", "clip_lefy.mp4"], in: folder)
    #expect(missing.errors.contains("did you mean clip_left.mp4?"), "\(missing.errors)")
  }

  @Test(
    "two tracks of a file are the eyes if the user says so", .tags(.judge),
    .enabled("no PyAV") { Python.hasAV },
    arguments: ["mkv", "mp4"])
  func tracks(container: String) async throws {
    // Without a word it is unclear what two tracks are.
    let colours = ["gray", "black"].flatMap {
      ["-f", "lavfi", "-i", "color=\($0):size=160x96:rate=30:duration=0.5"]
    }
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error"] + colours + [
        "-f", "lavfi", "-i", "sine=duration=0.5", "-map", "0", "-map", "1", "-map", "2", "-c:v",
        "libx264", "-c:a", "aac", "two.\(container)",
      ], in: folder.url)
    let refused = try Command.run(["convert", "two.\(container)", "out.mov"], in: folder)
    #expect(refused.status == 2 && refused.errors.contains("--layout two-tracks"))
    for (layout, isLeftBright) in [("two-tracks", true), ("two-tracks-reversed", false)] {
      let (difference, messages) = try difference(["two.\(container)", "--layout", layout])
      #expect(isLeftBright ? difference > 50 : difference < -50, "\(layout) \(messages)")
    }
    let shown = try Command.run(
      ["frames", "two.\(container)", "--at", "0", "--layout", "two-tracks"], in: folder)
    #expect(shown.status == 2 && shown.errors.contains("can be converted, but not shown"))
  }

  @Test(
    "the first pictures are a pair if the user says so, or nothing else is known", .tags(.judge),
    .enabled("no PyAV") { Python.hasAV }, arguments: ["mkv", "mp4", "ts"])
  func beginnings(container: String) async throws {
    try await makeMovies(container)
    let files = ["whole.\(container)", "late.\(container)"]
    let option = container == "ts" ? [] : ["--pair", "beginnings"]
    let (difference, messages) = try difference(files + option)
    // 15 pictures of 4 steps, as FFmpeg scales them.
    #expect(difference < -50, "\(messages)")
    #expect(messages.contains("first pictures are a pair") == (container == "ts"), "\(messages)")
    // What the user knows overrides the files.
    let (given, _) = try self.difference(files + ["offset=0.5s", "--pair", "beginnings"])
    #expect(container == "mp4" ? given > 50 : abs(given) < 5)
  }
}
