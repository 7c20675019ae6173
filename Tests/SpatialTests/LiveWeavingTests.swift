// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Coded eyes of live sources, of which pictures are lost on the way.
struct LiveWeavingTests {
  private static let count = 36

  /// What lost pictures, by their numbers in decoding order, take with them: the rest of their
  /// groups of six, and after them, with open groups, the pictures that are shown before the
  /// keyframe.
  @Test(
    "a live recording of coded eyes continues with the next keyframes of both", .tags(.judge),
    Judge.isThere,
    arguments: [
      ("b-adapt=0:scenecut=0:open-gop=0:bframes=0:keyint=6", 0),
      ("b-adapt=0:scenecut=0:open-gop=0:bframes=2:keyint=6", 0),
      ("b-adapt=0:scenecut=0:open-gop=1:bframes=2:keyint=6", 2),
    ])
  func losses(options: String, leading: Int) async throws {
    let folder = try TemporaryFolder()
    func encode(_ eye: String) async throws -> [PassedBuffer] {
      try await record(
        "stereotestsrc num-buffers=\(Self.count) ! "
          + "video/x-raw,format=I420,width=64,height=64,framerate=30/1,multiview-mode=\(eye) ! "
          + "x265enc speed-preset=ultrafast option-string=\(options) ! h265parse ! "
          + "video/x-h265,stream-format=hvc1 ! fakesink name=sink async=false")[0]
    }
    let eyes = [try await encode("left"), try await encode("right")]
    // The numbers of the keyframes are the same in both eyes.
    let keyframes = eyes[0].indices.filter { !eyes[0][$0].buffer.flags.contains(.deltaUnit) }
    try #require(keyframes.count > 4 && eyes[0].count == Self.count)
    let lost = [[keyframes[1] + 2], [keyframes[3] + 1, keyframes[3] + 2]]
    let missing = Set(
      lost.joined().flatMap { first in
        let next = keyframes.first { $0 > first } ?? Self.count
        return Array(first..<next) + (next + 1..<next + 1 + leading)
      })

    let start = eyes.joined().compactMap(\.buffer.pts).min() ?? 0
    let pipeline = try pipeline(
      "mvhevcmux name=x ! filesink async=false location=\(folder.path("a.mov"))")
    let clock = TestClock()
    clock.use(by: pipeline)
    let element = try #require(pipeline.element(named: "x"))
    try #require(pipeline.setState(.playing))
    defer { pipeline.setState(.null) }
    // Both pads are there before data comes.
    let sources = try ["left", "right"].map { try TestSource(feeding: element, $0) }
    for (number, source) in sources.enumerated() {
      let pictures = eyes[number]
      let dropped = lost[number]
      var segment = Segment()
      segment.start = start
      source.begin(pictures[0].caps, segment)
      source.run { source in
        for (index, picture) in pictures.enumerated() where !dropped.contains(index) {
          source.push(picture.buffer)
        }
        source.end()
      }
    }
    let warnings = try await messages(of: pipeline).warnings
    #expect(warnings.contains { $0.contains("continue with the next keyframes") }, "\(warnings)")
    let video = try MovieFile(folder.path("a.mov")).video()
    #expect(video.samples.count == Self.count - missing.count)
    // Both eyes, by FFmpeg, which names pictures whose references are missing.
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let shown = try Python.lines([program, folder.path("a.mov")])
    #expect(shown.count == 2 * video.samples.count)
  }
}
