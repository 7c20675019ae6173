// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import TestKit
import Testing

/// Pads that give nothing: what waits for them does not wait for ever.
@Suite(.tags(.realTime))
struct SilentPadTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Two live eyes, each through a valve of its name, and a live sound through a valve `audio`.
  private func live(_ sink: String, audio: String = "") throws -> Pipeline {
    try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! queue ! valve name=left ! x.left "
        + "s.right ! queue ! valve name=right ! x.right \(audio) \(sink)")
  }

  private var recording: String {
    "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency pad-timeout=300000000 ! "
      + "filesink location=\(path)"
  }

  private let microphone =
    "audiotestsrc is-live=true ! audio/x-raw,format=S16LE,rate=44100,channels=1 ! queue ! "
    + "valve name=audio ! x.audio_0 "

  private func close(_ valve: String, of pipeline: Pipeline, _ isClosed: Bool = true) throws {
    try #require(pipeline.element(named: valve)).set("drop", isClosed ? "true" : "false")
  }

  @Test("a live microphone that stops does not stop the recording, and is recorded when it returns")
  func microphoneStops() async throws {
    let pipeline = try live(recording, audio: microphone)
    let tap = try start(pipeline, watching: "x")
    try await tap.waitForMore(30)
    try close("audio", of: pipeline)
    try await tap.waitForMore(60)
    try close("audio", of: pipeline, false)
    try await tap.waitForMore(60)
    let messages = try await finish(pipeline)
    #expect(messages.warnings.contains { $0.contains("audio_0") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    let (video, audio) = (try file.video(), try file.audio())
    #expect(video.samples.count > 50)
    // The pause is in the sound, which ends with the pictures.
    #expect(abs(video.seconds - audio.seconds) < 0.3, "\(video.seconds) \(audio.seconds)")
    let longest = audio.allSamples.map(\.duration).max() ?? 0
    #expect(Double(longest) / Double(audio.timescale) > 0.5)
  }

  @Test("a recording ends even if a silent microphone does not")
  func microphoneDies() async throws {
    let pipeline = try live(recording, audio: microphone)
    let tap = try start(pipeline, watching: "x")
    try await tap.waitForMore(30)
    try close("audio", of: pipeline)
    try await tap.waitForMore(30)
    // The valve lets no EOS through.
    try await finish(pipeline)
    #expect(try MovieFile(path).video().samples.count > 20)
  }

  @Test("a microphone that never delivers anything has no track")
  func microphoneNeverStarts() async throws {
    let pipeline = try live(
      recording, audio: microphone.replacing("name=audio", "name=audio drop=true"))
    let tap = try start(pipeline, watching: "x")
    try await tap.waitForMore(30)
    try close("audio", of: pipeline, false)
    try await tap.waitForMore(30)
    let messages = try await finish(pipeline)
    #expect(messages.warnings.contains { $0.contains("is not written") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 20)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("an eye that starts late begins the movie", arguments: ["left", "right"])
  func lateEye(eye: String) async throws {
    let pipeline = try live(
      recording.replacing("pad-timeout=300000000", "pad-timeout=200000000"), audio: microphone)
    try close(eye, of: pipeline)
    let tap = try start(pipeline, watching: "x")
    try await Task.sleep(for: .milliseconds(700))
    #expect(tap.buffers.isEmpty)
    try close(eye, of: pipeline, false)
    try await tap.waitForMore(40)
    try await finish(pipeline)
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 15)
    #expect(try abs(file.video().seconds - file.audio().seconds) < 0.4)
  }

  @Test(
    "an eye that stops is skipped, and pairs continue when it returns",
    arguments: ["stereopack", "mvhevcenc speed-preset=ultrafast tune=zerolatency"],
    ["left", "right"])
  func eyeStops(element: String, eye: String) async throws {
    let pipeline = try live("\(element) name=x pad-timeout=200000000 ! fakesink async=false")
    let x = try #require(pipeline.element(named: "x"))
    let tap = try Tap(x.staticPad("src"))
    let others = try Tap(x.staticPad(eye == "left" ? "right" : "left"))
    pipeline.setState(.playing)
    try await tap.waitForMore(10)
    try close(eye, of: pipeline)
    try await others.waitForMore(15)
    let before = tap.buffers.count
    try await others.waitForMore(5)
    #expect(tap.buffers.count <= before + 1)
    try close(eye, of: pipeline, false)
    try await tap.waitForMore(10)
    let messages = try await finish(pipeline)
    #expect(messages.warnings.contains { $0.contains("The pad \(eye)") }, "\(messages.warnings)")
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

  @Test("a movie is written without an audio stream that the demuxer never had")
  func unlinkedAudio() async throws {
    let messages = try await play(
      eyes(20, "format=I420,width=128,height=64,framerate=30/1")
        + "queue ! mux.audio_0 mvhevcmux name=mux speed-preset=ultrafast ! "
        + "filesink location=\(path)",
      seconds: 30)
    #expect(messages.warnings.contains { $0.contains("audio_0") }, "\(messages.warnings)")
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 20)
    #expect(file.tracks("soun").isEmpty)
  }

  @Test("a pause of a live recording drops no stream")
  func pause() async throws {
    let pipeline = try live(recording, audio: microphone)
    let tap = try start(pipeline, watching: "x")
    try await tap.waitForMore(20)
    pipeline.setState(.paused)
    try await Task.sleep(for: .seconds(1))
    pipeline.setState(.playing)
    try await tap.waitForMore(20)
    let messages = try await finish(pipeline)
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
    let tap = try start(pipeline, watching: "x")
    try await tap.waitForMore(20)
    let pads = try ["left", "right"].map { try #require(mux.staticPad($0)) }
    for pad in pads {
      let peer = try #require(pad.peer)
      gst_pad_unlink(peer.pointer, pad.pointer)
    }
    for pad in pads { gst_element_release_request_pad(mux.pointer, pad.pointer) }
    #expect(try await tap.waitForEnd())
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count > 10)
  }
}

extension String {
  fileprivate func replacing(_ old: String, _ new: String) -> String {
    replacingOccurrences(of: old, with: new)
  }
}
