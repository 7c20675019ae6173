// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `info`, and the example that embeds the host.
@Suite(.tags(.process))
struct MovieCommandTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private func info(_ path: String) throws -> (status: Int32, facts: [String: Any]) {
    let result = try Command.run(["info", path, "--json", "--frames"], in: folder)
    let facts = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return (result.status, try #require(facts as? [String: Any]))
  }

  private func makeSpatial(frames: Int = 20) throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "live=no", "frames=\(frames)", "output=a.mov"], in: folder)
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test(
    "foreign movies have the golden facts",
    .enabled(if: ForeignMedia.isThere, "needs ../shared/media"))
  func goldenFacts() throws {
    let data = try Data(contentsOf: ForeignMedia.url.appending(path: "golden.json"))
    let golden = try #require(
      JSONSerialization.jsonObject(with: data) as? [String: [String: Any]])
    for (name, facts) in golden where !name.hasSuffix(".hevc") {
      let (status, found) = try info(ForeignMedia.path(name))
      #expect(status == 0 && found["stereo"] as? String == "mv-hevc")
      for (key, goldenKey) in [
        ("width", "width"), ("height", "height"), ("frames", "access_units"),
      ] {
        #expect(found[key] as? Int == facts[goldenKey] as? Int, "\(name): \(key)")
      }
      #expect(found["container"] as? String == facts["container"] as? String)
      #expect(found["fragmented"] as? Bool == facts["fragmented"] as? Bool)
      #expect(found["base-eye"] as? String == facts["base_layer_eye"] as? String)
      #expect(found["hero-eye"] as? String == facts["hero_eye"] as? String)
      let fov = facts["horizontal_field_of_view_thousandths_degree"] as? Double
      #expect(found["horizontal-field-of-view"] as? Double == fov.map { $0 / 1000 })
      let baseline = facts["baseline_micrometres"] as? Double
      #expect(found["baseline"] as? Double == baseline.map { $0 / 1000 })
      let disparity = facts["disparity_adjustment_ten_thousandths"] as? Double
      #expect(found["disparity-adjustment"] as? Double == disparity.map { $0 / 10000 })
      #expect(
        found["projection"] as? String
          == (facts["projection_kind"] as? String == "rect" ? "rectilinear" : nil))
      #expect(found["apple-spatial"] as? Bool == true)
      #expect(found["inter-layer-prediction"] as? String == "any picture")
      // Phones write none, and no player misses it.
      let advice = found["advisable"] as? [String] ?? []
      #expect(!advice.contains { $0.contains("hero") }, "\(name)")
    }
  }

  @Test("our own movie is stereo and spatial, with a time for each frame")
  func ownMovie() throws {
    try makeSpatial()
    let (status, facts) = try info("a.mov")
    #expect(status == 0 && facts["apple-spatial"] as? Bool == true)
    let times = try #require(facts["frame-times"] as? [Double])
    #expect(times.count == 20)
    for (index, time) in times.enumerated() { #expect(abs(time - Double(index) / 30) < 1e-4) }
    let text = try Command.run(["info", "a.mov"], in: folder).output
    #expect(text.contains("baseline              63.5 mm"))
    #expect(
      text.hasPrefix(
        "plays                 in 3D on Apple Vision Pro and Android XR, and as a spatial video on "
      ))
    #expect(text.contains("; elsewhere, the left eye\n") && !text.contains("missing"))
    let coding = /\ncoding                H\.265 Main, level [1-6]\.\d, 8 bit, \d+\.\d\d Mbit\/s\n/
    #expect(text.contains(coding))
    let both = try Command.run(["info", "a.mov", "a.mov"], in: folder)
    #expect(both.output == "a.mov\n\(text)\na.mov\n\(text)")
    let failing = try Command.run(["info", "none.mov", "a.mov"], in: folder)
    #expect(failing.status == 2 && failing.output == "a.mov\n\(text)")
    #expect(try Command.run(["info", "a.mov", "--require-spatial"], in: folder).status == 0)
  }

  @Test(
    "the pictures of an eye that are predicted from the other eye are counted",
    arguments: ["none", "keyframes"])
  func interLayerPrediction(_ prediction: String) async throws {
    let line =
      "gst-launch-1.0 -q stereotestsrc num-buffers=40 ! video/x-raw,width=320,height=90 ! "
      + "sbssplit name=s s.left ! queue ! m.left s.right ! queue ! m.right "
      + "mvhevcmux name=m inter-view-prediction=\(prediction) ! filesink location=a.mov"
    _ = try await Program.output(of: line.split(separator: " ").map(String.init), in: folder.url)
    let (status, facts) = try info("a.mov")
    #expect(status == 0 && facts["inter-layer-prediction"] as? String == prediction)
    let text = try Command.run(["info", "a.mov"], in: folder).output
    #expect(text.contains("inter-layer prediction \(prediction)\n"), "\(text)")
  }

  @Test("a movie that is not spatial is reported with the reason, and fails only on request")
  func notStereo() async throws {
    try await TestMovie.make(
      folder.path("a.mp4"),
      "videotestsrc num-buffers=5 ! video/x-raw,width=320,height=180 ! x264enc ! h264parse ! mp4mux"
    )
    let (status, facts) = try info("a.mp4")
    #expect(status == 0 && facts["apple-spatial"] as? Bool == false)
    let wanted = ["info", "a.mp4", "--require-spatial"]
    #expect(try Command.run(wanted, in: folder).status == 1)
    #expect((facts["missing"] as? [String])?.first?.contains("'avc1' without 'lhvC'") == true)
    _ = try folder.write("no movie", to: "b.mov")
    let result = try Command.run(["info", "b.mov"], in: folder)
    #expect(result.status == 2 && result.errors.contains("'b.mov' is not a QuickTime, MP4"))
    #expect(try Command.run(["info", "missing.mov"], in: folder).status == 2)
  }

  @Test(
    "Matroska and transport streams are described and shown like movies",
    arguments: [("mkv", "Matroska"), ("ts", "MPEG transport stream")])
  func otherContainers(suffix: String, format: String) async throws {
    try await TestMovie.sideBySide(folder.path("film_SBS.mp4"))
    let name = "film_SBS.\(suffix)"
    let copied = try Program.run(
      ["ffmpeg", "-v", "error", "-i", folder.path("film_SBS.mp4"), "-c", "copy", folder.path(name)])
    #expect(copied.status == 0, "\(copied.output)")
    let info = try Command.run(["info", name], in: folder)
    #expect(info.status == 0, "\(info.errors)")
    #expect(info.output.contains("container             \(format)\n"))
    #expect(info.output.contains("video, avc1, 24 samples") && info.output.contains("audio, mp4a"))
    #expect(info.output.contains("looks like side-by-side, the left eye first"))
    for movie in ["film_SBS.mp4", name] {
      let frames = try Command.run(
        ["frames", movie, "--at", "0.5", "--output", "\(movie).png"], in: folder)
      #expect(frames.status == 0, "\(frames.errors)")
    }
    #expect(
      try Data(contentsOf: folder.url.appending(path: "film_SBS.mp4.png"))
        == Data(contentsOf: folder.url.appending(path: "\(name).png")))
  }

  @Test("what cannot be copied into a movie is refused in the words of viewers")
  func otherContainersRefused() throws {
    func make(_ name: String, _ options: String) throws {
      let made = try Program.run(
        ["ffmpeg", "-v", "error"] + options.split(separator: " ").map(String.init)
          + [folder.path(name)])
      #expect(made.status == 0, "\(made.output)")
    }
    let picture = "-f lavfi -i testsrc=duration=1:size=128x64:rate=10"
    let tone = "-f lavfi -i sine=duration=1"
    try make("vp9.mkv", "\(picture) \(tone) -c:v libvpx-vp9 -c:a aac")
    try make("mpeg.ts", "\(picture) -c:v mpeg2video")
    try make("sound.mkv", "\(tone) -c:a flac")
    let whole = try Data(contentsOf: folder.url.appending(path: "vp9.mkv"))
    try whole.prefix(300).write(to: folder.url.appending(path: "cut.mkv"))
    try (whole.prefix(40) + Data((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* 37) }))
      .write(to: folder.url.appending(path: "damaged.mkv"))
    try Data("These are words, not pictures.".utf8)
      .write(to: folder.url.appending(path: "words.mov"))
    for (name, reason) in [
      ("vp9.mkv", "its video is VP9, which only 'convert' reads"),
      ("mpeg.ts", "which only 'convert' reads"), ("sound.mkv", "there is no video in it"),
      // Matroska's demuxer either reports an error or waits, from run to run.
      ("cut.mkv", "'cut.mkv' cannot be read as a movie: "),
      ("damaged.mkv", "'damaged.mkv' cannot be read as a movie: "),
      ("words.mov", "'words.mov' is not a QuickTime, MP4, Matroska or MPEG-TS movie"),
    ] {
      for command in [["info"], ["frames", "--count", "2"]] {
        let result = try Command.run(command + [name], in: folder)
        #expect(result.status == 2, "\(name): \(result.output)")
        #expect(result.errors.contains(reason), "\(name): \(result.errors)")
        #expect(result.errors.split(separator: "\n").count <= 2, "\(name): \(result.errors)")
      }
    }
  }

  @Test("the embedding example converts several movies at once, in under 60 lines")
  func embeddedHost() throws {
    let source = try String(
      contentsOf: Repository.url.appending(path: "Examples/EmbeddedHost/EmbeddedHost.swift"),
      encoding: .utf8)
    #expect(source.split(separator: "\n", omittingEmptySubsequences: false).count < 60)
    try makeSpatial(frames: 5)
    try FileManager.default.copyItem(atPath: folder.path("a.mov"), toPath: folder.path("b.mov"))
    _ = try Program.run(
      [Command.built("EmbeddedHost"), Repository.pipeline("mvhevc-to-2d"), "a.mov", "b.mov"],
      in: folder.url)
    #expect(folder.names == ["a.mov", "a_2D.mp4", "b.mov", "b_2D.mp4"])
  }
}
