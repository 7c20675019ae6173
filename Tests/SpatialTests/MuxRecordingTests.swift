// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import TestKit
import Testing

/// What may happen to `mvhevcmux` while it records, and must not cost the recording.
struct MuxRecordingTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A recording that runs.
  private func recording(audio: Bool = true) async throws -> LiveRun {
    let live = try LiveRun(
      "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency ! "
        + "filesink async=false location=\(path)", hasAudio: audio)
    try live.start()
    live.push(0..<20)
    try await live.waitForPairs(20)
    return live
  }

  @Test("a seek is refused, and the written data stays")
  func seek() async throws {
    let live = try await recording()
    #expect(!live.pipeline.seek(to: 0))
    let query = Query.seeking(.time)
    #expect(try #require(live.element.staticPad("src")).peer?.queryPeer(query) == true)
    let isSeekable = query.isSeekable
    #expect(!isSeekable)
    live.push(20..<30)
    _ = try await live.finish()
    let file = try MovieFile(path)
    #expect(try file.video().samples.count == 30)
    let offsets = try [file.video(), file.audio()].compactMap { $0.allSamples.first?.offset }
    #expect(offsets.min() ?? .max < 100)
  }

  /// The seconds of pictures and of audio in a recording of which a pad is released on the way.
  private func recorded(
    releasing pad: String
  ) async throws -> (pictures: Double, audio: Double) {
    let live = try await recording()
    live.release(pad)
    live.push(20..<80)
    _ = try await live.finish()
    let file = try MovieFile(path)
    return (try file.video().seconds, try file.audio().seconds)
  }

  @Test("releasing the audio pad ends its track, and the movie goes on")
  func releaseAudio() async throws {
    let (pictures, audio) = try await recorded(releasing: "audio_0")
    #expect(abs(pictures - 80.0 / 30) < 0.01)
    // What waits in the pad goes with it.
    #expect(abs(audio - 20.0 / 30) < 0.04)
  }

  @Test("releasing an eye ends both eyes' track, and the audio goes on")
  func releaseEye() async throws {
    let (pictures, audio) = try await recorded(releasing: "left")
    #expect(abs(pictures - 20.0 / 30) < 0.01)
    #expect(abs(audio - 80.0 / 30) < 0.01)
  }

  @Test(
    "releasing an eye if there is nothing else finishes the movie", arguments: ["left", "right"])
  func releaseLast(eye: String) async throws {
    let live = try await recording(audio: false)
    live.release(eye)
    // What the other eye still brings has no partner.
    live.push(20..<21)
    defer { live.pipeline.setState(.null) }
    try await messages(of: live.pipeline)
    #expect(try MovieFile(path).video().samples.count == 20)
  }

  // MARK: Caps

  /// Sends caps with further fields after the fifth buffer of a pad.
  private func refine(_ pad: Pad?, _ fields: Fields) throws {
    let news = Locked(Array(fields))
    let count = Locked(0)
    try #require(pad).onEachBuffer { pad, _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 6, let caps = pad.currentCaps {
        pad.push(.caps(news.current.reduce(caps) { $0.with([$1.key: $1.value]) }))
      }
      return .passes
    }
  }

  @Test("caps of coded video that get more exact mid-stream change nothing")
  func refinedVideo() async throws {
    let pipeline = try pipeline(
      eyes(20, "width=128,height=64").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast ! queue ! mux.video_0 "
        + "mvhevcmux name=mux ! filesink location=\(path)")
    try refine(
      pipeline.element(named: "enc")?.staticPad("src"),
      ["framerate": .fraction(Fraction(60, 1)), "colorimetry": "bt709", "level": "6.1"])
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count == 20)
  }

  @Test("caps of raw eyes that get more exact mid-stream change nothing")
  func refinedEyes() async throws {
    let pipeline = try pipeline(
      eyes(20, "width=128,height=64")
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    try refine(
      pipeline.element(named: "s")?.staticPad("left"),
      ["max-framerate": .fraction(Fraction(60, 1)), "chroma-site": "mpeg2"])
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count == 20)
  }

  @Test("caps of audio that get more exact mid-stream change nothing")
  func refinedAudio() async throws {
    let pipeline = try pipeline(
      "audiotestsrc num-buffers=20 samplesperbuffer=1024 ! audio/x-raw,rate=48000,channels=2 ! "
        + "avenc_aac ! aacparse name=parse ! queue ! mux.audio_0 "
        + "mvhevcmux name=mux ! filesink location=\(path)")
    try refine(
      pipeline.element(named: "parse")?.staticPad("src"), ["level": "4", "bitrate": .int(128_000)])
    try await play(pipeline)
    #expect(try MovieFile(path).audio().samples.count > 15)
  }

  @Test("a codec's configuration that changes mid-stream is still an error")
  func changedAudio() async throws {
    let pipeline = try pipeline(
      "audiotestsrc num-buffers=20 samplesperbuffer=1024 ! audio/x-raw,rate=48000,channels=2 ! "
        + "avenc_aac ! aacparse name=parse ! queue ! mux.audio_0 "
        + "mvhevcmux name=mux ! filesink location=\(path)")
    try refine(
      pipeline.element(named: "parse")?.staticPad("src"),
      ["codec_data": .buffer(Buffer([0x11, 0x88]))])
    let failure = try await failure(of: pipeline)
    #expect(failure.message.contains("audio_0 changed"), "\(failure)")
  }
}
