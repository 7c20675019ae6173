// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdemux` on movies whose eyes were coded in ways that other encoders code them: what comes
/// out for each eye decodes to the frames of the stream that went in.
struct MVHEVCDemuxCodingTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
    try BuiltPlugin.require()
  }

  /// Codes both eyes with GStreamer's own encoder element and weaves them.
  ///
  /// - Returns: the frames that an ordinary decoder makes of each eye's stream before it is woven.
  private func weave(_ frames: Int, _ caps: String, _ options: String) async throws -> [Eye:
    [String]]
  {
    let frames = try await record(
      Eye.allCases.map { eye in
        "stereotestsrc num-buffers=\(frames) ! video/x-raw,\(caps),multiview-mode=\(eye) ! queue ! "
          + "x265enc speed-preset=superfast option-string=b-adapt=0:scenecut=0:\(options) ! "
          + "h265parse ! tee name=\(eye) \(eye). ! queue ! mux.\(eye) "
          + "\(eye). ! queue ! avdec_h265 max-threads=2 ! fakesink name=sink-\(eye) async=false "
      }.joined() + "mvhevcmux name=mux ! filesink location=\(path)",
      sinks: Eye.allCases.map { "sink-\($0)" })
    return Dictionary(
      uniqueKeysWithValues: try zip(Eye.allCases, frames).map {
        ($0, try $1.map { md5(try $0.pixels()) })
      })
  }

  @Test(
    "open GOPs, slices, wavefronts, weighted prediction and long references are exact",
    .tags(.long),
    arguments: [
      (30, "format=I420,width=160,height=96", "open-gop=1:bframes=3:keyint=8:min-keyint=8"),
      (
        30, "format=I420,width=320,height=192",
        "open-gop=0:slices=4:ctu=16:max-tu-size=16:keyint=10"
      ),
      (30, "format=I420,width=320,height=192", "open-gop=0:wpp=1:ctu=16:max-tu-size=16:keyint=10"),
      (30, "format=I420,width=160,height=96", "open-gop=0:weightp=1:weightb=1:bframes=2:keyint=10"),
      (30, "format=I420_10LE,width=160,height=96", "open-gop=1:bframes=4:b-pyramid=1:keyint=12"),
      (30, "format=I420,width=160,height=96", "open-gop=0:temporal-layers=1:bframes=3:keyint=8"),
    ].filter { X265.takes($0.2) })
  func coding(count: Int, caps: String, options: String) async throws {
    try await expectExact(count, caps, options)
  }

  @Test("long GOPs are exact", .tags(.exhaustive))
  func longGroups() async throws {
    try await expectExact(
      16_500, "format=I420,width=32,height=32,framerate=30/1",
      "open-gop=0:bframes=2:keyint=100000:pools=1:frame-threads=1:rc-lookahead=4")
  }

  private func expectExact(_ count: Int, _ caps: String, _ options: String) async throws {
    let expected = try await weave(count, caps, options)
    for eye in Eye.allCases {
      #expect(expected[eye]?.count == count)
      let frames = try await DemuxRun.decoded(path, eye.rawValue)
      #expect(frames.map(\.md5) == expected[eye], "\(eye)")
    }
  }

  @Test(
    "video in other codings than H.264 and H.265 decodes to what qtdemux gives", .tags(.process),
    arguments: [
      ("mpeg4", "mp4", []), ("mpeg2video", "mov", []), ("mjpeg", "mov", []), ("png", "mov", []),
      ("ffv1", "mov", ["-level", "1"]), ("cfhd", "mov", []), ("qtrle", "mov", []),
      ("v210", "mov", []),
      ("prores_ks", "mov", []), ("libvpx-vp9", "mp4", []), ("cinepak", "mov", []),
      ("svq1", "mov", []), ("rawvideo", "mov", ["-pix_fmt", "uyvy422", "-tag:v", "2vuy"]),
      ("h263", "mov", ["-s", "352x288"]),
      ("dvvideo", "mov", ["-s", "720x576", "-pix_fmt", "yuv420p"]),
    ] as [(String, String, [String])])
  func otherCodings(coder: String, ending: String, options: [String]) async throws {
    let path = folder.path("movie.\(ending)")
    _ = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=0.3",
        "-c:v", coder,
      ] + options + [path])
    var pictures: [Data] = []
    for demuxer in ["qtdemux name=d d.", "mvhevcdemux name=d d.video_0"] {
      let output = folder.path("pictures")
      try await play(
        "filesrc location=\(path) ! \(demuxer) ! decodebin ! videoconvert "
          + "! video/x-raw,format=I420 ! filesink location=\(output)")
      pictures.append(try Data(contentsOf: URL(filePath: output)))
    }
    #expect(pictures[0].count > 100_000 && pictures[0] == pictures[1])
  }

  @Test("FFV1 whose headers are in the sample entry decodes to what FFmpeg gives", .tags(.process))
  func globalHeaders() async throws {
    let (path, output) = (folder.path("movie.mov"), folder.path("pictures"))
    let made = try await Program.output(
      of: [
        "ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25:duration=0.3",
        "-pix_fmt", "yuv420p", "-c:v", "ffv1", "-level", "3", path, "-f", "rawvideo", "-pix_fmt",
        "yuv420p", "-",
      ])
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! avdec_ffv1 ! "
        + "video/x-raw,format=I420 ! filesink location=\(output)")
    #expect(try Data(contentsOf: URL(filePath: output)) == made && made.count > 100_000)
  }
}
