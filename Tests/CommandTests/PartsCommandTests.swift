// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// `plan`, `part`, `join`, `status`, and conversions in parts.
@Suite(.tags(.process))
struct PartsCommandTests {
  private let folder: TemporaryFolder
  /// Every run of a test writes the same creation time.
  private static let epoch = "export SOURCE_DATE_EPOCH=1700000000; "
  private static let settings = ["--layout", "side-by-side", "preset=ultrafast"]

  init() async throws {
    folder = try TemporaryFolder()
    try await TestMovie.sideBySide(folder.path("a.mp4"), frames: 150, width: 192, height: 64)
  }

  @discardableResult
  private func run(_ arguments: [String], shell: String = "") throws -> Program.Result {
    try Command.run(arguments, in: folder, shell: Self.epoch + shell)
  }

  private func succeed(_ arguments: [String], shell: String = "") throws {
    let result = try run(arguments, shell: shell)
    try #require(result.status == 0, "\(arguments): \(result.errors)")
  }

  private func plan(_ work: String, _ output: String) throws -> Int {
    let result = try run(
      ["plan", "a.mp4", output, "--work", work, "--parts", "2s"] + Self.settings)
    try #require(result.status == 0, "\(result.errors)")
    return try #require(Int(result.output.trimmingCharacters(in: .whitespacesAndNewlines)))
  }

  private func bytes(_ name: String) throws -> Data {
    try Data(contentsOf: URL(filePath: folder.path(name)))
  }

  @Test(
    "pieces that are put one after the other are the joined movie", .tags(.judge),
    .enabled("no PyAV") { Python.hasAV }, arguments: ["mov", "mp4"])
  func pieces(ending: String) throws {
    #expect(try plan("w", "one.\(ending)") == 3)
    for number in 0...2 { try succeed(["part", "w", "\(number)"]) }
    // Several processes, in any order, and a second time.
    for number in [2, 0, 1, 0] {
      try succeed(["join", "w", "--pieces", "pieces", "--piece", "\(number)"])
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("pieces")).sorted()
    #expect(names == (0...2).map { "piece-0000\($0).\(ending)" })
    let all = try names.map { try bytes("pieces/\($0)") }
    try succeed(["join", "w", "--pieces", "pieces"])
    #expect(try names.map { try bytes("pieces/\($0)") } == all)
    // What was made of it is written again.
    try bytes("w/head").prefix(500).write(to: URL(filePath: folder.path("w/head")))
    let damaged = try run(["join", "w", "--pieces", "pieces"])
    #expect(damaged.status == 1 && damaged.errors.contains("remove it"), "\(damaged.errors)")
    try FileManager.default.removeItem(atPath: folder.path("w/head"))
    try succeed(["join", "w", "--pieces", "pieces"])
    #expect(try names.map { try bytes("pieces/\($0)") } == all)
    try all.reduce(Data(), +).write(to: URL(filePath: folder.path("cat.\(ending)")))
    try succeed(["join", "w"])

    let (whole, pieces) = try (
      MovieFile(folder.path("one.\(ending)")), MovieFile(folder.path("cat.\(ending)"))
    )
    #expect(whole.movie.tracks.count == 2 && pieces.movie.tracks.count == 2)
    for (one, other) in zip(whole.movie.tracks, pieces.movie.tracks) {
      #expect(one.sampleEntries == other.sampleEntries && one.timescale == other.timescale)
      #expect(times(of: one, in: whole) == times(of: other, in: pieces))
      #expect(try whole.samples(one.handlerType) == pieces.samples(one.handlerType))
    }
    #expect(whole.movie.metadata == pieces.movie.metadata)
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let frames = try ["one", "cat"].map {
      try Python.lines([program, folder.path("\($0).\(ending)")])
    }
    #expect(frames[0].count == 300 && frames[0] == frames[1])
  }

  /// The times of the samples in the movie, and their durations.
  private func times(of track: Track, in file: MovieFile) -> [[Int64]] {
    let start = track.startOnMovieTimeLine(file.movie.timescale)
    return (0..<track.samples.count).compactMap(track.samples.sample).map {
      [$0.presentationTime - start, Int64($0.duration)]
    }
  }

  @Test("any order, several processes and a second time give the same movie, byte for byte")
  func sameBytes() throws {
    #expect(try plan("w1", "one.mov") == 3)
    for number in [2, 0, 1] { try succeed(["part", "w1", "\(number)"]) }
    let first = try bytes("w1/part-00000.mov")
    try succeed(["part", "w1", "0"])
    try succeed(["status", "w1"])
    try succeed(["join", "w1"])
    #expect(folder.names.contains("one.mov"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("w1")).sorted()
        == ["movie.json", "plan.json", "times"])
    // Doubled and late tasks do nothing.
    try succeed(["join", "w1"])
    try succeed(["part", "w1", "1"])
    #expect(try plan("w1", "one.mov") == 3)

    try succeed(
      ["convert", "a.mp4", "two.mov", "--work", "w2", "--parts", "2s", "--jobs", "2"]
        + Self.settings)
    let isSame = try bytes("one.mov") == bytes("two.mov")
    #expect(isSame)

    // The engine's number, in another process, makes the same bytes.
    #expect(try plan("w3", "three.mov") == 3)
    try succeed(["part", "w3"], shell: "export SLURM_ARRAY_TASK_ID=0; ")
    let isSamePart = try bytes("w3/part-00000.mov") == first
    #expect(isSamePart)
  }

  @Test("the movie has the pictures, times, sound and metadata of a conversion in one piece")
  func likeOnePiece() throws {
    try succeed(["convert", "a.mp4", "whole.mov"] + Self.settings)
    try succeed(["convert", "a.mp4", "parts.mov", "--work", "w", "--parts", "2s"] + Self.settings)
    let whole = try MovieFile(folder.path("whole.mov"))
    let parts = try MovieFile(folder.path("parts.mov"))
    #expect(try parts.samples("soun") == whole.samples("soun"))
    let (one, other) = (try whole.track("vide"), try parts.track("vide"))
    #expect(other.samples.count == 150 && one.samples.count == 150)
    func times(_ track: Track) -> [[Int64]] {
      (0..<track.samples.count).compactMap { track.samples.sample(at: $0) }.map {
        [$0.presentationTime, $0.decodeTime, Int64($0.duration)]
      }
    }
    #expect(times(other) == times(one))
    #expect(other.edits == one.edits && other.timescale == one.timescale)
    #expect(other.sampleEntries == one.sampleEntries)
    #expect(parts.movie.tracks.count == whole.movie.tracks.count)
    // Each part begins with a keyframe.
    let keyframes = (0..<150).filter { other.samples.sample(at: $0)?.isSync == true }
    #expect(Set([0, 60, 120]).isSubset(of: keyframes))
  }

  @Test(
    "a range has the pictures and the sound between its times, and the chapters there",
    .tags(.judge), arguments: ["mp4", "mkv"])
  func range(container: String) async throws {
    _ = try folder.write(
      "1\n00:00:00,500 --> 00:00:01,500\nbefore and in\n\n2\n00:00:02,000 --> 00:00:02,500\nin\n\n"
        + "3\n00:00:04,000 --> 00:00:04,500\nafter\n", to: "text.srt")
    _ = try folder.write(
      ";FFMETADATA1\n"
        + [
          (0, 900, "before"), (900, 2000, "begins before"), (2000, 2900, "in"), (2900, 5000, "on"),
        ]
        .map {
          "[CHAPTER]\nTIMEBASE=1/1000\nSTART=\($0)\nEND=\($1)\ntitle=\($2)\n"
        }.joined(), to: "chapters.txt")
    let source = "source_SBS.\(container)"
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "a.mp4", "-i", "text.srt", "-i", "chapters.txt", "-map",
        "0:v", "-map", "0:a", "-map", "1:s", "-map_chapters", "2", "-c", "copy", "-c:s",
        container == "mp4" ? "mov_text" : "srt", source,
      ], in: folder.url)
    let settings = ["--layout", "side-by-side", "preset=ultrafast", "quality=10"]
    try succeed(["convert", source, "whole.mov"] + settings)
    // The picture at or after 1.01 s is number 31; that at 3 s is number 90.
    try succeed(["convert", source, "range.mov", "--from", "1.01", "--until", "3s"] + settings)
    #expect(!folder.names.contains("range.mov.parts"))
    let first = 31.0 / 30

    let video = try MovieFile(folder.path("range.mov")).track("vide")
    #expect(video.samples.count == 59)
    for name in ["whole", "range"] {
      for eye in ["0", "1"] {
        _ = try await Program.output(
          of: [
            "gst-launch-1.0", "-q", "filesrc", "location=\(name).mov", "!", "mvhevcdemux", "name=d",
            "d.\(eye == "0" ? "left" : "right")", "!", "avdec_h265", "!", "videoconvert", "!",
            "video/x-raw,format=I420", "!", "filesink", "location=\(name)\(eye).yuv",
          ], in: folder.url)
      }
      _ = try await Program.output(
        of: [
          "ffmpeg", "-v", "error", "-i", "\(name).mov", "-map", "0:a", "-ac", "1", "-ar", "48000",
          "-f", "s16le", "\(name).raw",
        ], in: folder.url)
    }
    let size = 96 * 64 * 3 / 2
    for eye in ["0", "1"] {
      let all = try bytes("whole\(eye).yuv")
      let start = 31 * size
      try all[start..<start + 59 * size].write(to: URL(filePath: folder.path("cut.yuv")))
      #expect(
        try TestMovie.psnr(folder.path("cut.yuv"), folder.path("range\(eye).yuv")) > 35, "\(eye)")
    }
    // The ticks of the sound are where they are in the whole movie.
    let ticks = try ticks("whole.raw").map { $0 - first }.filter { $0 > 0.01 && $0 < 1.96 }
    let cut = try self.ticks("range.raw").filter { $0 > 0.01 && $0 < 1.96 }
    #expect(!ticks.isEmpty && ticks.count == cut.count, "\(ticks), \(cut)")
    #expect(zip(ticks, cut).allSatisfy { abs($0 - $1) < 0.001 }, "\(ticks), \(cut)")
    let length = Double(try bytes("range.raw").count) / 96_000
    #expect(length > 1.9 && length < 2.01, "\(length)")

    let chapters = try await probe(["-show_chapters", "-of", "csv=p=0", "range.mov"])
    let titles = chapters.split(separator: "\n").compactMap { $0.split(separator: ",").last }
    #expect(titles == ["begins before", "in", "on"], "\(chapters)")
    let starts = chapters.split(separator: "\n").compactMap { line in
      Double(line.split(separator: ",")[3])
    }
    let wanted = [0, 2 - first, 2.9 - first]
    #expect(zip(starts, wanted).allSatisfy { abs($0 - $1) < 0.002 }, "\(starts)")
    let texts = try await probe([
      "-select_streams", "s", "-show_entries", "packet=pts_time,size", "-of", "csv=p=0",
      "range.mov",
    ])
    let shown = texts.split(separator: "\n").map { $0.split(separator: ",") }
      .filter { (Int($0.last ?? "") ?? 0) > 2 }.compactMap { Double($0[0]) }
    #expect(shown.count == 2, "\(texts)")
    #expect(abs((shown.last ?? 0) - (2 - first)) < 0.002, "\(texts)")
  }

  private func probe(_ arguments: [String]) async throws -> String {
    String(
      decoding: try await Program.output(
        of: ["ffprobe", "-v", "error"] + arguments, in: folder.url), as: UTF8.self)
  }

  /// Where sound begins after silence, in seconds.
  private func ticks(_ name: String) throws -> [Double] {
    let samples = try bytes(name).withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
    var (ticks, next): ([Double], Int) = ([], 0)
    for (index, sample) in samples.enumerated() where index >= next && abs(Int(sample)) > 3000 {
      ticks.append(Double(index) / 48_000)
      next = index + 24_000
    }
    return ticks
  }

  @Test("ranges that have no picture, or that nothing can convert, are refused")
  func wrongRanges() throws {
    for (line, word) in [
      (["a.mp4", "b.mov", "--from", "5s"], "no pictures from --from to --until"),
      (["a.mp4", "b.mov", "--from", "2s", "--until", "2s"], "no pictures"),
      (["a.mp4", "b.mp4", "--to", "2d", "--from", "2s"], "--from and --until are for"),
      (["a.mp4", "b.mov", "--two-pass", "--from", "2s"], "--two-pass requires bitrate"),
      (["a.mp4", "b.mov", "bitrate=500", "--until", "2s"], "a bitrate cannot be met in parts"),
    ] {
      let result = try run(["convert"] + line + Self.settings)
      #expect(result.status != 0 && result.errors.contains(word), "\(line): \(result.errors)")
    }
    #expect(!folder.names.contains { $0.hasPrefix("b.") })
    try succeed(["plan", "a.mp4", "c.mov", "--work", "w", "--from", "1s"] + Self.settings)
    let other = try run(["plan", "a.mp4", "c.mov", "--work", "w", "--from", "2s"] + Self.settings)
    #expect(other.status == 2 && other.errors.contains("the range"), "\(other.errors)")
  }

  @Test("what was stopped is carried on with, and gives the same bytes")
  func killed() throws {
    try succeed(["convert", "a.mp4", "one.mov", "--work", "w1", "--parts", "2s"] + Self.settings)
    let line =
      ["convert", "a.mp4", "two.mov", "--work", "w2", "--parts", "2s", "--jobs", "2", "--json"]
      + Self.settings
    for _ in 0..<2 {
      let command = try Command.start(line, in: folder, shell: Self.epoch)
      try command.wait(for: "\"event\":\"plan\"")
      usleep(400_000)
      command.kill()
      command.wait()
    }
    try succeed(line)
    let isSame = try bytes("one.mov") == bytes("two.mov")
    #expect(isSame)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("w2")).sorted()
        == ["movie.json", "plan.json", "times"])
  }

  @Test("children end with the process that started them")
  func orphans() throws {
    let command = try Command.start(
      [
        "convert", "a.mp4", "b.mov", "--work", "w", "--parts", "2s", "--jobs", "2",
        "--layout", "side-by-side", "preset=veryslow", "--json",
      ], in: folder, shell: Self.epoch)
    try command.wait(for: "\"event\":\"plan\"")
    func children() throws -> Int {
      let path = folder.path("").replacing("/private", with: "")
      return try Program.run([
        "sh", "-c",
        "ls -l /proc/[0-9]*/cwd 2>/dev/null | grep -c \(path.split(separator: "/").last ?? "")",
      ])
      .output.split(separator: "\n").first.flatMap { Int($0) } ?? 0
    }
    let start = Date()
    while try children() < 3, start.timeIntervalSinceNow > -60 { usleep(20_000) }
    #expect(try children() >= 3)
    command.kill()
    command.wait()
    while try children() > 0, start.timeIntervalSinceNow > -120 { usleep(20_000) }
    #expect(try children() == 0)
  }

  @Test("a damaged part is named by join and made again; a missing one, too")
  func damagedPart() throws {
    #expect(try plan("w", "b.mov") == 3)
    let early = try run(["join", "w"])
    #expect(early.status == 1 && early.errors.contains("3 parts are missing: 0, 1, 2"))
    for number in 0..<3 { try succeed(["part", "w", "\(number)"]) }
    let good = try bytes("w/part-00001.mov")
    var bad = good
    bad[good.count / 2] ^= 1
    try bad.write(to: URL(filePath: folder.path("w/part-00001.mov")))
    let status = try run(["status", "w", "--verify", "--json"])
    #expect(status.status == 1 && status.output.contains("\"damaged\":[1]"), "\(status.output)")
    let join = try run(["join", "w"])
    #expect(
      join.status == 1 && join.errors.contains("part 1 is missing or damaged"), "\(join.errors)")
    #expect(!folder.names.contains("b.mov"))
    try succeed(["part", "w", "1"])
    let isSame = try bytes("w/part-00001.mov") == good
    #expect(isSame)
    try bad.prefix(1000).write(to: URL(filePath: folder.path("w/part-00002.mov")))
    let cut = try run(["join", "w"])
    #expect(cut.status == 1 && cut.errors.contains("part 2 is missing"), "\(cut.errors)")
    try succeed(["part", "w", "2"])
    try succeed(["join", "w"])
    #expect(try MovieFile(folder.path("b.mov")).track("vide").samples.count == 150)
  }

  @Test("what trying again does not mend has exit code 2 and a sentence")
  func finalErrors() async throws {
    #expect(try plan("w", "b.mov") == 3)
    func fails(_ arguments: [String], _ words: String, shell: String = "") throws {
      let result = try run(arguments, shell: shell)
      #expect(result.status == 2 && result.errors.contains(words), "\(result)")
    }
    try fails(["part", "w"], "the number of the part is missing")
    try fails(["part", "w", "3"], "has no part 3")
    try fails(["part", "w"], "not a number", shell: "export SLURM_ARRAY_TASK_ID=x; ")
    try fails(["part", "none", "0"], "has no plan")
    try fails(
      ["plan", "a.mp4", "b.mov", "--work", "w", "--parts", "4s"] + Self.settings,
      "the length of the parts")
    try fails(
      ["plan", "a.mp4", "b.mov", "--work", "w", "--parts", "2s", "quality=30"] + Self.settings,
      "the settings")
    try fails(["plan", "a.mp4", "c.mov", "--work", "w4", "bitrate=900"] + Self.settings, "bitrate")
    // Each part of a plan that is damaged fails so.
    let planFile = URL(filePath: folder.path("w/plan.json"))
    let whole = try Data(contentsOf: planFile)
    try whole.prefix(300).write(to: planFile)
    for command in [["part", "w", "0"], ["join", "w"], ["status", "w"]] {
      try fails(command, "is damaged")
    }
    try whole.write(to: planFile)
    let input = URL(filePath: folder.path("a.mp4"))
    var movie = try Data(contentsOf: input)
    movie[movie.count / 2] ^= 1
    try movie.write(to: input)
    try fails(["part", "w", "0"], "its contents have changed")
    movie[movie.count / 2] ^= 1
    try movie.write(to: input)
    try Data([1]).write(to: URL(filePath: folder.path("w/times")))
    try fails(["part", "w", "0"], "is missing, or is not that of the plan")
    try await TestMovie.play(
      "stereotestsrc num-buffers=30 ! video/x-raw,width=192,height=64,framerate=30/1 ! x264enc ! "
        + "h264parse ! mpegtsmux ! filesink location=\(folder.path("a.ts"))")
    try fails(
      ["plan", "a.ts", "c.mov", "--work", "w5"] + Self.settings, "is a transport stream")
  }

  @Test("movies of a folder are converted once each, and what fails is named")
  func manyMovies() async throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("in"), withIntermediateDirectories: false)
    for name in ["a", "b"] {
      try await TestMovie.sideBySide(
        folder.path("in/\(name).mp4"), frames: 10, width: 192, height: 64)
    }
    try Data("no movie".utf8).write(to: URL(filePath: folder.path("in/broken.mp4")))
    try Data().write(to: URL(filePath: folder.path("in/empty.mkv")))
    try Data("text".utf8).write(to: URL(filePath: folder.path("in/notes.txt")))
    let line = ["convert", "in", "--to-folder", "out", "--jobs", "2"] + Self.settings
    let first = try run(line)
    #expect(first.errors.contains("2 done, 0 skipped, 2 failed"), "\(first.errors)")
    #expect(first.errors.contains("failed: in/broken.mp4: "), "\(first.errors)")
    #expect([1, 2].contains(first.status))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: folder.path("out")).sorted()
        == ["a_MVHEVC.mov", "b_MVHEVC.mov"])
    let second = try run(line + ["--json"])
    let lines = second.output.split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines.filter { $0.contains("\"result\":\"there\"") }.count == 2, "\(second.output)")
    #expect(lines.last?.contains("\"done\":0,\"skipped\":2,\"failed\":2") == true)
    let good = try run(["convert", "in/a.mp4", "in/b.mp4", "--to-folder", "out"] + Self.settings)
    #expect(good.status == 0, "\(good.errors)")
  }

  @Test("warnings of conversions in parts and of many movies are told, with the movie's name")
  func warnings() async throws {
    try Data("no font".utf8).write(to: URL(filePath: folder.path("some.ttf")))
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-i", "a.mp4", "-c", "copy", "-attach", "some.ttf",
        "-metadata:s:t:0", "mimetype=application/x-truetype-font", "a.mkv",
      ], in: folder.url)
    let words = "no place for it: 'some.ttf'"
    let parts = try run(
      ["convert", "a.mkv", "one.mov", "--work", "w", "--parts", "2s", "--quiet"] + Self.settings)
    #expect(parts.status == 0 && parts.errors.contains(words), "\(parts.errors)")
    let batch = try run(["convert", "a.mkv", "--to-folder", "out", "--quiet"] + Self.settings)
    #expect(
      batch.status == 0 && batch.errors.contains("a.mkv: warning: ")
        && batch.errors.contains(words), "\(batch.errors)")
    let json = try run(
      ["convert", "a.mkv", "--to-folder", "more", "--json"] + Self.settings)
    #expect(json.output.contains("\"messages\":[\"warning: "), "\(json.output)")
  }

  @Test("two runs write the same bytes with SOURCE_DATE_EPOCH")
  func reproducible() throws {
    try succeed(["convert", "a.mp4", "one.mov"] + Self.settings)
    sleep(1)
    try succeed(["convert", "a.mp4", "two.mov"] + Self.settings)
    let isSame = try bytes("one.mov") == bytes("two.mov")
    #expect(isSame)
  }

  @Test(
    "no thread of the encoder leaves the processors of the process",
    .enabled(if: ProcessInfo.processInfo.processorCount > 1, "one processor"))
  func affinity() async throws {
    // It is not over before its threads are looked at.
    _ = try await Program.output(
      of: ["ffmpeg", "-v", "error", "-stream_loop", "99", "-i", "a.mp4", "-c", "copy", "long.mp4"],
      in: folder.url)
    let command = try Program(
      [
        "taskset", "-c", "1", try Command.built(), "convert", "long.mp4", "b.mov", "--json",
        "--layout", "side-by-side", "preset=slow",
      ], in: folder.url)
    try command.wait(for: "\"frames\":1")
    // A thread of x265 that starts late on a busy machine is put back a few pictures later.
    defer { command.kill() }
    try await eventually("all threads on one processor") {
      let tasks = try Program.run([
        "sh", "-c",
        "for p in /proc/[0-9]*; do [ \"$(readlink $p/cwd)\" = \"\(folder.url.path)\" ] && "
          + "cat $p/task/*/status; done 2>/dev/null | grep Cpus_allowed_list; true",
      ]).output.split(separator: "\n")
      return tasks.count > 5 && tasks.allSatisfy { $0.hasSuffix("\t1") }
    }
  }
}
