// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// Seeks of `mvhevcdec` after `mvhevcdemux`.
struct MVHEVCDecSeekTests {
  private static let frames = 90

  /// A movie with several groups of pictures, and the pictures in it.
  private func makeMovie(_ path: String) async throws -> EyeFrames {
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=\(Self.frames) ! video/x-raw,width=256,height=64 ! "
        + "sbssplit name=s s.left ! queue ! mux.left s.right ! queue ! mux.right "
        + "mvhevcmux name=mux key-int-max=24 option-string=lossless=1 ! "
        + "filesink location=\(path)")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: "mux")?.staticPad($0))
    }
    try await play(pipeline)
    return EyeFrames(left: try taps[0].frames(), right: try taps[1].frames())
  }

  /// A player that waits at the beginning of such a movie.
  private func paused(
    in folder: TemporaryFolder
  ) async throws -> (source: EyeFrames, pipeline: Pipeline, taps: [Tap]) {
    let source = try await makeMovie(folder.path("movie.mov"))
    let pipeline = try pipeline(
      "filesrc location=\(folder.path("movie.mov")) ! mvhevcdemux name=demux demux.video_0 ! "
        + "queue ! mvhevcdec name=dec dec.left ! queue ! fakesink name=left sync=false "
        + "dec.right ! queue ! fakesink name=right sync=false")
    let taps = try ["left", "right"].map {
      try Tap(pipeline.element(named: $0)?.staticPad("sink"))
    }
    pipeline.setState(.paused)
    #expect(pipeline.waitForState())
    return (source, pipeline, taps)
  }

  @Test("an accurate seek shows, for both eyes, the frame that belongs there", .tags(.long))
  func accurate() async throws {
    let folder = try TemporaryFolder()
    let (source, pipeline, taps) = try await paused(in: folder)
    defer { pipeline.setState(.null) }
    var generator = SplitMix(state: 5)
    for _ in 0..<200 {
      let time = ClockTime(generator.next() % UInt64(Self.frames), perSecond: 30) + 10_000_000
      let seen = taps.map(\.buffers.count)
      #expect(pipeline.seek(to: time, flags: .accurate))
      #expect(pipeline.waitForState())
      let frame = Int(time.units(perSecond: 30))
      for (index, eye) in Eye.allCases.enumerated() {
        let shown = try #require(taps[index].buffers.dropFirst(seen[index]).first)
        #expect(try shown.pixels() == source[eye][frame].pixels, "frame \(frame), \(eye)")
      }
    }
  }

  @Test("a segment played backwards is the same segment, last pair first")
  func backwards() async throws {
    let folder = try TemporaryFolder()
    let (source, pipeline, taps) = try await paused(in: folder)
    defer { pipeline.setState(.null) }
    let seen = taps.map(\.buffers.count)
    let flags = GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue
    // From just after frame 69 back to frame 10.
    #expect(
      gst_element_seek(
        pipeline.pointer, -1, GST_FORMAT_TIME, GstSeekFlags(flags), GST_SEEK_TYPE_SET,
        10 * 1_000_000_000 / 30 + 1, GST_SEEK_TYPE_SET, 70 * 1_000_000_000 / 30) != 0)
    pipeline.setState(.playing)
    try await messages(of: pipeline)
    for (index, eye) in Eye.allCases.enumerated() {
      let shown = try taps[index].buffers.dropFirst(seen[index]).map { try $0.pixels() }
      let wanted = source[eye][10..<70].reversed().map(\.pixels)
      #expect(shown.count == wanted.count, "\(eye)")
      #expect(shown.elementsEqual(wanted), "\(eye)")
    }
  }
}
