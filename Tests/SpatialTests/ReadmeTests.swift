// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestElements
import TestKit
import Testing

/// Runs what README.md tells people to copy.
@Suite("README", .tags(.process), .checkedStreams)
struct ReadmeTests {
  private static let commands =
    (try? DocumentedLines(Repository.url.appending(path: "README.md")).commands) ?? []

  private static let pipelines = commands.filter { $0.hasPrefix("gst-launch-1.0") }

  @Test(
    "every pipeline of the README makes the movie it promises", .tags(.process),
    arguments: pipelines)
  func pipelineRuns(_ command: String) async throws {
    try BuiltPlugin.require()
    let folder = try await Self.folderWithMovies(hasDisc: command.contains("disc."))
    let line = DocumentedLines.sized(command)
    let result = try Program.run(["bash", "-c", "cd '\(folder.url.path)' && \(line)"])
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.output.contains("ERROR"), "\(result.output)")

    guard !command.contains("mvhevchlssink") else {
      let playlist = try String(contentsOfFile: folder.path("main.m3u8"), encoding: .utf8)
      #expect(playlist.contains("REQ-VIDEO-LAYOUT=\"CH-STEREO\""))
      return
    }
    let output = try #require(
      command.firstMatch(of: /filesink location=(\S+)/)?.output.1, "no filesink")
    let movie = try MovieFile(folder.path(String(output)))
    #expect(try movie.video().samples.count >= 30)
    if command.contains("mvhevcmux") {
      let entry = try movie.videoEntry()
      #expect(entry.hvcC != nil && entry.lhvC != nil)
    }
    #expect(movie.tracks("soun").count == (command.contains("mux.audio_0") ? 1 : 0))
  }

  @Test(
    "only the pipeline with audio waits for audio that a movie does not have", .tags(.process))
  func silentMovies() async throws {
    try BuiltPlugin.require()
    let lines = Self.pipelines.filter {
      !$0.contains("mux.audio_0") && ($0.contains("=movie.mp4") || $0.contains("=spatial.mov !"))
    }
    #expect(lines.count >= 5)
    let folder = try await Self.folderWithMovies(hasAudio: false)
    for line in lines.map(DocumentedLines.sized) {
      let result = try Program.run(["bash", "-c", "cd '\(folder.url.path)' && \(line)"])
      #expect(result.status == 0 && !result.output.contains("ERROR"), "\(line): \(result.output)")
    }
  }

  @Test(
    "the README's commands convert a movie, describe it and show it",
    .tags(.process))
  func commandRuns() async throws {
    try BuiltPlugin.require()
    let folder = try await Self.folderWithMovies(hasDisc: true)
    let lines = Self.commands.filter {
      $0.hasPrefix(".build/release/gst-spatial") && !$0.hasSuffix("&")
    }
    #expect(lines.count == 16)
    for line in lines {
      let screen = line.contains(" play ") ? "xvfb-run -a -s -noreset " : "exec "
      let command = try Program(
        [
          "bash", "-c", "cd '\(folder.url.path)' && \(screen)'\(Repository.url.path)'/\(line)",
        ], errors: .merged)
      // The viewer is there until it is told to end.
      if line.contains(" view ") {
        try command.wait(for: "http://")
        command.interrupt()
      }
      let result = command.result()
      #expect(result.status == 0, "\(line): \(result.output)")
      if line.contains(" info ") { #expect(result.output.contains("MV-HEVC"), "\(result.output)") }
    }
    #expect(FileManager.default.fileExists(atPath: folder.path("anaglyph.mp4")))
    let pictures = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
      .filter { $0.hasSuffix(".png") }
    #expect(pictures.count == 1, "\(pictures)")
    #expect(try MovieFile(folder.path("converted.mov")).videoEntry().lhvC != nil)
    let flat = try MovieFile(folder.path("concert_flat_MVHEVC.mov")).videoEntry()
    #expect(flat.lhvC != nil && flat.width == 640)
  }

  @Test("the README's three lines are a stream that a stock player plays", .tags(.process))
  func streaming() throws {
    try BuiltPlugin.require()
    let folder = try TemporaryFolder()
    let start = try #require(Self.commands.firstIndex { $0.hasPrefix("mkdir -p live") })
    // Another port, no window for the preview, a player without a window, and small pictures, which
    // a busy machine encodes in time.
    let lines = Self.commands[start..<start + 3].joined(separator: "\n")
      .replacing(".build/release/", with: "'\(Repository.url.path)'/.build/release/")
      .replacing("serve live", with: "serve live --port $port")
      .replacing(
        "output=live",
        with: "output=live preview=fakesink "
          + "'size=video/x-raw, format=I420, width=320, height=96, framerate=10/1'"
      )
      .replacing("8080", with: "$port").replacing("sleep 6; ", with: "")
      .replacing("&\n", with: "& jobs+=($!)\n")
    let player = try #require(lines.split(separator: "\n").last)
    let url = try #require(player.split(separator: " ").last)
    let script = """
      set -m
      cd '\(folder.url.path)'
      port=$((20000 + RANDOM % 20000)) jobs=()
      \(lines.split(separator: "\n").dropLast().joined(separator: "\n"))
      for try in {1..1500}; do grep -qs m4s live/video_0/index.m3u8 && grep -qs video_0 live/main.m3u8 && break; sleep 0.2; done
      timeout 300 ffmpeg -nostdin -loglevel error -i \(url) -t 2 -map 0:v:0 -f framemd5 played
      status=$?
      for job in "${jobs[@]}"; do kill -- "-$job"; done
      wait
      exit $status
      """
    let result = try Program.run(["bash", "-c", script])
    #expect(result.status == 0, "\(result.output)")
    let played = try String(contentsOfFile: folder.path("played"), encoding: .utf8)
    // A live source leaves out what a busy machine has no time for.
    #expect(played.split(separator: "\n").filter { !$0.hasPrefix("#") }.count >= 10)
  }

  @Test("the lines of docs/streaming.md carry both eyes", .tags(.process))
  func streamingPage() throws {
    try BuiltPlugin.require()
    let folder = try TemporaryFolder()
    let page = Repository.url.appending(path: "docs/streaming.md")
    let lines = try DocumentedLines(page).commands.filter { $0.contains("gst-launch-1.0") }
    #expect(lines.count == 4)
    try FileManager.default.createDirectory(
      atPath: folder.path("browsers"), withIntermediateDirectories: false)
    for line in lines.map(DocumentedLines.sized) {
      // Two lines write streams of the same names.
      let place = line.contains("x264enc") ? folder.path("browsers") : folder.url.path
      let result = try Program.run(["bash", "-c", "cd '\(place)' && \(line)"])
      #expect(result.status == 0 && !result.output.contains("ERROR"), "\(result.output)")
    }
    let movie = try MovieFile(folder.path("both.mov"))
    #expect(try movie.video().samples.count == 60 && movie.videoEntry().lhvC != nil)
    let main = try String(contentsOfFile: folder.path("main.m3u8"), encoding: .utf8)
    #expect(main.matches(of: /REQ-VIDEO-LAYOUT="CH-STEREO"/).count == 2, "\(main)")
    // Both rungs are cut at the same pictures. On a busy machine, an encoder is past the time of a
    // keyframe when it is asked for it: then segments are longer than wished.
    let lists = try ["video_0", "video_1"].map { name in
      try String(contentsOfFile: folder.path("\(name)/index.m3u8"), encoding: .utf8)
    }
    let cuts = lists.map { $0.split(separator: "\n").filter { $0.hasPrefix("#EXTINF") } }
    let isLate = lists.contains { !$0.contains("#EXT-X-TARGETDURATION:1\n") }
    #expect(isLate || cuts[0] == cuts[1] && cuts[0].count == 2, "\(lists)")
  }

  @Test("make knows the README's targets", .tags(.process))
  func targetsExist() throws {
    let makes = Self.commands.filter { $0.hasPrefix("make ") }
    #expect(makes.count >= 3)
    for command in makes {
      let folder = Repository.url.path
      let result = try Program.run(["bash", "-c", "cd '\(folder)' && \(command) --dry-run"])
      #expect(result.status == 0, "\(command): \(result.output)")
    }
  }

  @Test("the demo converts its own movie and reports the result")
  func demoRuns() throws {
    try BuiltPlugin.require()
    let folder = try TemporaryFolder()
    let script = Repository.url.appending(path: "scripts/demo").path
    let result = try Program.run(["bash", script, "", folder.path("demo.mov")])
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.contains("90 frames for each eye"), "\(result.output)")
    let movie = try MovieFile(folder.path("demo.mov"))
    #expect(try movie.video().samples.count == 90)
    #expect(try movie.audio().samples.count > 120)
  }

  /// A folder with the files that the README's lines read.
  static func folderWithMovies(
    hasAudio: Bool = true, hasDisc: Bool = false
  ) async throws -> TemporaryFolder {
    let folder = try TemporaryFolder()
    // Not watched by the rules of streams: a page's lines replace each other's streams.
    let encode =
      "capssetter caps=video/x-raw,multiview-mode=mono ! x264enc speed-preset=ultrafast ! "
      + "h264parse ! queue ! mp4mux name=mux"
    _ = try folder.write("time,yaw,pitch\n0,-20,0\n0:01,20,5\n", to: "camera.csv")
    let source = "stereotestsrc num-buffers=30 ! video/x-raw,height=180"
    let audio =
      !hasAudio
      ? ""
      : "audiotestsrc num-buffers=47 samplesperbuffer=1024 ! audio/x-raw,rate=48000 ! avenc_aac ! "
        + "aacparse ! queue ! mux."
    for (name, line) in [
      ("movie.mp4", "\(source),width=640 ! \(encode) ! filesink location=OUTPUT \(audio)"),
      (
        "left.mp4",
        "\(source),width=320,multiview-mode=left ! \(encode) ! filesink location=OUTPUT"
      ),
      (
        "right.mp4",
        "\(source),width=320,multiview-mode=right ! \(encode) ! filesink location=OUTPUT"
      ),
      (
        "spatial.mov",
        "\(source),width=640 ! sbssplit name=s s.left ! mux.left s.right ! mux.right mvhevcmux "
          + "name=mux speed-preset=ultrafast ! filesink location=OUTPUT "
          + audio.replacing("mux.", with: "mux.audio_0")
      ),
    ] {
      try await Fixture.copy(to: folder.path(name), recipe: line) { path in
        let result = try Program.run([
          "bash", "-c", "gst-launch-1.0 -q -e \(line.replacing("OUTPUT", with: path))",
        ])
        guard result.status == 0 else { throw Failure("\(line): \(result.output)") }
      }
    }
    if hasDisc { try await MVCStream.writeDisc(folder.path("disc")) }
    try FileManager.default.copyItem(
      atPath: folder.path("movie.mp4"), toPath: folder.path("concert_180_LR.mp4"))
    return folder
  }
}
