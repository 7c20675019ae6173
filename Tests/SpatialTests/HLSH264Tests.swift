// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import TestElements
import TestKit
import Testing

/// H.264 of one eye beside H.265 of both, in `mvhevchlssink`, for browsers.
@Suite(.checkedStreams)
struct HLSH264Tests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  /// So many pictures of one eye as H.264 with B pictures, into the sink.
  private func browsers(_ count: Int, _ encoder: String = "") -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,width=256,height=128,framerate=30/1 ! "
      + "sbssplit name=one one.left ! queue ! "
      + "x264enc speed-preset=veryfast key-int-max=30 \(encoder) ! queue ! h.video_1 "
  }

  private func durations(_ name: String) throws -> [String] {
    try folder.text("\(name)/index.m3u8").matches(of: /#EXTINF:([0-9.]+)/).map {
      String($0.output.1)
    }
  }

  @Test(
    "a browser chooses the H.264 and plays all of it; players that switch find the same segments",
    .tags(.judge))
  func beside() async throws {
    // Encoders that no clock holds back are ahead of the sink, whose requests would come too late:
    // x264enc answers them with keyframes at other times.
    try await play(
      folder.video(90, "key-int-max=30") + browsers(90) + folder.audio(141)
        + folder.sink(
          "playlist-type=vod target-duration=1 send-keyframe-requests=false "
            + "mpd-location=\(folder.path("all.mpd"))"))
    #expect(try durations("video_1") == durations("video_0"))
    #expect(try durations("video_1").count == 3)
    let main = try folder.text("main.m3u8")
    #expect(main.contains(/CODECS="avc1\.[0-9A-F]{6},mp4a\.40\.2",RESOLUTION=128x128/), "\(main)")
    #expect(try folder.text("main-2d.m3u8").contains("avc1."))
    #expect(try folder.text("video_1/iframe.m3u8").contains("#EXT-X-BYTERANGE"))
    // Players switch within one coding alone.
    let sets = try folder.text("all.mpd").components(separatedBy: "<AdaptationSet").dropFirst()
    #expect(sets.map { $0.components(separatedBy: "<Representation").count - 1 } == [1, 1, 1, 1])
    #expect(sets.count { $0.contains("codecs=\"avc1.") && !$0.contains("stereoid") } == 1)
    let program = Repository.url.appending(path: "Tests/Tools/play_stream.py").path
    let seen = try Python.lines([program, folder.place, "main.m3u8"])
    #expect(seen == ["video_1/index.m3u8 128x128", "90 pictures", "3.0 seconds"], "\(seen)")
  }

  @Test("H.264 of two views is refused, as no player of streams shows them")
  func views() async throws {
    try BuiltPlugin.require()
    let disc = folder.temporaryFolder.path("disc")
    try await MVCStream.writeDisc(disc)
    let told = try await failure(
      of: "filesrc location=\(disc).m2ts ! mvctsdemux ! video/x-h264 ! h264parse ! "
        + "video/x-h264,stream-format=avc ! queue ! h.video_0 " + folder.sink("target-duration=1"))
    #expect(told.message.contains("two views (MVC)"), "\(told)")
    #expect(!folder.holds("main.m3u8"))
  }
}
