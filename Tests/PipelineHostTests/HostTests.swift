// SPDX-License-Identifier: MPL-2.0

import Foundation
import PipelineFile
import PipelineHost
import TestElements
import TestKit
import Testing

/// How graphs are built and run, on small pipelines.
struct HostTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  private func load(_ text: String, _ arguments: [String] = []) throws -> HostedPipeline {
    try HostedPipeline.load(folder.write(text, to: "test.yaml"), arguments: arguments)
  }

  /// A recording to a file of this name that ends when it is stopped.
  private func endless(_ name: String) throws -> HostedPipeline {
    try load(
      """
      elements: { sink: { type: filesink, location: "\(folder.path(name))" } }
      links: ["videotestsrc(is-live=true) -> sink"]
      """)
  }

  /// The graph as Graphviz shows it after a run.
  private func graph(_ text: String) async throws -> String {
    var options = PipelineRun.Options()
    options.keepsGraph = true
    let run = PipelineRun(try load(text), options: options)
    try await run.run()
    return try #require(run.graphAtEnd)
  }

  private func failure(_ text: String, _ arguments: [String] = []) async throws -> RunFailure {
    let run = PipelineRun(try load(text, arguments))
    return try await #require(throws: RunFailure.self) { try await run.run() }
  }

  @Test("a text is run with arguments by name, and its includes and mistakes have their places")
  func text() async throws {
    _ = try folder.write("elements: { sink: { type: fakesink } }\n", to: "sink.yaml")
    let text = """
      parameters: { count: { type: integer, required: true } }
      include: [sink.yaml]
      links: ["stereotestsrc(num-buffers=${count}) -> video/x-raw,framerate=25/1 -> sink"]
      """
    let pipeline = try HostedPipeline(
      yaml: text, name: folder.path("inline.yaml"), arguments: ["count": "50"])
    let run = PipelineRun(pipeline)
    let summary = try await run.run()
    #expect(summary.progress.frames == 50 && summary.progress.position == .seconds(2))
    let again = await #expect(throws: RunFailure.self) { try await run.run() }
    #expect(again?.description.contains("a run can run only once") ?? false)
    let problems = #expect(throws: PipelineProblems.self) {
      try HostedPipeline(yaml: "links: [videotestsrc -> nosuchsink]")
    }
    #expect(problems?.description.contains("pipeline.yaml:1:25: error:") ?? false)
  }

  @Test("values take the types of the properties, also those of pads")
  func typedValues() async throws {
    let graph = try await graph(
      """
      elements:
        source: { type: videotestsrc, pattern: snow, num-buffers: 2, is-live: off, timestamp-offset: 5 }
        mix: { type: compositor, background: white }
        mix.sink_0: { xpos: 12, alpha: 0.5 }
        set: { type: capssetter, caps: "video/x-raw, views=1", join: yes }
        sink: { type: fakesink, sync: on }
      links:
        - source -> video/x-raw,width=64,height=48 -> mix.sink_0
        - mix -> set -> sink
      """)
    for value in [
      "pattern=snow", "num-buffers=2", "timestamp-offset=5", "background=White", "xpos=12",
      "alpha=0.5", "views=(int)1",
    ] {
      #expect(graph.contains(value) || graph.contains(value.lowercased()), "\(value)")
    }
  }

  @Test("a stop before the first data ends the run as any other", .tags(.realTime))
  func stopAtStart() async throws {
    let run = PipelineRun(
      try load(
        """
        elements:
          source: { type: videotestsrc }
          store: { type: queue, max-size-buffers: 1 }
          slow: { type: identity, sleep-time: 600000 }
          sink: { type: fakesink }
        links:
          - source -> store -> slow -> sink
        run: { watchdog: 300s }
        """))
    let running = Task { try await run.run() }
    try await Task.sleep(for: .milliseconds(250))
    run.stop()
    #expect(try await running.value.wasStopped)
  }

  @Test("templates, chains and caps come out as elements")
  func chains() async throws {
    let graph = try await graph(
      """
      templates:
        small: { chain: [videoscale, "video/x-raw,width=32,height=24", queue, identity(silent=true)] }
      elements:
        source: { type: videotestsrc, num-buffers: 2 }
        end: { type: fakesink }
      links:
        - source -> small -> videoflip(method=clockwise) -> end
      """)
    for part in [
      "GstVideoScale", "GstQueue", "GstIdentity", "GstVideoFlip", "GstFakeSink", "Clockwise",
    ] {
      #expect(graph.localizedCaseInsensitiveContains(part), "\(part)")
    }
  }

  @Test("a tee gives each link a pad, and a funnel takes one of each")
  func requestPads() async throws {
    try await PipelineRun(
      try load(
        """
        elements:
          source: { type: videotestsrc, num-buffers: 3 }
          split: { type: tee }
          join: { type: funnel }
        links:
          - source -> split
          - split -> queue -> join
          - split.src_%u -> queue -> join.sink_%u
          - join -> fakesink
        """)
    ).run()
  }

  @Test("an optional branch is made if its pad appears, and otherwise left out")
  func optionalBranches() async throws {
    let movie = folder.path("a.mp4")
    try await TestMovie.sideBySide(movie, frames: 8)
    let text = """
      elements:
        source: { type: filesrc, location: "\(movie)" }
        decode: { type: decodebin }
        video: { type: filesink, location: "\(folder.path("v"))" }
      links:
        - source -> decode
        - decode[video/x-raw] -> queue -> video
        - decode[audio/x-raw]? -> queue -> audioconvert -> wavenc -> filesink(location=\(folder.path("s.wav")))
        - decode[text/x-raw]? -> queue -> filesink(location=\(folder.path("t")))
      """
    try await PipelineRun(try load(text)).run()
    #expect(folder.names == ["a.mp4", "s.wav", "test.yaml", "v"])
  }

  @Test(
    "elements that only an optional branch leads to come and go with it", arguments: [true, false])
  func optionalElements(hasAudio: Bool) async throws {
    let movie = folder.path("a.mp4")
    try await TestMovie.sideBySide(movie, frames: 8)
    let text = """
      elements:
        source: { type: filesrc, location: "\(movie)" }
        decode: { type: decodebin, caps: "video/x-raw; \(hasAudio ? "audio/x-raw" : "text/x-raw")" }
        sound: { type: tee }
        join: { type: funnel }
        video: { type: filesink, location: "\(folder.path("v"))" }
        one: { type: filesink, location: "\(folder.path("one"))" }
        two: { type: filesink, location: "\(folder.path("two"))" }
      links:
        - source -> decode
        - decode[video/x-raw] -> queue -> video
        - decode[audio/x-raw]? -> sound
        - sound -> queue -> one
        - sound -> audioconvert -> join
        - sound -> queue -> join
        - join -> two
      """
    let pipeline = try load(text)
    #expect(pipeline.warnings.all.isEmpty)
    try await PipelineRun(pipeline).run()
    #expect(
      folder.names == ["a.mp4"]
        + (hasAudio ? ["one", "test.yaml", "two", "v"] : ["test.yaml", "v"]))
    guard hasAudio else { return }
    let one = try Data(contentsOf: URL(filePath: folder.path("one")))
    let two = try Data(contentsOf: URL(filePath: folder.path("two")))
    #expect(!one.isEmpty && two.count == 2 * one.count)
  }

  @Test("a branch with '*' is made for each pad, and unlinked streams are reported")
  func eachPad() async throws {
    let movie = folder.path("a.mkv")
    let tone = "audiotestsrc num-buffers=20 ! audio/x-raw,channels="
    try await TestMovie.play(
      "videotestsrc num-buffers=10 ! x264enc ! h264parse ! queue ! m. "
        + "\(tone)1 ! vorbisenc ! queue ! m. \(tone)2 ! vorbisenc ! queue ! m. "
        + "\(tone)1 ! flacenc ! flacparse ! queue ! m. matroskamux name=m ! "
        + "filesink location=\(movie)"
    )
    let run = PipelineRun(
      try load(
        """
        elements:
          source: { type: filesrc, location: "\(movie)" }
          parse: { type: parsebin }
          copies: { type: tee }
          mux: { type: matroskamux }
          sink: { type: filesink, location: "\(folder.path("out.mkv"))" }
        links:
          - source -> parse
          - parse[video/*] -> queue -> mux.video_%u
          - parse[audio/x-vorbis]* -> copies
          - copies -> queue -> mux.audio_%u
          - copies -> queue -> mux.audio_%u
          - mux -> sink
        """))
    let running = Task { try await run.run() }
    var warnings: [String] = []
    for await event in run.events {
      if case .warning(let warning) = event { warnings.append(warning.message) }
    }
    _ = try await running.value
    #expect(
      warnings == [
        "the audio track 3 (Free Lossless Audio Codec (FLAC)) is left out: no link takes "
          + "audio/x-flac (pad 'src_3')"
      ])
    let tracks =
      try String(
        decoding: Data(contentsOf: URL(filePath: folder.path("out.mkv"))), as: UTF8.self
      ).components(separatedBy: "A_VORBIS").count - 1
    #expect(tracks == 4)
  }

  @Test("durations and sizes are numbers in the element's unit")
  func units() async throws {
    let graph = try await graph(
      """
      links:
        - videotestsrc(num-buffers=2) -> queue(max-size-time=1.5s, max-size-bytes=2MB) -> identity(sleep-time=2ms) -> fakesink
      """)
    for value in ["max-size-time=1500000000", "max-size-bytes=2000000", "sleep-time=2000"] {
      #expect(graph.contains(value), "\(value)")
    }
    let problems = #expect(throws: PipelineProblems.self) {
      try load("links: [\"videotestsrc(num-buffers=2s) -> fakesink\"]")
    }
    #expect(problems?.description.contains("takes a whole number, not '2s'") == true)
  }

  @Test("a file name may contain the pattern that stands for numbers in other names")
  func percent() async throws {
    let output = folder.path("100%d %s.raw")
    let pipeline = try load(
      """
      elements: { sink: { type: filesink, location: "\(output)" } }
      links: ["videotestsrc(num-buffers=1) -> sink"]
      """)
    #expect(try await PipelineRun(pipeline).run().outputs == [output])
    #expect(folder.names == ["100%d %s.raw", "test.yaml"])
  }

  @Test("a pad that never appears is an error at the line that waits for it")
  func missingPad() async throws {
    let audio = folder.path("a.wav")
    try await TestMovie.play("audiotestsrc num-buffers=5 ! wavenc ! filesink location=\(audio)")
    let failure = try await failure(
      """
      elements:
        source: { type: filesrc, location: "\(audio)" }
        decode: { type: decodebin }
      links:
        - source -> decode
        - decode[video/x-raw] -> fakesink
      """)
    let diagnostic = try #require(failure.diagnostics.all.first)
    #expect(diagnostic.message.hasPrefix("no stream fits: 'decode' found Raw 16-bit PCM audio"))
    #expect(diagnostic.location?.line == 6)
    let help = try #require(diagnostic.help)
    #expect(help.hasPrefix("the link takes video/x-raw, not src_0: audio/x-raw"), "\(help)")
  }

  @Test("an element's error is an error at the line that makes it")
  func elementError() async throws {
    let failure = try await failure(
      """
      links:
        - videotestsrc -> identity(error-after=3) -> fakesink
      """)
    #expect(failure.kind == .failed)
    let diagnostic = try #require(failure.diagnostics.all.first)
    #expect(diagnostic.message.contains("'identity': Failed after iterations as requested."))
    #expect(diagnostic.location?.line == 2 && diagnostic.location?.column == 21)
  }

  @Test("a full disk is an error at the sink's line, and leaves no file")
  func fullDisk() async throws {
    let failure = try await failure(
      """
      elements:
        sink: { type: filesink, location: /dev/full }
      links: [videotestsrc -> sink]
      """)
    let diagnostic = try #require(failure.diagnostics.all.first)
    #expect(diagnostic.message == "'sink' (filesink): No space left on the resource.")
    #expect(diagnostic.location?.line == 2)
  }

  @Test("an existing output is not replaced unless requested")
  func overwriting() async throws {
    let output = try folder.write("precious", to: "out")
    let pipeline = try load(
      """
      elements:
        sink: { type: filesink, location: "\(output)" }
      links: [videotestsrc(num-buffers=1) -> sink]
      """)
    let failure = try await #require(throws: RunFailure.self) {
      try await PipelineRun(pipeline).run()
    }
    #expect(failure.kind == .wouldOverwrite)
    #expect(try String(contentsOfFile: output, encoding: .utf8) == "precious")
    var options = PipelineRun.Options()
    options.overwrites = true
    let summary = try await PipelineRun(pipeline, options: options).run()
    #expect(summary.outputs == [output])
    #expect(try Data(contentsOf: URL(filePath: output)).count > 10000)
    #expect(folder.names == ["out", "test.yaml"])
  }

  @Test("an output has its name only when it is finished")
  func partialFiles() async throws {
    let pipeline = try endless("out")
    let run = PipelineRun(pipeline)
    async let summary = run.run()
    for await _ in run.progressOfRecording {
      #expect(folder.names == ["out.incomplete", "test.yaml"])
      run.stop()
    }
    #expect(try await summary.wasStopped)
    #expect(folder.names == ["out", "test.yaml"])
  }

  @Test("an aborted run leaves its recording, with a name that says so")
  func abort() async throws {
    let pipeline = try endless("out")
    let run = PipelineRun(pipeline)
    let task = Task { try await run.run() }
    for await _ in run.progressOfRecording {
      run.abort()
    }
    let failure = await #expect(throws: RunFailure.self) { try await task.value }
    #expect(failure?.kept == [folder.path("out.incomplete")])
    #expect(folder.names == ["out.incomplete", "test.yaml"])
  }

  @Test("a cancelled run ends as cancelled tasks do, and its last event names the recording")
  func cancelled() async throws {
    let run = PipelineRun(try endless("out"))
    let task = Task { try await run.run() }
    var kept: [String] = []
    for await event in run.events {
      if case .progress(let progress) = event, progress.bytes > 0 { task.cancel() }
      if case .kept(let path) = event { kept.append(path) }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(kept == [folder.path("out.incomplete")])
  }

  @Test("a second run to the same output is refused as long as the first one lasts")
  func twoRuns() async throws {
    let pipeline = try endless("out")
    let first = PipelineRun(pipeline)
    let running = Task { try await first.run() }
    for await _ in first.progressOfRecording.prefix(1) {
      let failure = await #expect(throws: RunFailure.self) {
        try await PipelineRun(pipeline).run()
      }
      #expect(failure?.kind == .wouldOverwrite)
      #expect(failure?.description.contains("another run is writing") == true)
      first.stop()
    }
    #expect(try await running.value.outputs == [folder.path("out")])
    #expect(folder.names == ["out", "test.yaml"])
  }

  @Test("an output that appears during the run is not replaced")
  func lateOutput() async throws {
    let pipeline = try endless("out.raw")
    let run = PipelineRun(pipeline)
    let running = Task { try await run.run() }
    for await _ in run.progressOfRecording.prefix(1) {
      _ = try folder.write("precious", to: "out.raw")
      run.stop()
    }
    let failure = await #expect(throws: RunFailure.self) { try await running.value }
    #expect(failure?.kind == .wouldOverwrite)
    #expect(failure?.diagnostics.all.first?.help?.contains("out-2.raw") == true)
    #expect(try String(contentsOfFile: folder.path("out.raw"), encoding: .utf8) == "precious")
    #expect(try Data(contentsOf: URL(filePath: folder.path("out-2.raw"))).count > 10000)
    #expect(folder.names == ["out-2.raw", "out.raw", "test.yaml"])
  }

  @Test(
    "the outputs of a restarted run are numbered, and their number is limited",
    .tags(.realTime))
  func takes() async throws {
    let pipeline = try load(
      """
      elements: { sink: { type: filesink, location: "\(folder.path("out.raw"))" } }
      links: ["videotestsrc -> identity(error-after=3) -> sink"]
      run: { on-error: restart, restarts: 2 }
      """)
    let failure = await #expect(throws: RunFailure.self) { try await PipelineRun(pipeline).run() }
    #expect(failure?.description.contains("failed 3 times in a row") == true)
    let names = ["out-2.raw", "out-3.raw", "out.raw"]
    #expect(failure?.kept.map { URL(filePath: $0).lastPathComponent }.sorted() == names)
    #expect(folder.names == names + ["test.yaml"])
  }

  @Test("an output without a frame is an error at the link that leads to it")
  func emptyOutput() async throws {
    let failure = try await failure(
      """
      elements:
        sink: { type: filesink, location: "\(folder.path("out"))" }
      links:
        - videotestsrc(num-buffers=3) -> identity(drop-probability=1) -> sink
      """)
    #expect(failure.kind == .failed)
    let message = failure.diagnostics.all.first?.message
    #expect(message?.contains("has no playable content") == true)
    #expect(failure.diagnostics.all.first?.location?.line == 4)
    #expect(folder.names == ["test.yaml"])
  }

  @Test("the watchdog warns once of a source that is silent while others are not", .tags(.realTime))
  func silentSource() async throws {
    let port = 20_000 + Int.random(in: 0..<20_000)
    let run = PipelineRun(
      try load(
        """
        elements:
          other: { type: videotestsrc, is-live: true, num-buffers: 120 }
          # Its receiver gets nothing from then on.
          sender: { type: videotestsrc, is-live: true, num-buffers: 30 }
          camera: { type: udpsrc, port: \(port) }
        links:
          - other -> "video/x-raw, width=32, height=32, framerate=30/1" -> fakesink
          - sender -> "video/x-raw, width=32, height=32, framerate=30/1" -> rtpvrawpay -> udpsink(host=127.0.0.1, port=\(port), async=false)
          - camera -> fakesink(async=false)
        run: { watchdog: 1s }
        """))
    let running = Task { try await run.run() }
    var warnings: [String] = []
    for await event in run.events {
      guard case .warning(let warning) = event else { continue }
      warnings.append(warning.message)
      // The receiver has no end of its own.
      run.stop()
    }
    _ = try await running.value
    #expect(warnings.first?.hasSuffix("produced no data for 1.0 s, while others did") == true)
    let told = warnings.filter { $0.contains("produced no data for") }
    #expect(told.count == 1 && told[0].contains("camera"), "\(warnings)")
  }

  @Test(
    "the watchdog names the element that holds the others up", .tags(.realTime),
    arguments: [
      ("appsrc -> identity -> fakesink", "'appsrc' produces no data"),
      (
        "videotestsrc -> queue -> identity(sleep-time=8000000) -> fakesink",
        "'identity' is blocked"
      ),
      ("videotestsrc -> mix -> fakesink\", \"appsrc -> mix", "'appsrc' produces no data"),
    ])
  func watchdog(link: String, culprit: String) async throws {
    let failure = try await failure(
      """
      links: ["\(link)"]
      elements: { mix: { type: compositor } }
      run: { watchdog: 2s }
      """)
    #expect(failure.kind == .frozen)
    let diagnostic = try #require(failure.diagnostics.all.first)
    #expect(diagnostic.message.hasSuffix(culprit))
    #expect(diagnostic.location?.line == 1)
  }

  @Test("'on-error: restart' starts the pipeline again, until it is stopped", .tags(.realTime))
  func restart() async throws {
    let pipeline = try load(
      """
      links: ["videotestsrc -> identity(error-after=2) -> fakesink"]
      run: { on-error: restart }
      """)
    let run = PipelineRun(pipeline)
    let task = Task { try await run.run() }
    var warnings = 0
    for await event in run.events {
      if case .warning = event { warnings += 1 }
      if warnings == 2 { run.abort() }
    }
    #expect(warnings == 2)
    let failure = await #expect(throws: RunFailure.self) { try await task.value }
    #expect(failure?.kind == .aborted)
  }

  @Test("one file runs repeatedly, and several times at once")
  func severalRuns() async throws {
    let pipeline = try load("links: [\"videotestsrc(num-buffers=50) -> queue -> fakesink\"]")
    try await PipelineRun(pipeline).run()
    try await withThrowingTaskGroup(of: Int?.self) { group in
      for _ in 0..<6 { group.addTask { try await PipelineRun(pipeline).run().progress.frames } }
      for try await frames in group { #expect(frames == 50) }
    }
  }

  @Test("runs free their pipelines", .tags(.realTime))
  func noLeaks() async throws {
    // A queue of a thousand kilobytes in each: a leak is noticeable.
    let pipeline = try load(
      """
      links:
        - audiotestsrc(num-buffers=1, samplesperbuffer=65536) -> queue -> tee -> queue -> fakesink
      """)
    func residentKilobytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return try #require(line?.split(separator: " ").dropLast().last.flatMap { Int($0) })
    }
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
    for _ in 0..<20 { try await PipelineRun(pipeline).run() }
    let (memory, before) = (try residentKilobytes(), try threads())
    for _ in 0..<600 { try await PipelineRun(pipeline).run() }
    let growth = try residentKilobytes() - memory
    #expect(growth < 2500, "\(growth) kB")
    #expect(try threads() < before + 40)
  }

  @Test("progress reports the position in a movie")
  func progress() async throws {
    let movie = folder.path("a.mp4")
    try await TestMovie.sideBySide(movie, frames: 30)
    let pipeline = try load(
      """
      elements:
        source: { type: filesrc, location: "\(movie)" }
        decode: { type: decodebin, caps: video/x-raw }
      links: [source -> decode, "decode[video/x-raw] -> fakesink"]
      """)
    let summary = try await PipelineRun(pipeline).run()
    #expect(summary.progress.frames == 30)
    #expect(abs((summary.progress.position ?? .zero) / .seconds(1) - 1) < 0.05)
    #expect((summary.progress.fraction ?? 0) > 0.9)
  }

  @Test("installed elements are known with types, ranges, nicks and pads")
  func installedElements() throws {
    let registry = InstalledElements()
    let mux = try #require(registry.elementType("mvhevcmux"))
    let quality = try #require(mux.properties.first { $0.name == "quality" })
    guard case .number(0...51) = quality.type else { throw Failure("\(quality.type)") }
    let hero = try #require(mux.properties.first { $0.name == "hero-eye" })
    guard case .enumeration(let nicks) = hero.type else { throw Failure("\(hero.type)") }
    #expect(nicks.map(\.nick) == ["none", "left", "right"])
    #expect(!mux.properties.contains { $0.name == "name" })
    let audio = try #require(mux.padTemplates.first { $0.name == "audio_%u" })
    #expect(audio.presence == .request && audio.direction == .sink)
    let compositor = try #require(registry.elementType("compositor"))
    #expect(
      compositor.padTemplates.contains { template in
        compositor.properties(ofPads: template).contains { $0.name == "xpos" }
      })
    #expect(registry.elementType("no-such-element") == nil)
    #expect(registry.package(providing: "x264enc") == "gstreamer1.0-plugins-ugly")
    #expect(registry.package(providing: "avdec_h264") == "gstreamer1.0-libav")
    #expect(registry.problem(inCaps: "video/x-raw, width=") != nil)
  }

  @Test(
    "the element that usually goes between two others is known",
    arguments: [
      ("video/x-raw,format=NV12", "video/x-raw,format=I420", "videoconvert"),
      ("video/x-raw,width=64", "video/x-raw,width=32", "videoscale"),
      ("audio/x-raw,rate=44100", "audio/x-raw,rate=48000", "audioresample"),
      ("video/x-h264", "video/x-raw", "decodebin"), ("video/x-raw", "video/x-h265", "x265enc"),
      ("video/x-h264,alignment=nal", "video/x-h264,alignment=au", "h264parse"),
      ("video/x-raw", "audio/x-raw", nil),
    ] as [(String, String, String?)])
  func converters(source: String, sink: String, element: String?) {
    #expect(InstalledElements().converter(from: source, to: sink) == element)
  }

  @Test(
    "invalid caps are reported, without messages of GStreamer's own",
    arguments: ["/x", "1video/raw", "video/x-raw;/y", "\"video/x-raw", "video/ x"])
  func brokenCaps(text: String) {
    // G_DEBUG=fatal-criticals would end the tests.
    #expect(InstalledElements().problem(inCaps: text) != nil)
  }
}

extension PipelineRun {
  /// The reports that say that something has been recorded.
  fileprivate var progressOfRecording: some AsyncSequence<Event, Never> {
    events.filter { event in
      if case .progress(let progress) = event { progress.bytes > 0 } else { false }
    }
  }
}
