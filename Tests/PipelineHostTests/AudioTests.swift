// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import PipelineHost
import TestElements
import TestKit
import Testing

/// The ready pipelines with movies that have sound, of a kind that can be copied or not, or none.
struct AudioTests {
  enum AudioKind: CaseIterable {
    case aac, pcm, none

    /// What makes the sound and hands it to `mux`.
    var branch: String {
      let source =
        "audiotestsrc wave=ticks num-buffers=12 samplesperbuffer=1024 "
        + "! audio/x-raw,format=S16LE,rate=48000,channels=2 ! "
      return switch self {
      case .aac: source + "audioconvert ! avenc_aac ! aacparse ! queue ! mux. "
      case .pcm: source + "queue ! mux. "
      case .none: ""
      }
    }
  }

  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  private func expect(_ audio: AudioKind, from input: MovieFile, in path: String) throws {
    let output = try MovieFile(path)
    #expect(try output.track("vide").samples.count == 8, "\(path)")
    let tracks = output.movie.tracks.filter { $0.handlerType == "soun" }
    guard audio != .none else { return #expect(tracks.isEmpty, "\(path)") }
    #expect(tracks.count == 1, "\(path)")
    // PCM is cut into other samples, but has the same bytes.
    #expect(
      try output.samples("soun").joined().elementsEqual(input.samples("soun").joined()), "\(path)")
  }

  @Test(
    "conversions of a spatial movie have the movie's audio", .tags(.long),
    arguments: AudioKind.allCases)
  func fromSpatial(audio: AudioKind) async throws {
    let path = folder.path("a.mov")
    try await TestMovie.spatial(
      path, frames: 8, "width=320,height=90,framerate=30/1", mux: "speed-preset=ultrafast",
      audio: audio.branch)
    let input = try MovieFile(path)
    for name in [
      "mvhevc-to-sbs", "mvhevc-to-tb", "mvhevc-to-anaglyph", "mvhevc-to-2d", "mvhevc-to-packed",
      "retag",
    ] {
      for ending in ["mov", "mp4"] {
        let output = folder.path("\(name).\(ending)")
        try await runReady(name, ["input=\(path)", "output=\(output)"])
        try expect(audio, from: input, in: output)
      }
    }
    try await runReady("mvhevc-to-two-files", ["input=\(path)"])
    try expect(audio, from: input, in: folder.path("a_left.mp4"))
    try expect(audio, from: input, in: folder.path("a_right.mp4"))
  }

  @Test(
    "audio waits for an encoder with lookahead",
    arguments: ["mvhevc-to-sbs", "mvhevc-to-tb", "mvhevc-to-anaglyph", "mvhevc-to-packed"])
  func lookahead(name: String) async throws {
    let (path, output) = (folder.path("a.mov"), folder.path("b.mp4"))
    try await TestMovie.spatial(
      path, frames: 90, "width=128,height=64,framerate=30/1", mux: "speed-preset=ultrafast",
      audio: "audiotestsrc num-buffers=140 ! audio/x-raw,rate=48000 ! avenc_aac ! aacparse ! mux.")
    try await runReady(name, ["input=\(path)", "output=\(output)", "preset=slow"])
    #expect(try MovieFile(output).track("vide").samples.count == 90)
  }

  /// A movie of eight pictures side by side, in H.264.
  ///
  /// - Parameter audio: what makes sound and hands it to `mux`.
  private func makePacked(_ path: String, muxer: String, audio: String) async throws {
    try await TestMovie.play(
      "stereotestsrc num-buffers=8 ! video/x-raw,format=I420,width=320,height=180,framerate=30/1 "
        + "! capssetter caps=video/x-raw,multiview-mode=mono "
        + "! x264enc speed-preset=ultrafast ! h264parse ! queue ! mux. \(audio) "
        + "\(muxer) name=mux ! filesink location=\(path)")
  }

  @Test(
    "conversions to a spatial movie keep the audio", .tags(.long), arguments: AudioKind.allCases)
  func toSpatial(audio: AudioKind) async throws {
    let path = folder.path("a.mov")
    try await makePacked(path, muxer: "qtmux", audio: audio.branch)
    let input = try MovieFile(path)
    for name in ["sbs-to-mvhevc", "tb-to-mvhevc"] {
      let output = folder.path("\(name).mov")
      try await runReady(name, ["input=\(path)", "output=\(output)", "preset=ultrafast"])
      try expect(audio, from: input, in: output)
    }
    let output = folder.path("two.mov")
    try await runReady(
      "two-files-to-mvhevc",
      ["left=\(path)", "right=\(path)", "output=\(output)", "preset=ultrafast"])
    try expect(audio, from: input, in: output)
  }

  /// Sound tracks of every coding that a movie takes, as lines of gst-launch, with the names of
  /// their sample entries.
  private static let codings: [(branch: String, type: FourCC)] = {
    let tone =
      "audiotestsrc num-buffers=20 samplesperbuffer=1024 ! audio/x-raw,rate=48000,channels=2"
    return [
      ("\(tone) ! avenc_aac ! aacparse", "mp4a"),
      ("\(tone) ! audioconvert ! avenc_ac3 ! ac3parse", "ac-3"),
      ("\(tone),format=S16LE ! flacenc ! flacparse", "fLaC"),
      ("\(tone) ! opusenc ! opusparse", "Opus"), ("\(tone) ! audioconvert ! avenc_alac", "alac"),
      ("\(tone),format=S16LE ! mulawenc", "ulaw"), ("\(tone) ! avenc_aac ! aacparse", "mp4a"),
    ]
  }()

  private func audioTracks(_ path: String) throws -> [(type: FourCC, bytes: [UInt8])] {
    let file = try MovieFile(path)
    return try file.movie.tracks.filter { $0.handlerType == "soun" }.map { track in
      guard case .audio(let entry) = track.sampleEntries.first else { throw Failure("no audio") }
      var bytes: [UInt8] = []
      for index in 0..<track.samples.count {
        guard let sample = track.samples.sample(at: index) else { throw Failure("no sample") }
        bytes += file.bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)]
      }
      return (entry.type(in: .quickTime), bytes)
    }
  }

  @Test("every audio track of a spatial movie is copied if nothing is encoded again")
  func allTracks() async throws {
    let path = folder.path("a.mov")
    let branches = Self.codings.enumerated().map { "\($1.branch) ! queue ! mux.audio_\($0) " }
    try await TestMovie.spatial(
      path, frames: 8, "width=320,height=90,framerate=30/1", mux: "speed-preset=ultrafast",
      audio: branches.joined())
    let before = try audioTracks(path)
    #expect(before.map(\.type) == Self.codings.map(\.type))
    try await runReady("mvhevc-to-two-files", ["input=\(path)"])
    var outputs = ["a_left.mp4", "a_right.mp4"]
    for name in [
      "mvhevc-to-2d", "retag", "mvhevc-to-packed", "mvhevc-to-sbs", "mvhevc-to-anaglyph",
    ] {
      outputs.append("\(name).mov")
      try await runReady(name, ["input=\(path)", "output=\(folder.path("\(name).mov"))"])
    }
    for output in outputs {
      let after = try audioTracks(folder.path(output))
      #expect(after.map(\.type) == before.map(\.type), "\(output)")
      for (one, two) in zip(before, after) {
        #expect(one.bytes == two.bytes, "\(output) \(one.type)")
      }
    }
  }

  @Test("all audio of a packed movie is copied, too")
  func allTracksOfPacked() async throws {
    let path = folder.path("a.mkv")
    let kinds: Set<FourCC> = ["mp4a", "ac-3", "fLaC", "Opus"]
    let codings = Self.codings.filter { kinds.contains($0.type) }
    try await makePacked(
      path, muxer: "matroskamux",
      audio: codings.map { "\($0.branch) ! queue ! mux. " }.joined())
    try await runReady(
      "sbs-to-mvhevc", ["input=\(path)", "output=\(folder.path("b.mov"))", "preset=ultrafast"])
    let audioTracks = try audioTracks(folder.path("b.mov"))
    #expect(audioTracks.map { "\($0.type)" }.sorted() == codings.map { "\($0.type)" }.sorted())
  }
}
