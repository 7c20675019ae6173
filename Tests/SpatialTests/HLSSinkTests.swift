// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import TestKit
import Testing

/// `mvhevchlssink`: what it writes, as independent players read it.
@Suite(.timeLimit(.minutes(3)))
struct HLSSinkTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// The sink, with its files in the folder.
  private func sink(_ properties: String) -> String {
    let place = folder.url.path
    return "mvhevchlssink name=h location=\(place)/%s/segment%05d.m4s "
      + "init-location=\(place)/%s/init%05d.mp4 playlist-location=\(place)/%s/index.m3u8 "
      + "multivariant-playlist-location=\(place)/main.m3u8 \(properties) "
  }

  private func video(_ count: Int, _ encoder: String, live: Bool = false) -> String {
    eyes(count, "width=256,height=128,framerate=30/1").replacing("mux.", with: "enc.")
      .replacing("num-buffers", with: "is-live=\(live) num-buffers")
      + "mvhevcenc name=enc speed-preset=ultrafast \(encoder) ! queue ! h.video_0 "
  }

  private func sound(_ packets: Int, live: Bool = false) -> String {
    "audiotestsrc is-live=\(live) num-buffers=\(packets) samplesperbuffer=1024 ! "
      + "audio/x-raw,rate=48000,channels=1 ! avenc_aac ! queue ! h.audio_0 "
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOfFile: folder.path(name), encoding: .utf8)
  }

  /// The MD5 of each frame, by an independent decoder.
  private func frames(_ name: String, _ options: [String] = []) throws -> [String] {
    let program = Repository.url.appending(path: "Tests/Tools/decode_views.py").path
    // What the decoder itself has to say stands among them.
    return try Python.lines([program] + options + [folder.path(name)]).map(\.words).filter {
      ["0", "1", "-"].contains($0[0])
    }.map { $0[1] }
  }

  @Test("a finished movie: both eyes, one eye and sound, for all kinds of players", Judge.isThere)
  func onDemand() async throws {
    try await play(
      video(90, "key-int-max=30 option-string=bframes=2") + sound(141)
        + sink("playlist-type=vod target-duration=1 mpd-location=\(folder.path("all.mpd"))"))
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try text("\(name)/index.m3u8")
      #expect(list.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && list.hasSuffix("#EXT-X-ENDLIST\n"))
      #expect(list.split(separator: "\n").filter { $0.hasSuffix(".m4s") }.count == 3, "\(list)")
    }
    let main = try text("main.m3u8")
    #expect(main.contains("#EXT-X-VERSION:12\n"))
    #expect(main.contains("CODECS=\"hvc1.1.6.L"))
    #expect(main.contains("mp4a.40.2\"") && main.contains("RESOLUTION=128x128"))
    #expect(!(try text("main-2d.m3u8")).contains("REQ-VIDEO-LAYOUT"))
    try await Judge.expectEyes(
      folder.path("video_0/index.m3u8"), folder, count: 90, width: 128, height: 128)
    // The one eye is that of both, bit by bit.
    let base = try frames("video_0/index.m3u8", ["--single"])
    #expect(base.count == 90)
    #expect(try frames("video_0_mono/index.m3u8") == base)
    #expect(try frames("video_0_mono/iframe.m3u8") == [0, 30, 60].map { base[$0] })
  }

  @Test("a stock HLS demuxer gives mvhevcdemux both eyes of it")
  func stock() async throws {
    try await play(
      video(60, "key-int-max=30 tune=zerolatency") + sink("playlist-type=vod target-duration=1"))
    let shown = try await record(
      "filesrc location=\(folder.path("video_0/index.m3u8")) ! hlsdemux ! mvhevcdemux name=d "
        + "d.left ! queue ! avdec_h265 ! fakesink name=sink "
        + "d.right ! queue ! avdec_h265 ! fakesink name=right")
    #expect(shown[0].count == 60)
  }

  @Test("live: the window slides, parts are announced, nothing listed is missing")
  func live() async throws {
    let pipeline = try pipeline(
      video(150, "tune=zerolatency", live: true) + sound(235, live: true)
        + sink("target-duration=1 playlist-length=3 part-duration=250000000"))
    let messages = try await play(pipeline)
    let added = messages.compactMap { message in
      guard case .element(let said) = message.content, said.name == "hls-segment-added" else {
        return String?.none
      }
      return said.string("location")
    }
    #expect(added.filter { $0.contains("/video_0/") }.count == 5)
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try text("\(name)/index.m3u8")
      #expect(list.contains("#EXT-X-MEDIA-SEQUENCE:2\n"), "\(list)")
      #expect(list.contains("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"))
      #expect(list.contains("INDEPENDENT=YES") && list.contains("#EXT-X-PROGRAM-DATE-TIME:"))
      for match in list.matches(of: /(?m)(?:URI="([^"]+)"|^([^#\s]+)$)/) {
        let file = String(match.output.1 ?? match.output.2 ?? "")
        let path = folder.path("\(name)/\(file)")
        #expect(FileManager.default.fileExists(atPath: path), "\(file)")
      }
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
    #expect(!left.contains { $0.hasSuffix(".tmp") })
  }

  @Test(
    "with append, a second run goes on behind a discontinuity; players read both", Judge.isThere)
  func append() async throws {
    for _ in 0..<2 {
      try await play(
        video(60, "key-int-max=30 tune=zerolatency") + sound(94)
          + sink("playlist-type=event target-duration=1 append=true"))
    }
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try text("\(name)/index.m3u8")
      #expect(list.contains("segment00002.m4s") && list.hasSuffix("#EXT-X-ENDLIST\n"), "\(list)")
      #expect(list.components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2, "\(list)")
      #expect(list.components(separatedBy: "#EXT-X-MAP").count == 3, "\(list)")
    }
    let frames = try frames("video_0/index.m3u8", ["--single"])
    #expect(frames.count == 120 && Array(frames.prefix(60)) == Array(frames.suffix(60)))
  }

  @Test("what cannot be gone on with is not replaced")
  func foreignPlaylist() async throws {
    let folder = folder.url.appending(path: "video_0")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let file = folder.appending(path: "index.m3u8")
    try Data("no playlist".utf8).write(to: file)
    let told = try await failure(
      of: video(30, "") + sink("playlist-type=event target-duration=1 append=true"))
    #expect(told.message.contains("cannot be gone on with"), "\(told)")
    #expect(try String(contentsOf: file, encoding: .utf8) == "no playlist")
  }

  @Test("a stream that is stopped in the middle has playlists that end")
  func stopped() async throws {
    let pipeline = try pipeline(
      video(-1, "tune=zerolatency key-int-max=15", live: true)
        + sink("target-duration=1 playlist-type=event"))
    #expect(pipeline.play())
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: folder.path("main.m3u8")) {
      try await Task.sleep(for: .milliseconds(20))
    }
    pipeline.setState(.null)
    let list = try text("video_0/index.m3u8")
    #expect(list.hasSuffix("#EXT-X-ENDLIST\n") && list.contains("segment00000.m4s"), "\(list)")
  }

  @Test("a place that cannot be written is told once, by its name")
  func unwritable() async throws {
    let told = try await failure(
      of: video(30, "") + "mvhevchlssink name=h location=/proc/nowhere/%s-%d.m4s "
        + "init-location=/proc/nowhere/%s.mp4 playlist-location=/proc/nowhere/%s.m3u8")
    #expect(told.message.contains("'/proc/nowhere/video_0.mp4' could not be written"), "\(told)")
  }

  @Test("parts can be no longer than segments, whatever the property says")
  func absurdParts() async throws {
    try await play(
      video(30, "") + sink("target-duration=1 part-duration=9000000000000000000"))
    #expect(try text("video_0/index.m3u8").contains("#EXT-X-PART-INF:PART-TARGET=1.00000"))
  }

  @Test("a folder that is taken away is told once, and no other takes its place")
  func vanishedFolder() async throws {
    let pipeline = try pipeline(
      video(-1, "tune=zerolatency", live: true) + sink("target-duration=1 part-duration=200000000"))
    #expect(pipeline.play())
    async let told = failure(of: pipeline)
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: folder.path("main.m3u8")) {
      try await Task.sleep(for: .milliseconds(20))
    }
    try FileManager.default.removeItem(atPath: folder.path("video_0"))
    let failure = try await told
    #expect(failure.element == "h" && failure.message.contains("could not be written"))
    #expect(!FileManager.default.fileExists(atPath: folder.path("video_0")))
  }

  @Test("where a segment cannot be written, no playlist lists it, and what is listed is there")
  func failedWrite() async throws {
    // A file cannot take the name of a folder.
    try FileManager.default.createDirectory(
      atPath: folder.path("video_0/segment00002.m4s"), withIntermediateDirectories: true)
    let told = try await failure(
      of: video(150, "key-int-max=30") + sound(235)
        + sink("target-duration=1 playlist-type=event part-duration=250000000"))
    #expect(told.element == "h" && told.message.contains("segment00002.m4s"), "\(told)")
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try text("\(name)/index.m3u8")
      let segments = list.split(separator: "\n").filter { $0.hasSuffix(".m4s") }
      #expect(!segments.isEmpty && segments.count <= 3)
      if name == "video_0" { #expect(segments.count == 2, "\(list)") }
      for segment in segments {
        #expect(FileManager.default.fileExists(atPath: folder.path("\(name)/\(segment)")))
      }
    }
    let left = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path)
    #expect(!left.contains { $0.hasSuffix(".tmp") })
  }

  /// A video of one size, to a pad of an element.
  private func clip(_ number: Int, _ size: String, _ count: Int, to target: String) -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,\(size),framerate=30/1 ! sbssplit name=s\(number) "
      + "s\(number).left ! queue ! e\(number).left s\(number).right ! queue ! e\(number).right "
      + "mvhevcenc name=e\(number) speed-preset=ultrafast tune=zerolatency key-int-max=30 ! queue ! "
      + "\(target) "
  }

  @Test(
    "where the size changes, all renditions have a discontinuity, and every picture is there",
    Judge.isThere, arguments: ["", "video/x-h265,stream-format=byte-stream ! "])
  func sizeChange(form: String) async throws {
    try await play(
      clip(1, "width=256,height=128", 75, to: form + "c.sink_0")
        + clip(2, "width=512,height=256", 60, to: form + "c.sink_1")
        + "concat name=c ! h.video_0 " + sound(211)
        + sink("playlist-type=vod target-duration=1 mpd-location=\(folder.path("all.mpd"))"))
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try text("\(name)/index.m3u8")
      let lines = list.split(separator: "\n")
      let place = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"), "\(list)")
      // 75 pictures are three segments.
      #expect(lines[..<place].filter { $0.hasSuffix(".m4s") }.count == 3, "\(list)")
      #expect(lines[place...].filter { $0.hasSuffix(".m4s") }.count == 2, "\(list)")
      #expect(lines.filter { $0 == "#EXT-X-DISCONTINUITY" }.count == 1)
      #expect(list.contains("init00001.mp4") == (name != "audio_0"))
    }
    #expect(try frames("video_0/index.m3u8").count == 270)
    #expect(try frames("video_0_mono/index.m3u8").count == 135)
    #expect(try text("all.mpd").matches(of: /<Period id/).count == 2)
    #expect(try text("main.m3u8").contains("RESOLUTION=256x256"))
  }
}
