import Foundation
import ISOBMFF
import PipelineHost
import TestKit
import Testing

/// The ready pipelines with movies that have sound, of a kind that can be copied or not, or none.
@Suite(.timeLimit(.minutes(2)))
struct SoundTests {
  enum Sound: CaseIterable {
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
    folder = try TemporaryFolder()
    _ = try #require(Repository.built, "scripts/test says where the built plugin is")
  }

  private func run(_ name: String, _ arguments: [String]) async throws {
    let pipeline = try HostedPipeline.load(Repository.pipeline(name), arguments: arguments)
    try await PipelineRun(pipeline).run()
  }

  private func expect(_ sound: Sound, from input: MovieFile, in path: String, isEncoded: Bool)
    throws
  {
    let output = try MovieFile(path)
    #expect(try output.track("vide").samples.count == 8, "\(path)")
    let tracks = output.movie.tracks.filter { $0.handlerType == "soun" }
    guard sound != .none else { return #expect(tracks.isEmpty, "\(path)") }
    #expect(tracks.count == 1, "\(path)")
    guard sound == .pcm, isEncoded else {
      // PCM is cut into other samples, but has the same bytes.
      return #expect(
        try output.samples("soun").joined().elementsEqual(input.samples("soun").joined()),
        "\(path)")
    }
    guard case .audio(let entry) = tracks.first?.sampleEntries.first, case .aac = entry.coding
    else { throw Failure("\(path) has sound that is no AAC") }
    // The encoder's delay makes for a frame more.
    #expect((12...13).contains(try output.track("soun").samples.count), "\(path)")
  }

  @Test("what is made of a spatial movie has the movie's sound", arguments: Sound.allCases)
  func fromSpatial(sound: Sound) async throws {
    let path = folder.path("a.mov")
    try await TestMovie.play(
      "stereotestsrc num-buffers=8 ! video/x-raw,format=I420,width=320,height=90,framerate=30/1 "
        + "! sbssplit name=s s.left ! queue ! mux.left s.right ! queue ! mux.right \(sound.branch)"
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    let input = try MovieFile(path)
    for name in [
      "mvhevc-to-sbs", "mvhevc-to-tb", "mvhevc-to-anaglyph", "mvhevc-to-2d", "mvhevc-to-packed",
      "retag",
    ] {
      let output = folder.path(name)
      try await run(name, ["input=\(path)", "output=\(output)"])
      try expect(
        sound, from: input, in: output,
        isEncoded: name.hasPrefix("mvhevc-to") && name != "mvhevc-to-packed")
    }
    try await run("mvhevc-to-two-files", ["input=\(path)"])
    try expect(sound, from: input, in: folder.path("a_left.mp4"), isEncoded: true)
    try expect(sound, from: input, in: folder.path("a_right.mp4"), isEncoded: true)
  }

  @Test(
    "sound waits for an encoder that looks ahead",
    arguments: ["mvhevc-to-sbs", "mvhevc-to-tb", "mvhevc-to-anaglyph", "mvhevc-to-packed"])
  func lookahead(name: String) async throws {
    let (path, output) = (folder.path("a.mov"), folder.path("b"))
    try await TestMovie.play(
      "stereotestsrc num-buffers=90 ! video/x-raw,format=I420,width=128,height=64,framerate=30/1 "
        + "! sbssplit name=s s.left ! queue ! mux.left s.right ! queue ! mux.right "
        + "audiotestsrc num-buffers=140 ! audio/x-raw,rate=48000 ! avenc_aac ! aacparse ! mux. "
        + "mvhevcmux name=mux speed-preset=ultrafast ! filesink location=\(path)")
    try await run(name, ["input=\(path)", "output=\(output)", "preset=slow"])
    #expect(try MovieFile(output).track("vide").samples.count == 90)
  }

  @Test("what is made into a spatial movie brings its sound along", arguments: Sound.allCases)
  func toSpatial(sound: Sound) async throws {
    let path = folder.path("a.mov")
    try await TestMovie.play(
      "stereotestsrc num-buffers=8 ! video/x-raw,format=I420,width=320,height=180,framerate=30/1 "
        + "! capssetter caps=video/x-raw,multiview-mode=mono "
        + "! x264enc speed-preset=ultrafast ! h264parse ! queue ! mux. \(sound.branch)"
        + "qtmux name=mux ! filesink location=\(path)")
    let input = try MovieFile(path)
    for name in ["sbs-to-mvhevc", "tb-to-mvhevc"] {
      let output = folder.path(name)
      try await run(name, ["input=\(path)", "output=\(output)", "preset=ultrafast"])
      try expect(sound, from: input, in: output, isEncoded: true)
    }
    let output = folder.path("two")
    try await run(
      "two-files-to-mvhevc",
      ["left=\(path)", "right=\(path)", "output=\(output)", "preset=ultrafast"])
    try expect(sound, from: input, in: output, isEncoded: true)
  }
}
