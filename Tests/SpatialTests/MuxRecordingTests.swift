// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
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

  /// Two live eyes and live audio, each through a tee that continues without a downstream.
  private func live(_ audio: Bool) throws -> Pipeline {
    let tee = "queue ! tee allow-not-linked=true name="
    return try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! \(tee)l ! mux.left s.right ! \(tee)r ! mux.right "
        + (audio
          ? "audiotestsrc is-live=true ! audio/x-raw,format=S16LE,rate=44100,channels=1 ! "
            + "\(tee)a ! mux.audio_0 " : "")
        + "mvhevcmux name=mux speed-preset=ultrafast tune=zerolatency ! filesink location=\(path)")
  }

  /// A recording that runs, and what it writes.
  private func recording(audio: Bool = true) async throws -> (pipeline: Pipeline, tap: Tap) {
    let pipeline = try live(audio)
    let tap = try start(pipeline, watching: "mux")
    try await tap.waitForMore(20)
    return (pipeline, tap)
  }

  /// Unlinks and releases a pad of the muxer, as an application does that takes a source away.
  private func release(_ name: String, of pipeline: Pipeline) throws {
    let mux = try #require(pipeline.element(named: "mux"))
    let pad = try #require(mux.staticPad(name))
    let peer = try #require(pad.peer)
    gst_pad_unlink(peer.pointer, pad.pointer)
    gst_element_release_request_pad(mux.pointer, pad.pointer)
  }

  @Test("a seek is refused, and the written data stays")
  func seek() async throws {
    let (pipeline, tap) = try await recording()
    #expect(!pipeline.seek(to: 0))
    let query = Query.seeking(.time)
    let mux = try #require(pipeline.element(named: "mux")?.staticPad("src"))
    #expect(mux.peer?.queryPeer(query) == true)
    let isSeekable = query.isSeekable
    #expect(!isSeekable)
    try await tap.waitForMore(10)
    try await finish(pipeline)
    let file = try MovieFile(path)
    #expect(try file.video().samples.count > 10)
    let offsets = try [file.video(), file.audio()].compactMap { $0.allSamples.first?.offset }
    #expect(offsets.min() ?? .max < 100)
  }

  /// The seconds of video and audio in a recording in which a pad is released mid-stream.
  private func recorded(
    releasing pad: String
  ) async throws -> (pictures: Double, audio: Double) {
    let (pipeline, tap) = try await recording()
    try release(pad, of: pipeline)
    // Two seconds; until then, one of the two may have been half a second ahead of the other.
    try await tap.waitForMore(60)
    try await finish(pipeline)
    let file = try MovieFile(path)
    return (try file.video().seconds, try file.audio().seconds)
  }

  @Test("releasing the audio's pad ends its track, and the movie continues", .tags(.long))
  func releaseAudio() async throws {
    let (pictures, audio) = try await recorded(releasing: "audio_0")
    #expect(audio > 0)
    #expect(pictures > audio + 1)
  }

  @Test("releasing an eye ends both eyes' track, and the audio continues", .tags(.long))
  func releaseEye() async throws {
    let (pictures, audio) = try await recorded(releasing: "left")
    #expect(pictures > 0)
    #expect(audio > pictures + 0.5)
  }

  @Test(
    "releasing an eye of a movie without other streams finishes it", arguments: ["left", "right"])
  func releaseLast(eye: String) async throws {
    let (pipeline, tap) = try await recording(audio: false)
    try release(eye, of: pipeline)
    #expect(try await tap.waitForEnd())
    try await play(pipeline)
    #expect(try MovieFile(path).video().samples.count > 10)
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
      return GST_PAD_PROBE_OK
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
