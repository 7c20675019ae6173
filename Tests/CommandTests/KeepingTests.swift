// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// What a run that fails, hangs or is killed has recorded is not lost.
@Suite(.tags(.process))
struct KeepingTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A file that records a live movie of both eyes, `out.mov`.
  ///
  /// - Parameters:
  ///   - mux: what the muxer is set to.
  ///   - left: what the left eye goes through on its way to the muxer.
  private func recording(
    mux: String, left: String, right: String, elements: [String] = [], links: [String] = [],
    run: String = "{}"
  ) throws -> String {
    let elements =
      [
        "scene: { type: stereotestsrc, is-live: true }", "split: { type: sbssplit }",
        "mux: { type: mvhevcmux, speed-preset: ultrafast, \(mux) }",
        "sink: { type: filesink, location: out.mov }",
      ] + elements
    let links =
      [
        "scene -> video/x-raw,width=640,height=180,framerate=30/1 -> split",
        "split.left -> \(left) -> mux.left", "split.right -> \(right) -> mux.right",
        "mux -> sink",
      ] + links
    let lines =
      ["elements:"] + elements.map { "  \($0)" } + ["links:"] + links.map { "  - \($0)" }
    return try folder.write(lines.joined(separator: "\n") + "\nrun: \(run)\n", to: "a.yaml")
  }

  /// A queue that holds 200 pictures, however large they are and however long they last.
  private let longQueue = "queue(max-size-time=0, max-size-bytes=0)"

  /// A live movie with an audio track from a pipe that has no writer. The muxer waits for it
  /// without limit.
  private func hangingAudio(watchdog: String) throws -> String {
    try recording(
      mux: "pad-timeout: 0", left: longQueue, right: longQueue,
      elements: ["source: { type: fdsrc, fd: 3 }"],
      links: [
        "source -> audio/x-raw,format=S16LE,rate=48000,channels=1,layout=interleaved "
          + "-> audioconvert -> mux.audio_0"
      ], run: "{ watchdog: \(watchdog) }")
  }

  private let pipe = "mkfifo p; exec 3<>p; "

  private func frames(_ name: String) throws -> Int {
    try MovieFile(folder.path(name)).track("vide").samples.count
  }

  /// With the longer lookahead, nothing has left the encoder when the branch fails, so that the
  /// file's element has not started.
  @Test(
    "a movie whose branch fails is completed with the data so far, and can be played",
    arguments: ["", ", option-string: rc-lookahead=60"])
  func failingBranch(option: String) throws {
    let file = try recording(
      mux: "pad-timeout: 0" + option, left: "queue", right: "identity(error-after=45) -> queue")
    for name in ["out.incomplete.mov", "out.incomplete-2.mov"] {
      let result = try Command.run(["run", file], in: folder)
      #expect(result.status == 1)
      #expect(result.errors.contains(":9:20: error: 'identity': Failed after iterations"))
      #expect(result.errors.contains("the recording is kept in '\(name)': 1.5 s, "))
      #expect((40...45).contains(try frames(name)))
    }
    #expect(folder.names == ["a.yaml", "out.incomplete-2.mov", "out.incomplete.mov"])
  }

  @Test("Ctrl-C finishes a movie if an input hangs")
  func hangingInput() throws {
    let file = try hangingAudio(watchdog: "3600s")
    let command = try Command.start(["run", file, "--json"], in: folder, shell: pipe)
    try command.wait(for: "progress")
    Thread.sleep(forTimeInterval: 2.5)
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130, "\(result.output.suffix(600))")
    #expect(result.output.contains("'source' (fdsrc) produces no data"))
    // How many of the pictures that wait are encoded in time depends on the machine.
    #expect(try frames("out.mov") >= 1)
    #expect(folder.names == ["a.yaml", "out.mov", "p"])
  }

  @Test("a movie that the watchdog ends is completed and kept")
  func frozen() throws {
    let file = try hangingAudio(watchdog: "2s")
    // The queues are full after 200 frames of each eye; from then on nothing moves. On a busy
    // machine nothing may move before that, either.
    let result = try Command.run(["run", file], in: folder, shell: pipe)
    #expect(result.status == 4)
    #expect(result.errors.contains("no progress for 2.0 s: 'source' (fdsrc) produces no data"))
    #expect(try frames("out.incomplete.mov") >= 1)
  }

  @Test("a second Ctrl-C keeps the partial file")
  func secondInterrupt() throws {
    let file = try folder.write(
      """
      elements: { sink: { type: filesink, location: out } }
      links: ["videotestsrc -> identity(sleep-time=5000000) -> sink"]
      """, to: "a.yaml")
    let command = try Command.start(["run", file, "--json"], in: folder)
    try command.wait(for: "\"frames\":2")
    // Between two frames the stream would end at once; within the next one's sleep it cannot.
    Thread.sleep(forTimeInterval: 0.5)
    command.interrupt()
    Thread.sleep(forTimeInterval: 0.4)
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130, "\(result.output.suffix(600))")
    #expect(result.output.contains("\"path\":\"out.incomplete\""))
    #expect(folder.names == ["a.yaml", "out.incomplete"])
  }

  /// Starts to convert `a.mp4`, of 240 pictures with audio, at 20 pictures per second, all of which
  /// have been read long before they are encoded; returns once some have reached the encoder, or
  /// have been written.
  private func slowConversion(
    lookahead: Int = 5, isWriting: Bool = true, isForced: Bool = false
  ) async throws -> Program {
    try await TestMovie.sideBySide(folder.path("a.mp4"), frames: 240)
    let file = try folder.write(
      """
      elements:
        source: { type: filesrc, location: a.mp4 }
        parse: { type: parsebin }
        split: { type: sbssplit, input-mode-override: side-by-side }
        mux: { type: mvhevcmux, speed-preset: ultrafast, option-string: rc-lookahead=\(lookahead) }
        sink: { type: filesink, location: out.mov }
      links:
        - source -> parse
        - parse[audio/*] -> queue -> mux.audio_0
        - >-
          parse[video/*] -> decodebin
          -> queue(max-size-time=20s, max-size-bytes=0, max-size-buffers=0)
          -> identity(sleep-time=50000) -> split
        - split.left -> queue -> mux.left
        - split.right -> queue -> mux.right
        - mux -> sink
      """, to: "a.yaml")
    let command = try Command.start(
      ["run", file, "--json"] + (isForced ? ["--force"] : []), in: folder)
    try command.wait(for: isWriting ? /"bytes":[1-9]/ : /"frames":[1-9]/)
    return command
  }

  @Test("before the first picture of a file is encoded, Ctrl-C leaves nothing, and says so")
  func early() async throws {
    let command = try await slowConversion(lookahead: 200, isWriting: false)
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130)
    #expect(result.output.contains("the run was stopped before anything was written"))
    #expect(folder.names == ["a.mp4", "a.yaml"])
  }

  @Test(
    "what was read from a file is not encoded after a signal; audio ends with the pictures",
    arguments: [SIGINT, SIGTERM, SIGHUP])
  func ended(signal: Int32) async throws {
    let command = try await slowConversion()
    command.send(signal)
    let result = command.result()
    #expect(result.status == 128 + signal, "\(result.errors)")
    let movie = try MovieFile(folder.path("out.mov"))
    let pictures = try movie.track("vide")
    #expect((1..<150).contains(pictures.samples.count))
    // Durations after edit lists.
    let durations = try ["vide", "soun"].map { kind in
      Double(try #require(try movie.track(kind).duration)) / Double(movie.movie.timescale)
    }
    #expect((-0.5...0.05).contains(durations[1] - durations[0]), "\(durations)")
    #expect(result.output.contains("\"frames\":\(pictures.samples.count),"))
    #expect(folder.names == ["a.mp4", "a.yaml", "out.mov"])
  }

  @Test("a part of a movie does not replace an earlier one, even if it may be replaced")
  func replacing() async throws {
    let earlier = Data("an earlier movie".utf8)
    try earlier.write(to: URL(filePath: folder.path("out.mov")))
    let command = try await slowConversion(isForced: true)
    command.interrupt()
    let result = command.result()
    #expect(result.status == 130, "\(result.errors)")
    #expect(try Data(contentsOf: URL(filePath: folder.path("out.mov"))) == earlier)
    #expect(try MovieFile(folder.path("out-2.mov")).samples("vide").count > 0)
    let all = result.output + result.errors
    #expect(all.contains("'out.mov' is not replaced by a part of it"), "\(all)")
    #expect(folder.names == ["a.mp4", "a.yaml", "out-2.mov", "out.mov"])
  }

  @Test("the third signal leaves at once, and says what is left", .tags(.exhaustive))
  func third() throws {
    // The end of the stream never gets through the muxer's input.
    let file = try folder.write(
      """
      elements: { sink: { type: filesink, location: out } }
      links: ["videotestsrc -> identity(sleep-time=5000000) -> sink"]
      """, to: "a.yaml")
    let command = try Command.start(["run", file, "--json"], in: folder)
    try command.wait(for: "\"frames\":2")
    for _ in 0..<3 {
      command.interrupt()
      Thread.sleep(forTimeInterval: 0.4)
    }
    let result = command.result()
    #expect(result.status == 130)
    #expect(result.output.contains("\"event\":\"kept\",\"path\":\"out.incomplete\""))
  }

  @Test("a stream without an end that SIGTERM ends is a success, as service managers expect")
  func service() throws {
    let command = try Command.start(
      ["run", "live-test-to-mvhevc", "output=out.mov", "--json"], in: folder)
    try command.wait(for: "\"frames\":1")
    command.terminate()
    let result = command.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.output.contains("\"stopped\":true"))
    #expect(folder.names == ["out.mov"])
  }

  @Test("a machine that sleeps does not wake the watchdog", .tags(.exhaustive))
  func suspended() throws {
    let file = try folder.write(
      """
      elements: { sink: { type: filesink, location: out } }
      links: ["videotestsrc(is-live=true, num-buffers=60) -> video/x-raw,framerate=10/1 -> sink"]
      run: { watchdog: 3s }
      """, to: "a.yaml")
    let command = try Command.start(["run", file, "--json"], in: folder)
    try command.wait(for: "\"frames\":5")
    for _ in 0..<2 {
      command.suspend()
      Thread.sleep(forTimeInterval: 3.5)
      command.resume()
      Thread.sleep(forTimeInterval: 0.25)
    }
    let result = command.result()
    #expect(result.status == 0, "\(result.output.suffix(600))")
    #expect(folder.names == ["a.yaml", "out"])
  }

  @Test("a killed run leaves a file whose name says so, and no lock")
  func killed() throws {
    let arguments = ["run", "live-test-to-mvhevc", "output=out.mov", "--json"]
    let first = try Command.start(arguments, in: folder)
    try first.wait(for: "\"frames\":1")
    let refused = try Command.run(arguments, in: folder)
    #expect(refused.status == 3)
    #expect(refused.output.contains("another run is writing 'out.mov'"))
    first.kill()
    #expect(first.result().status == 128 + 9)
    #expect(folder.names == ["out.incomplete.mov"])
    let second = try Command.run(arguments + ["frames=5", "live=no"], in: folder)
    #expect(second.status == 0)
    #expect(folder.names == ["out.incomplete.mov", "out.mov"])
    #expect(try frames("out.mov") == 5)
  }

  @Test("a recording in fragments that was killed becomes a movie, once nobody writes it any more")
  func recovered() async throws {
    let recording = try recording(
      mux: "key-int-max: 5, fragment-duration: 166666666, "
        + "fragment-mode: first-moov-then-finalise", left: longQueue, right: longQueue)
    let run = try Command.start(["run", recording, "--json"], in: folder)
    // How far the file is behind the pictures depends on what else the machine does.
    try await eventually("thirty frames") { ((try? frames("out.incomplete.mov")) ?? 0) >= 30 }
    let early = try Command.run(["recover", "out.incomplete.mov"], in: folder)
    #expect(early.status == 2 && early.errors.contains("another program has it open"), "\(early)")
    run.kill()
    #expect(run.result().status == 128 + 9)
    let torn = try Data(contentsOf: folder.url.appending(path: "out.incomplete.mov"))
    let result = try Command.run(["recover", "out.incomplete.mov"], in: folder)
    #expect(result.status == 0 && result.output.contains(" frames"), "\(result)")
    #expect(try !MovieFile(folder.path("out.incomplete.mov")).movie.isFragmented)
    #expect(try frames("out.incomplete.mov") >= 30)
    // What was recorded stands where it stood.
    let whole = try Data(contentsOf: folder.url.appending(path: "out.incomplete.mov"))
    #expect(whole.dropFirst(200).starts(with: torn.dropFirst(200).prefix(torn.count / 2)))
    let again = try Command.run(["recover", "out.incomplete.mov"], in: folder)
    #expect(again.status == 0 && again.output.contains("nothing to recover"), "\(again)")
  }
}
