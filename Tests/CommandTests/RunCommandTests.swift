// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// `gst-spatial run`, also when it goes wrong.
@Suite(.tags(.process))
struct RunCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("events are JSON, one a line, and end with the outputs")
  func events() throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "frames=20", "live=no", "output=out.mov", "--json"],
      in: folder)
    #expect(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
    let events = try result.output.split(separator: "\n").map {
      try #require(JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(events.last?["event"] as? String == "end")
    #expect(events.last?["outputs"] as? [String] == ["out.mov"])
    #expect(events.last?["frames"] as? Int == 20)
    #expect(events.dropLast().allSatisfy { $0["event"] as? String == "progress" })
    #expect(folder.names == ["out.mov"])
  }

  @Test("the lines of docs/channel.md encrypt the stream of a movie with an odd name, too")
  func encryption() async throws {
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/channel.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "## Encryption").last)
    let block = try #require(section.firstMatch(of: #/```sh\n((?s).*?)```/#)).output.1
    let names = [("movie.mov", "movie"), ("'Ümläut & space.mov'", "Ümläut & space")]
    for (word, name) in names {
      try await TestMovie.make(
        folder.path("\(name).mov"),
        TestMovie.eyes(30, "width=128,height=64,framerate=30/1")
          + "mvhevcmux name=mux speed-preset=ultrafast")
      let lines = block.replacing("movie.mov", with: word).replacing(
        "gst-spatial run", with: "'\(try Command.built())' run")
      let result = try Program.run(["bash", "-c", "set -e\n\(lines)"], in: folder.url)
      #expect(result.status == 0, "\(result)")
      let list = try String(
        contentsOfFile: folder.path("\(name)_HLS/video_0/index.m3u8"), encoding: .utf8)
      #expect(list.contains("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://news\""), "\(list)")
    }
  }

  @Test("an existing output is kept, unless --force is given")
  func force() throws {
    let arguments = ["run", "live-test-to-mvhevc", "frames=3", "live=no", "output=out.mov"]
    _ = try folder.write("precious", to: "out.mov")
    let refused = try Command.run(arguments, in: folder)
    #expect(refused.status == 3 && refused.errors.contains("'out.mov' already exists"))
    #expect(try Command.run(arguments + ["--force"], in: folder).status == 0)
    _ = try MovieFile(folder.path("out.mov"))
  }

  @Test("a dry run lists the outputs, and writes nothing")
  func dryRun() throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "output=out.mov", "--dry-run"], in: folder)
    #expect(result.status == 0 && result.output.contains("# would write out.mov"))
    #expect(folder.names.isEmpty)
  }

  @Test("Ctrl-C finishes the output, and the exit code says so")
  func interrupt() throws {
    let command = try Command.start(
      ["run", "live-test-to-mvhevc", "output=out.mov", "--json"], in: folder)
    try command.wait(for: "\"frames\":1")
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130, "\(result.errors)")
    #expect(result.output.contains("\"stopped\":true"))
    let movie = try MovieFile(folder.path("out.mov"))
    #expect(try movie.track("vide").samples.count > 5)
    #expect(folder.names == ["out.mov"])
  }

  @Test("a second Ctrl-C before the first data leaves no file")
  func secondInterrupt() throws {
    // Never ends: the sink holds the only buffer for an hour.
    let file = try folder.write(
      """
      elements: { sink: { type: filesink, location: out } }
      links: ["videotestsrc -> identity(sleep-time=3000000) -> sink"]
      """, to: "a.yaml")
    let command = try Command.start(["run", file, "--json"], in: folder)
    try command.wait(for: "progress")
    command.interrupt()
    Thread.sleep(forTimeInterval: 0.4)
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130, "\(result.errors)")
    #expect(folder.names == ["a.yaml"])
  }

  @Test("a file that cannot grow is an error at the sink's line, and keeps the data that fits")
  func fullDisk() throws {
    let file = try folder.write(
      """
      elements:
        sink: { type: filesink, location: out.raw }
      links: [videotestsrc -> sink]
      """, to: "a.yaml")
    // 1 MB: what a file may grow to is limited, which needs no disk of its own.
    let result = try Command.run(
      ["run", file], in: folder, shell: "trap '' XFSZ; ulimit -f 2000; ")
    #expect(result.status == 1)
    #expect(result.errors.contains(":2:3: error: 'sink' (filesink): Could not write to resource."))
    #expect(result.errors.contains("File too large"))
    #expect(result.errors.contains("the recording is kept in 'out.incomplete.raw': 1.0 MB"))
    #expect(folder.names == ["a.yaml", "out.incomplete.raw"])
  }

  @Test(
    "a movie that vanishes while it is read ends the run with an error"
  )
  func vanishingInput() async throws {
    let input = folder.path("a.mp4")
    try await TestMovie.sideBySide(input, frames: 240)
    let file = try folder.write(
      """
      elements:
        source: { type: filesrc, location: "a.mp4" }
        demux: { type: qtdemux }
        sink: { type: filesink, location: out }
      links:
        - source -> demux
        - demux.video_0 -> identity(sleep-time=30000) -> sink
      """, to: "a.yaml")
    let command = try Command.start(["run", file, "--json"], in: folder)
    try command.wait(for: "\"frames\":1")
    let size = try Data(contentsOf: URL(filePath: input)).count
    #expect(truncate(input, off_t(size / 8)) == 0)
    let result = command.result()
    #expect(result.status == 1, "\(result.output.suffix(400))")
    #expect(result.output.contains("\"line\":3") || result.output.contains("\"line\":2"))
    #expect(folder.names == ["a.mp4", "a.yaml", "out.incomplete"])
  }

  @Test("an element's error is reported with its line, and the data so far is kept")
  func elementError() throws {
    let file = try folder.write(
      """
      elements:
        sink: { type: filesink, location: out }
      links:
        - videotestsrc -> identity(error-after=5) -> sink
      """, to: "a.yaml")
    let result = try Command.run(["run", file], in: folder)
    #expect(result.status == 1)
    #expect(result.errors.contains("a.yaml:4:21: error: 'identity': Failed after iterations"))
    #expect(folder.names == ["a.yaml", "out.incomplete"])
  }

  @Test("a vanished output folder is an error at the output's line")
  func vanishingOutput() throws {
    try FileManager.default.createDirectory(
      atPath: folder.path("sub"), withIntermediateDirectories: false)
    let command = try Command.start(
      ["run", "live-test-to-mvhevc", "output=sub/out.mov", "--json"], in: folder)
    try command.wait(for: "\"frames\":1")
    try FileManager.default.removeItem(atPath: folder.path("sub"))
    command.interrupt()
    let result = command.result()
    #expect(result.status == 1)
    #expect(result.output.contains("cannot be renamed to"), "\(result.output)")
    #expect(result.output.contains("deleted while"))
    #expect(folder.names.isEmpty)
  }

  @Test("a frozen source ends by the watchdog, with its own exit code and the source's line")
  func watchdog() throws {
    let file = try folder.write(
      """
      elements:
        source: { type: fdsrc, fd: 3 }
        sink: { type: filesink, location: out }
      links: [source -> sink]
      run: { watchdog: 500ms }
      """, to: "a.yaml")
    // A pipe without a writer.
    let result = try Command.run(["run", file], in: folder, shell: "mkfifo p; exec 3<>p; ")
    #expect(result.status == 4)
    #expect(result.errors.contains(":2:3: error: no progress for 0.5 s: 'source' (fdsrc)"))
    #expect(folder.names == ["a.yaml", "p"])
  }

  @Test("the graph is written for Graphviz, even after a failure")
  func dot() throws {
    let file = try folder.write(
      "links: [\"videotestsrc -> identity(error-after=2) -> fakesink\"]", to: "a.yaml")
    let result = try Command.run(["run", file, "--dot", "graph.dot"], in: folder)
    #expect(result.status == 1)
    let graph = try String(contentsOfFile: folder.path("graph.dot"), encoding: .utf8)
    #expect(graph.hasPrefix("digraph pipeline {") && graph.contains("GstIdentity"))
  }

  @Test("progress in a log is lines without control characters")
  func plainLines() throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "frames=5", "live=no", "output=out.mov"], in: folder)
    #expect(result.status == 0)
    #expect(result.errors.hasPrefix("out.mov: 0.2 s of video in "))
    #expect(!result.errors.contains("\u{1B}") && !result.errors.contains("\r"))
  }

  @Test("a movie of one eye is refused if two are needed, before anything runs")
  func oneEye() throws {
    for line in [
      ["live-test-to-mvhevc", "live=no", "frames=6", "output=a.mov"],
      ["mvhevc-to-2d", "input=a.mov", "output=flat.mp4"],
      ["mvhevc-to-sbs", "input=a.mov", "output=packed.mp4"],
    ] {
      try #require(try Command.run(["run"] + line, in: folder).status == 0)
    }
    for name in [
      "mvhevc-to-sbs", "mvhevc-to-2d", "mvhevc-to-two-files", "mvhevc-to-frames", "playback",
    ] {
      let result = try Command.run(["run", name, "input=flat.mp4"], in: folder)
      #expect(result.status == 2)
      #expect(result.errors.contains("'flat.mp4' is no spatial movie: it has only one eye"))
    }
    let packed = try Command.run(["run", "mvhevc-to-2d", "input=packed.mp4"], in: folder)
    #expect(packed.errors.contains("is no spatial movie"), "\(packed.errors)")
    #expect(folder.names == ["a.mov", "flat.mp4", "packed.mp4"])
  }

  @Test("percent signs in names are literal")
  func percent() throws {
    for line in [
      ["live-test-to-mvhevc", "live=no", "frames=3", "output=100%sure.mov"],
      ["mvhevc-to-frames", "input=100%sure.mov"], ["retag", "input=100%sure.mov"],
    ] {
      let result = try Command.run(["run"] + line, in: folder)
      #expect(result.status == 0, "\(result.errors)")
      guard line[0] == "mvhevc-to-frames" else { continue }
      // The summary says what many files are called.
      #expect(result.errors.hasPrefix("100%sure-%05d.png: "), "\(result.errors)")
    }
    #expect(
      folder.names == [
        "100%sure-00000.png", "100%sure-00001.png", "100%sure-00002.png", "100%sure.mov",
        "100%sure_retagged.mov",
      ])
  }

  @Test("a guessed packing is reported")
  func guess() async throws {
    try await TestMovie.sideBySide(folder.path("a.mp4"), frames: 8)
    let result = try Command.run(
      ["run", "sbs-to-mvhevc", "input=a.mp4", "preset=ultrafast"], in: folder)
    #expect(result.status == 0)
    #expect(result.errors.contains("does not specify how the eyes are packed"), "\(result.errors)")
    #expect(result.errors.contains("side by side, left eye first"), "\(result.errors)")
  }

  @Test("a decoder that is missing for a movie without audio is named")
  func missingDecoder() async throws {
    try await TestMovie.play(
      "stereotestsrc num-buffers=8 ! video/x-raw,width=640,height=180 ! x264enc ! mp4mux "
        + "! filesink location=\(folder.path("a.mp4"))")
    let without =
      "GST_PLUGIN_FEATURE_RANK=avdec_h264:NONE,openh264dec:NONE,vah264dec:NONE,nvh264dec:NONE; "
      + "export GST_PLUGIN_FEATURE_RANK; "
    let result = try Command.run(
      ["run", "sbs-to-mvhevc", "input=a.mp4"], in: folder, shell: without)
    #expect(result.status == 1)
    #expect(result.errors.contains("it needs H.264"), "\(result.errors)")
    #expect(folder.names == ["a.mp4"])
  }
}
