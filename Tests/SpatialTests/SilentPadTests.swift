// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Pads that give nothing: what waits for them does not wait for ever.
struct SilentPadTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let patience: ClockTime = 300_000_000

  private func recording(patience: ClockTime = patience, hasAudio: Bool = true) throws -> LiveRun {
    try LiveRun(
      "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency "
        + "pad-timeout=\(patience.nanoseconds) ! "
        + "filesink async=false location=\(path)", hasAudio: hasAudio)
  }

  @Test("a live microphone that stops does not stop the recording, and is recorded when it returns")
  func microphoneStops() async throws {
    let live = try recording()
    try live.start()
    live.push(0..<30)
    try live.push(30..<90, without: "audio_0", patience: Self.patience)
    // The first frame of the pause waited, and no other.
    #expect(live.clock.time == LiveRun.time(30) + Self.patience)
    live.push(90..<150, again: "audio_0")
    let warnings = try await live.finish().warnings
    #expect(warnings.count == 1 && warnings[0].contains("The pad audio_0"), "\(warnings)")
    let file = try MovieFile(path)
    let (video, audio) = (try file.video(), try file.audio())
    #expect(video.samples.count == 150)
    // The pause is in the sound, which ends with the pictures.
    #expect(abs(video.seconds - audio.seconds) < 0.04, "\(video.seconds) \(audio.seconds)")
    let longest = audio.allSamples.map(\.duration).max() ?? 0
    #expect(abs(Double(longest) / Double(audio.timescale) - 2) < 0.04)
  }

  @Test("a recording ends even if a silent microphone does not")
  func microphoneDies() async throws {
    let live = try recording()
    try live.start()
    live.push(0..<30)
    try live.push(30..<60, without: "audio_0", patience: Self.patience)
    _ = try await live.finish(without: "audio_0")
    #expect(try MovieFile(path).video().samples.count == 60)
  }

  @Test("a microphone that never delivers anything has no track")
  func microphoneNeverStarts() async throws {
    let live = try recording()
    try live.start(without: ["audio_0"])
    try live.push(0..<30, without: "audio_0", patience: Self.patience)
    live.begin("audio_0")
    live.push(30..<60)
    let warnings = try await live.finish().warnings
    #expect(warnings.contains { $0.contains("is not written") }, "\(warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 60)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("an eye that starts late begins the movie", arguments: ["left", "right"])
  func lateEye(eye: String) async throws {
    let live = try recording()
    let output = try Tap(live.element.staticPad("src"))
    try live.start(without: [eye])
    try live.push(0..<30, without: eye, patience: Self.patience)
    #expect(output.buffers.isEmpty)
    live.begin(eye)
    live.push(30..<60, again: eye)
    _ = try await live.finish()
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 30)
    let (video, audio) = (try file.video().seconds, try file.audio().seconds)
    // Audio comes in thirtieths of a second, some of which may belong to no frame.
    #expect(abs(video - audio) < 0.1, "\(video) \(audio)")
  }

  @Test(
    "an eye that stops is skipped, and pairs continue when it returns",
    arguments: ["stereopack", "mvhevcenc speed-preset=ultrafast tune=zerolatency"],
    ["left", "right"])
  func eyeStops(element: String, eye: String) async throws {
    let live = try LiveRun(
      "\(element) name=x pad-timeout=\(Self.patience.nanoseconds) ! fakesink name=sink async=false")
    let output = try Tap(live.pipeline.element(named: "sink")?.staticPad("sink"))
    try live.start()
    live.push(0..<10)
    try await output.waitForBuffers(10)
    try live.push(10..<30, without: eye, patience: Self.patience)
    live.push(30..<40, again: eye)
    let warnings = try await live.finish().warnings
    #expect(warnings.first?.contains("The pad \(eye)") == true, "\(warnings)")
    let shown = Array(0..<10) + Array(30..<40)
    #expect(output.buffers.map(\.runningTime) == shown.map { LiveRun.time($0) })
    guard case .uint64(20) = live.element.get("dropped-\(eye == "left" ? "right" : "left")") else {
      throw Failure("not every frame without a partner is counted")
    }
  }

  @Test("a pad that is slow but within its time is waited for", arguments: ["left", "right"])
  func slowEye(eye: String) async throws {
    let live = try LiveRun("stereopack name=x pad-timeout=300000000 ! fakesink async=false")
    try live.start()
    for number in 0..<5 {
      // Frames that come later than their times are waited for from then on.
      let due = max(LiveRun.time(number), live.clock.time) + Self.patience
      live.push(number, without: [eye])
      #expect(try live.clock.waitForPending() == due)
      live.clock.advance(to: due - 1)
      live[eye]?.push(live.buffer(eye, number))
    }
    #expect(try await live.finish().warnings.isEmpty)
    guard case .uint64(5) = live.element.get("pairs") else { throw Failure("a pair is missing") }
  }

  @Test(
    "after the clocks of both eyes have begun again, a slow eye is waited for as before",
    arguments: ["left", "right"])
  func slowAfterJump(eye: String) async throws {
    let live = try recording(hasAudio: false)
    live.clock.advance(to: LiveRun.time(3000))
    try live.start()
    live.push(3000..<3030)
    for number in 0..<30 {
      live.push(number, without: [eye])
      let due = try live.clock.waitForPending()
      #expect(due == live.clock.time + Self.patience)
      live.clock.advance(to: due - 1)
      live[eye]?.push(live.buffer(eye, number))
    }
    let warnings = try await live.finish().warnings
    #expect(!warnings.contains { $0.contains("received nothing") }, "\(warnings)")
    #expect(try MovieFile(path).video().samples.count == 60)
  }

  @Test("a pause of a live recording drops no stream")
  func pause() async throws {
    let live = try recording()
    try live.start()
    live.push(0..<20)
    // One eye is there when the pause begins.
    live.push(20, without: ["right", "audio_0"])
    live.pipeline.setState(.paused)
    live.clock.advance(by: 3 * .second)
    live.pipeline.setState(.playing)
    live.push(20, without: ["left"])
    live.push(21..<40)
    #expect(try await live.finish().warnings.isEmpty)
    #expect(try MovieFile(path).video().samples.count == 40)
  }

  @Test("releasing the last pad finishes the movie")
  func releaseAll() async throws {
    let live = try recording(hasAudio: false)
    try live.start()
    live.push(0..<20)
    try await live.waitForPairs(20)
    for (name, _) in live.sources { live.release(name) }
    defer { live.pipeline.setState(.null) }
    try await messages(of: live.pipeline)
    #expect(try MovieFile(path).video().samples.count == 20)
  }

  // MARK: Nothing is linked

  @Test(
    "an eye that nothing is linked to is an error after fifteen seconds",
    arguments: [("stereopack", ""), ("mvhevcenc", "queue ! x.right "), ("mvhevcmux", "")])
  func unlinkedEye(element: String, before: String) async throws {
    let clock = TestClock()
    clock.useAsSystemClock()
    let pipeline = try pipeline(
      "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=64 ! queue ! x.left "
        + "\(before) \(element) name=x ! filesink location=\(path)")
    if element == "mvhevcmux" { _ = pipeline.element(named: "x")?.requestPad("right") }
    pipeline.setState(.playing)
    #expect(try clock.crank() == 15 * .second)
    let failure = try await failure(of: pipeline)
    #expect(failure.message.contains("right"), "\(failure)")
  }

  @Test(
    "after five seconds in which nothing moves, the pads without a queue are named",
    arguments: ["", "queue ! "])
  func missingQueues(queue: String) async throws {
    let clock = TestClock()
    clock.useAsSystemClock()
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=300 ! video/x-raw,width=128,height=64 ! sbssplit name=s "
        + "s.left ! \(queue)fakesink s.right ! \(queue)fakesink")
    let tap = try Tap(pipeline.element(named: "s")?.staticPad("left"))
    pipeline.setState(.paused)
    try await tap.waitForBuffers(1)
    if !queue.isEmpty {
      #expect(pipeline.waitForState())
      return
    }
    while try clock.crank() < 5 * .second {}
    var messages = pipeline.bus.messages.makeAsyncIterator()
    var warning: String?
    while warning == nil, let message = await messages.next() {
      if case .warning(let failure) = message.content { warning = failure.message }
    }
    #expect(warning?.contains("no queue after left and right: put one") == true, "\(warning ?? "")")
    pipeline.setState(.null)
  }

  @Test("a movie goes without audio that a demuxer never had")
  func unlinkedAudio() async throws {
    let clock = TestClock()
    clock.useAsSystemClock()
    let pipeline = try pipeline(
      eyes(20, "format=I420,width=128,height=64,framerate=30/1")
        + "queue ! mux.audio_0 mvhevcmux name=mux speed-preset=ultrafast ! "
        + "filesink location=\(path)"
    )
    pipeline.setState(.playing)
    // sbssplit has timers of its own.
    let ticking = Task {
      while !Task.isCancelled {
        clock.advance(by: .second)
        try await Task.sleep(for: .milliseconds(1))
      }
    }
    defer { ticking.cancel() }
    let warnings = try await play(pipeline).warnings
    #expect(warnings.contains { $0.contains("audio_0") }, "\(warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 20)
    #expect(file.tracks("soun").isEmpty)
  }
}
