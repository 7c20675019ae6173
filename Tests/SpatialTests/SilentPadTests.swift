// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import Testing

/// Pads that give nothing: what waits for them does not wait for ever.
@Suite(.timeLimit(.minutes(2)))
struct SilentPadTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Two live eyes, each through a valve of its name, and a live sound through a valve `audio`.
  private func live(_ sink: String, sound: String = "") throws -> Pipeline {
    try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! queue ! valve name=left ! x.left "
        + "s.right ! queue ! valve name=right ! x.right \(sound) \(sink)")
  }

  private var recording: String {
    "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency pad-timeout=300000000 ! "
      + "filesink location=\(path)"
  }

  private let microphone =
    "audiotestsrc is-live=true ! audio/x-raw,format=S16LE,rate=44100,channels=1 ! queue ! "
    + "valve name=audio ! x.audio_0 "

  /// Waits for so many further buffers to pass; fails the test where they do not come.
  private func more(_ count: Int, of tap: Tap) async throws {
    let wanted = tap.buffers.count + count
    for _ in 0..<1500 where tap.buffers.count < wanted {
      try await Task.sleep(for: .milliseconds(10))
    }
    try #require(tap.buffers.count >= wanted, "nothing comes any more")
  }

  private func close(_ valve: String, of pipeline: Pipeline, _ isClosed: Bool = true) throws {
    try #require(pipeline.element(named: valve)).set("drop", isClosed ? "true" : "false")
  }

  private func seconds(_ track: Track) -> Double {
    Double(track.mediaDuration ?? 0) / Double(track.timescale)
  }

  @Test("a live microphone that stops does not stop the recording, and is recorded when it is back")
  func microphoneStops() async throws {
    let pipeline = try live(recording, sound: microphone)
    let tap = try Tap(pipeline.element(named: "x")?.staticPad("src"))
    pipeline.setState(.playing)
    try await more(30, of: tap)
    try close("audio", of: pipeline)
    try await more(60, of: tap)
    try close("audio", of: pipeline, false)
    try await more(60, of: tap)
    pipeline.send(.endOfStream)
    let messages = try await play(pipeline)
    #expect(messages.warnings.contains { $0.contains("audio_0") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    let (video, audio) = (try file.video(), try file.audio())
    #expect(video.samples.count > 50)
    // The pause is in the sound, which ends with the pictures.
    #expect(abs(seconds(video) - seconds(audio)) < 0.3, "\(seconds(video)) \(seconds(audio))")
    let longest = audio.allSamples.map(\.duration).max() ?? 0
    #expect(Double(longest) / Double(audio.timescale) > 0.5)
  }

  @Test("a recording ends that a dead microphone does not end with")
  func microphoneDies() async throws {
    let pipeline = try live(recording, sound: microphone)
    let tap = try Tap(pipeline.element(named: "x")?.staticPad("src"))
    pipeline.setState(.playing)
    try await more(30, of: tap)
    try close("audio", of: pipeline)
    try await more(30, of: tap)
    // The valve lets no EOS through.
    pipeline.send(.endOfStream)
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count > 20)
  }

  @Test("a microphone that never gives anything has no track")
  func microphoneNeverStarts() async throws {
    let pipeline = try live(
      recording, sound: microphone.replacing("name=audio", "name=audio drop=true"))
    let tap = try Tap(pipeline.element(named: "x")?.staticPad("src"))
    pipeline.setState(.playing)
    try await more(30, of: tap)
    try close("audio", of: pipeline, false)
    try await more(30, of: tap)
    pipeline.send(.endOfStream)
    let messages = try await play(pipeline)
    #expect(messages.warnings.contains { $0.contains("without it") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 20)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("an eye that starts late begins the movie", arguments: ["left", "right"])
  func lateEye(eye: String) async throws {
    let pipeline = try live(
      recording.replacing("pad-timeout=300000000", "pad-timeout=200000000"), sound: microphone)
    try close(eye, of: pipeline)
    let tap = try Tap(pipeline.element(named: "x")?.staticPad("src"))
    pipeline.setState(.playing)
    try await Task.sleep(for: .milliseconds(700))
    #expect(tap.buffers.isEmpty)
    try close(eye, of: pipeline, false)
    try await more(40, of: tap)
    pipeline.send(.endOfStream)
    try await play(pipeline)
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 15)
    #expect(try abs(seconds(file.video()) - seconds(file.audio())) < 0.4)
  }

  @Test(
    "an eye that stops is passed over, and pairs go on when it is back",
    arguments: ["stereopack", "mvhevcenc speed-preset=ultrafast tune=zerolatency"],
    ["left", "right"])
  func eyeStops(element: String, eye: String) async throws {
    let pipeline = try live("\(element) name=x pad-timeout=200000000 ! fakesink async=false")
    let x = try #require(pipeline.element(named: "x"))
    let tap = try Tap(x.staticPad("src"))
    let others = try Tap(x.staticPad(eye == "left" ? "right" : "left"))
    pipeline.setState(.playing)
    try await more(10, of: tap)
    try close(eye, of: pipeline)
    try await more(15, of: others)
    let before = tap.buffers.count
    try await more(5, of: others)
    #expect(tap.buffers.count <= before + 1)
    try close(eye, of: pipeline, false)
    try await more(10, of: tap)
    pipeline.send(.endOfStream)
    let messages = try await play(pipeline)
    #expect(messages.warnings.contains { $0.contains("the pad \(eye)") }, "\(messages.warnings)")
    guard case .uint64(let dropped) = x.get("dropped-\(eye == "left" ? "right" : "left")") else {
      throw Failure("no count")
    }
    #expect(dropped >= 15)
  }

  @Test(
    "an eye that nothing is linked to is an error",
    arguments: [("stereopack", ""), ("mvhevcenc", "queue ! x.right "), ("mvhevcmux", "")])
  func unlinkedEye(element: String, before: String) async throws {
    let pipeline = try pipeline(
      "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=64,height=64 ! queue ! x.left "
        + "\(before) \(element) name=x ! filesink location=\(path)")
    if element == "mvhevcmux" { _ = pipeline.element(named: "x")?.requestPad("right") }
    let failure = try await failure(of: pipeline, seconds: 20)
    #expect(failure.message.contains("right"), "\(failure)")
  }

  @Test("a movie goes without a sound that a demuxer never had")
  func unlinkedSound() async throws {
    let messages = try await play(
      eyes(20, "format=I420,width=128,height=64,framerate=30/1")
        + "queue ! mux.audio_0 mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)",
      seconds: 30)
    #expect(messages.warnings.contains { $0.contains("audio_0") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 20)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("a pause of a live recording gives nothing up")
  func pause() async throws {
    let pipeline = try live(recording, sound: microphone)
    let tap = try Tap(pipeline.element(named: "x")?.staticPad("src"))
    pipeline.setState(.playing)
    try await more(20, of: tap)
    pipeline.setState(.paused)
    try await Task.sleep(for: .seconds(1))
    pipeline.setState(.playing)
    try await more(20, of: tap)
    pipeline.send(.endOfStream)
    let messages = try await play(pipeline)
    #expect(messages.warnings.isEmpty, "\(messages.warnings)")
    #expect(try MovieFile(path).video().samples.count > 10)
  }

  @Test("releasing the last pad finishes the movie")
  func releaseAll() async throws {
    let tee = "queue ! tee allow-not-linked=true name="
    let pipeline = try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! \(tee)l ! x.left s.right ! \(tee)r ! x.right \(recording)")
    let mux = try #require(pipeline.element(named: "x"))
    let tap = try Tap(mux.staticPad("src"))
    pipeline.setState(.playing)
    try await more(20, of: tap)
    let pads = try ["left", "right"].map { try #require(mux.staticPad($0)) }
    for pad in pads {
      let peer = try #require(pad.peer)
      gst_pad_unlink(peer.pointer, pad.pointer)
    }
    for pad in pads { gst_element_release_request_pad(mux.pointer, pad.pointer) }
    for _ in 0..<1000 where !tap.events.contains(where: { $0.type == GST_EVENT_EOS }) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(tap.events.contains { $0.type == GST_EVENT_EOS })
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count > 10)
  }
}

extension String {
  fileprivate func replacing(_ old: String, _ new: String) -> String {
    replacingOccurrences(of: old, with: new)
  }
}
