// SPDX-License-Identifier: MPL-2.0

import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestKit
import Testing

/// Live sources whose clocks jump: no other source waits for their times.
struct LiveClockTests {
  /// Two seconds, in frames.
  private static let count = 60
  /// When the recording begins, in frames: after 2,000 seconds.
  private static let start = 60_000

  @Test(
    "a live recording has all frames and audio, whichever clock jumps in the middle",
    arguments: [["left", "right"], ["left"], ["audio_0"], ["left", "right", "audio_0"]],
    [-1000, 20, 1000])
  func jump(of jumping: [String], seconds: Int) async throws {
    let folder = try TemporaryFolder()
    let live = try LiveRun(
      "mvhevcmux name=x speed-preset=ultrafast tune=zerolatency ! "
        + "filesink async=false location=\(folder.path("a.mov"))", hasAudio: true)
    live.clock.advance(to: LiveRun.time(Self.start))
    try live.start()
    // Sources do not wait for one another.
    for (name, source) in live.sources {
      source.run { source in
        for number in Self.start..<Self.start + Self.count {
          let isLater = number >= Self.start + Self.count / 2
          let jump = isLater && jumping.contains(name) ? 30 * seconds : 0
          source.push(live.buffer(name, number + jump))
        }
        source.end()
      }
    }
    let warnings = try await messages(of: live.pipeline).warnings
    live.pipeline.setState(.null)
    #expect(warnings.contains { $0.contains("jumped") }, "\(warnings)")
    #expect(!warnings.contains { $0.contains("received nothing") }, "\(warnings)")
    let file = try MovieFile(folder.path("a.mov"))
    let (video, audio) = (try file.video(), try file.audio())
    #expect(video.samples.count == Self.count)
    #expect(abs(video.seconds - 2) < 0.1 && abs(audio.seconds - 2) < 0.1)
  }
}
