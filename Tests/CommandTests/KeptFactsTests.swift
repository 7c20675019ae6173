// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// What ffprobe, ExifTool and mediainfo say of a movie, before and after: see
/// `Tests/Tools/compare_movies.py` for what may differ, and why.
@Suite(.tags(.process, .judge))
struct KeptFactsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Makes a movie with all that FFmpeg can say of one.
  private func make(_ name: String) async throws {
    let isMatroska = name.hasSuffix(".mkv")
    // GStreamer's demuxer tells only the day.
    let date = isMatroska ? "2020-02-03" : "2020-02-03T04:05:06Z"
    let texts = """
      ;FFMETADATA1
      title=Tides
      artist=Ann
      album=Sea
      genre=Nature
      comment=No comment
      description=Water
      copyright=2020 Ann
      date=\(date)
      location=+52.5200+013.4050/
      make=Acme
      model=Cam 3
      keywords=a,b
      [CHAPTER]
      TIMEBASE=1/1000
      START=0
      END=1000
      title=One
      [CHAPTER]
      TIMEBASE=1/1000
      START=1000
      END=2000
      title=Two

      """
    try Data(texts.utf8).write(to: URL(filePath: folder.path("texts.txt")))
    try Data("1\n00:00:00,100 --> 00:00:00,900\nHello\n".utf8).write(
      to: URL(filePath: folder.path("words.srt")))
    let streams = [
      ["-f", "lavfi", "-i", "testsrc2=size=320x90:rate=25:duration=2"],
      ["-f", "lavfi", "-i", "sine=duration=2"],
      ["-f", "lavfi", "-i", "sine=frequency=440:duration=2"],
      ["-i", "words.srt", "-i", "texts.txt"],
      ["-map", "0", "-map", "1", "-map", "2", "-map", "3", "-map_metadata", "4"],
      ["-c:v", "libx264", "-bf", "2", "-c:a:0", "aac", "-c:a:1", "ac3"],
      ["-c:s", isMatroska ? "srt" : "mov_text"],
      ["-metadata:s:a:0", "language=eng", "-metadata:s:a:1", "language=deu"],
      ["-metadata:s:a:0", "title=Main", "-metadata:s:a:1", "title=Kommentar"],
      ["-disposition:a:0", "0", "-disposition:a:1", "default"],
      isMatroska ? [] : ["-timecode", "10:00:00:00"],
      name.hasSuffix(".mov") ? ["-movflags", "use_metadata_tags"] : [],
    ].flatMap(\.self)
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error"] + streams + [name], in: folder.url)
  }

  @Test(
    "every fact of a movie stays, or is in the list of what must differ",
    arguments: ["movie.mov", "movie.mp4", "movie.mkv"], ["out.mov", "out.mp4"].sampled(1))
  func facts(input: String, output: String) async throws {
    try await make(input)
    var kinds = ["convert"]
    if input != "movie.mkv" { kinds.append("retag") }
    for kind in kinds {
      let arguments =
        kind == "retag"
        ? ["run", "retag", "input=\(input)", "output=\(output)", "fov=70", "--force"]
        : [
          "convert", input, output, "--layout", "side-by-side", "--preset", "ultrafast", "--force",
        ]
      let result = try Command.run(arguments, in: folder)
      try #require(result.status == 0, "\(result.errors)")
      let tool = Repository.url.appending(path: "Tests/Tools/compare_movies.py").path
      let said = try Python.text([tool, kind, folder.path(input), folder.path(output)])
      #expect(said.isEmpty, "\(kind) \(input) \(output)\n\(said)\n\(result.errors)")
    }
  }
}
