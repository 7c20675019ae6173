// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// What the command says where no decoder is there, and of layered streams without a container.
@Suite(.tags(.process))
struct MissingDecoderTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// As where no package with decoders is installed.
  private let bare =
    "export "
    + "GST_PLUGIN_FEATURE_RANK=avdec_h264:NONE,openh264dec:NONE,avdec_h265:NONE,libde265dec:NONE; "

  private func makeSpatial() throws {
    let result = try Command.run(
      ["run", "live-test-to-mvhevc", "live=no", "frames=20", "output=a.mov"], in: folder)
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test("a run of a movie with audio ends at once, and names the decoder")
  func run() async throws {
    try await TestMovie.sideBySide(folder.path("a.mp4"))
    let result = try Command.run(
      ["run", "sbs-to-mvhevc", "input=a.mp4", "output=b.mov"], in: folder, shell: bare)
    // It ends by itself.
    #expect(result.status != 0 && result.status < 128)
    #expect(
      result.errors.contains("H.264") && result.errors.contains("decoder"), "\(result.errors)")
  }

  @Test("the time code beside damaged video is not what is missing")
  func timeCode() async throws {
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x180:duration=1", "-c:v",
        "libx264", "-timecode", "01:00:00:00", "a_360.mov",
      ], in: folder.url)
    let movie = URL(filePath: folder.path("a_360.mov"))
    var bytes = try Data(contentsOf: movie)
    let record = try #require(bytes.range(of: Data("avcC".utf8)))
    bytes.replaceSubrange(record, with: Data("free".utf8))
    try bytes.write(to: movie)
    for pipeline in ["mono-to-immersive", "h265-to-immersive"] {
      let result = try Command.run(
        ["run", pipeline, "input=a_360.mov", "output=b.mov"], in: folder)
      #expect(result.status != 0 && result.errors.contains("error: "))
      #expect(!result.errors.contains("tmcd decoder"), "\(result.errors)")
    }
  }

  @Test("run, convert and frames of a spatial movie name the decoder")
  func spatial() throws {
    try makeSpatial()
    for arguments in [
      ["run", "mvhevc-to-sbs", "input=a.mov", "output=b.mp4"],
      ["convert", "a.mov", "b.mp4"],
      ["frames", "a.mov", "--at", "0.1s"],
      ["frames", "a.mov", "--at", "0.1s", "--show", "left"],
    ] {
      let result = try Command.run(arguments, in: folder, shell: bare)
      #expect(result.status != 0)
      #expect(
        result.errors.contains("H.265") && result.errors.contains("decoder"),
        "\(arguments): \(result.errors)")
    }
  }

  @Test("info and frames read layered streams without a container")
  func elementary() async throws {
    let stream = Repository.url.appending(path: "Tests/HEVCTests/Streams/interlayer-128x96.hevc")
    let info = try Command.run(["info", stream.path, "--json", "--frames"], in: folder)
    #expect(info.status == 0, "\(info.errors)")
    let facts = try #require(
      JSONSerialization.jsonObject(with: Data(info.output.utf8)) as? [String: Any])
    #expect(facts["stereo"] as? String == "mv-hevc")
    #expect(facts["container"] as? String == "none")
    #expect(facts["width"] as? Int == 128 && facts["height"] as? Int == 96)
    let md5s = try #require(
      JSONSerialization.jsonObject(
        with: Data(
          contentsOf: stream.deletingLastPathComponent().appending(path: "interlayer.json")))
        as? [String: [String: [String]]])
    let count = try #require(md5s["interlayer-128x96"]?["left"]?.count)
    #expect((facts["frame-times"] as? [Double])?.count == count)
    let frames = try Command.run(
      ["frames", stream.path, "--count", "3", "--show", "right", "--output", "eye"], in: folder)
    #expect(frames.status == 0, "\(frames.errors)")
    #expect(frames.output.split(separator: "\n").count == 3)
    // What is between is gone.
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(!left.contains { $0.hasPrefix("gst-spatial-") })
  }
}
