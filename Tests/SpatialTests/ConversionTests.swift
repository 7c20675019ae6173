// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// The main job: a side-by-side file becomes a spatial movie, as a user does it.
struct ConversionTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A side-by-side H.264 movie with AAC, by ordinary elements. mp4mux is not told of the packing:
  /// its svmi box (seen in 1.22) names the wrong eye as the first; the H.264 stream's SEI does not.
  private func makeInput(rate: String, frames: Int, packets: Int) async throws -> String {
    let path = folder.path("input.mp4")
    try await play(
      """
      stereotestsrc num-buffers=\(frames) ! video/x-raw,width=640,height=180,framerate=\(rate) !
      x264enc speed-preset=ultrafast bframes=2 b-adapt=false ! h264parse !
      capssetter caps=video/x-h264,multiview-mode=mono ! queue ! mux.
      audiotestsrc num-buffers=\(packets) samplesperbuffer=1024 !
      audio/x-raw,rate=48000,channels=2 ! avenc_aac ! aacparse ! queue ! mux.
      mp4mux name=mux ! filesink location=\(path)
      """)
    return path
  }

  private func payload(_ file: MovieFile, _ track: Track) -> [[UInt8]] {
    track.allSamples.map { sample in
      Array(file.bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)])
    }
  }

  @Test(
    "frames, times and audio of a decoded file are unchanged", .tags(.judge),
    Judge.isThere,
    arguments: ["30/1", "30000/1001", "24000/1001"].sampled(1), ["mov", "mp4"])
  func conversion(rate: String, container: String) async throws {
    let input = try await makeInput(rate: rate, frames: 60, packets: 94)
    let output = folder.path("output." + container)
    try await play(
      """
      filesrc location=\(input) ! decodebin name=d
      caps="video/x-raw;audio/x-raw;audio/mpeg,mpegversion=4,stream-format=raw"
      d. ! queue ! videoconvert ! sbssplit name=s
      s.left ! stereotagger eye=left horizontal-field-of-view=63.4 ! queue ! mux.left
      s.right ! stereotagger eye=right ! queue ! mux.right
      d. ! queue ! aacparse ! mux.audio_0
      mvhevcmux name=mux speed-preset=ultrafast container=\(container) !
      filesink location=\(output)
      """)
    let (before, after) = (try MovieFile(input), try MovieFile(output))
    let (oldVideo, newVideo) = (try before.video(), try after.video())
    #expect(newVideo.samples.count == oldVideo.samples.count)
    #expect(newVideo.samples.count == 60)
    for (old, new) in zip(oldVideo.presentationTimes, newVideo.presentationTimes) {
      // The input's times are rounded to its own timescale, and GStreamer's to nanoseconds.
      let distance = RunningTime(clamping: old) - RunningTime(clamping: new)
      #expect(distance.magnitude <= 100_000)
    }
    let (oldAudio, newAudio) = (try before.audio(), try after.audio())
    #expect(payload(after, newAudio) == payload(before, oldAudio))
    #expect(newAudio.mediaDuration == oldAudio.mediaDuration)
    #expect(newAudio.presentationTimes.first == oldAudio.presentationTimes.first)
    try await Judge.expectEyes(output, folder, count: 60, width: 320, height: 180, above: 25)
  }

  @Test("the command line of scripts/demo converts a given file", .tags(.process))
  func demo() throws {
    try BuiltPlugin.require()
    let script = Repository.url.appending(path: "scripts/demo").path
    let missing = try Program.run([script, folder.path("nothing.mp4"), folder.path("out.mov")])
    #expect(missing.status != 0)
    #expect(missing.output.contains("cannot be read"))
  }
}
