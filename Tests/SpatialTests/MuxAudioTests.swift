// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import TestKit
import Testing

/// Encoders of sound straight into `mvhevcmux`, as they go into `mp4mux`.
struct MuxAudioTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private static let encoders = [
    "voaacenc": "aac", "avenc_aac": "aac", "lamemp3enc": "mp3", "avenc_ac3": "ac3",
    "avenc_eac3": "eac3", "opusenc": "opus", "flacenc": "flac", "avenc_alac": "alac",
    "mulawenc": "pcm_mulaw", "alawenc": "pcm_alaw", "identity": "pcm_s16le",
  ]

  private static let count = """
    import av, sys
    with av.open(sys.argv[1]) as movie:
        sound = movie.streams.audio[0]
        print(sound.codec_context.name, sum(f.samples for f in movie.decode(sound)))
    """

  @Test(
    "the output of an encoder needs no parser, and is complete in the movie", .tags(.judge),
    Python.hasAVTrait,
    arguments: encoders.keys.sorted().flatMap { name in
      // Two codings are QuickTime's alone.
      ["mulawenc", "alawenc"].contains(name) ? [(name, "mov")] : [(name, "mov"), (name, "mp4")]
    })
  func encoder(name: String, container: String) async throws {
    try await play(
      "audiotestsrc num-buffers=50 ! audio/x-raw,rate=48000,channels=2 ! audioconvert ! "
        + (name == "identity" ? "audio/x-raw,format=S16LE ! identity" : name)
        + " ! mux.audio_0 mvhevcmux name=mux container=\(container) ! filesink location=\(path)")
    let said = try Python.lines(["-c", Self.count, path])
    let words = try #require(said.first).split(separator: " ").map(String.init)
    #expect(words[0].hasPrefix(try #require(Self.encoders[name])), "\(said)")
    let samples = try #require(Int(words[1]))
    #expect((50 * 1024 - 3000...50 * 1024 + 6000).contains(samples), "\(samples)")
  }

  @Test("audio that is not split into frames is refused with advice")
  func unframed() async throws {
    let failure = try await failure(
      of: "audiotestsrc num-buffers=50 ! avenc_ac3 ! capssetter caps=audio/x-ac3,framed=false ! "
        + "mux.audio_0 mvhevcmux name=mux ! filesink location=\(path)")
    #expect(failure.message.contains("put a parser before"), "\(failure)")
  }

  private func audio(_ number: Int, _ tags: String = "") -> String {
    "audiotestsrc num-buffers=10 ! audio/x-raw,format=S16LE,rate=48000,channels=1 ! \(tags) "
      + "queue ! mux.audio_\(number) "
  }

  @Test("several audio tracks are alternatives, and one is enabled")
  func alternatives() async throws {
    try await play(
      eyes(5, "width=128,height=64") + audio(0, "taginject tags=language-code=en !")
        + audio(1, "taginject tags=language-code=de !") + audio(2)
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    let file = try MovieFile(path)
    let tracks = file.tracks("soun")
    #expect(tracks.map(\.language) == ["eng", "deu", "und"])
    #expect(tracks.map(\.alternateGroup) == [1, 1, 1])
    #expect(tracks.map(\.isEnabled) == [true, false, false])
    #expect(try file.video().alternateGroup == 0)
    #expect(try file.video().isEnabled)
  }

  @Test("a single audio track has no alternate group")
  func single() async throws {
    try await play(
      eyes(5, "width=128,height=64") + audio(0)
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    let track = try MovieFile(path).audio()
    #expect(track.alternateGroup == 0)
    #expect(track.isEnabled)
  }

  @Test("a movie's grouping of its audio tracks stays")
  func remux() async throws {
    try await play(
      eyes(5, "width=128,height=64") + audio(0) + audio(1)
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    let copy = folder.path("copy.mov")
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! m.video_0 "
        + "d.audio_0 ! queue ! m.audio_0 d.audio_1 ! queue ! m.audio_1 "
        + "mvhevcmux name=m ! filesink location=\(copy)")
    let tracks = try MovieFile(copy).tracks("soun")
    #expect(tracks.map(\.alternateGroup) == [1, 1])
    #expect(tracks.map(\.isEnabled) == [true, false])
  }
}
