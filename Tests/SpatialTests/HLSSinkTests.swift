// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import Packager
import StereoVideo
import TestKit
import Testing

/// `mvhevchlssink`: what it writes, as independent players read it.
@Suite(.checkedStreams)
struct HLSSinkTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  @Test(
    "a finished movie: both eyes, one eye and audio, for all kinds of players", .tags(.judge),
    Judge.isThere)
  func onDemand() async throws {
    try await play(
      folder.video(90, "key-int-max=30 option-string=bframes=2") + folder.audio(141)
        + folder.sink("playlist-type=vod target-duration=1 mpd-location=\(folder.path("all.mpd"))"))
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      #expect(list.contains("#EXT-X-PLAYLIST-TYPE:VOD\n") && list.hasSuffix("#EXT-X-ENDLIST\n"))
      #expect(list.split(separator: "\n").filter { $0.hasSuffix(".m4s") }.count == 3, "\(list)")
    }
    let main = try folder.text("main.m3u8")
    #expect(main.contains("#EXT-X-VERSION:12\n"))
    #expect(main.contains("CODECS=\"hvc1.1.6.L"))
    #expect(main.contains("mp4a.40.2\"") && main.contains("RESOLUTION=128x128"))
    #expect(!(try folder.text("main-2d.m3u8")).contains("REQ-VIDEO-LAYOUT"))
    try await Judge.expectEyes(
      folder.path("video_0/index.m3u8"), folder.temporaryFolder, count: 90, width: 128, height: 128)
    // The one eye is that of both, bit by bit.
    let base = try folder.frames("video_0/index.m3u8", ["--single"])
    #expect(base.count == 90)
    #expect(try folder.frames("video_0_mono/index.m3u8") == base)
    let keyframes = try folder.frames("video_0_mono/iframe.m3u8")
    #expect(keyframes == [0, 30, 60].map { base[$0] }, "\(base)")
  }

  @Test("a stock HLS demuxer gives mvhevcdemux both eyes of it")
  func stock() async throws {
    try await play(
      folder.video(60, "key-int-max=30 tune=zerolatency")
        + folder.sink("playlist-type=vod target-duration=1"))
    let shown = try await record(
      "filesrc location=\(folder.path("video_0/index.m3u8")) ! hlsdemux ! mvhevcdemux name=d "
        + "d.left ! queue ! avdec_h265 ! fakesink name=sink "
        + "d.right ! queue ! avdec_h265 ! fakesink name=right")
    #expect(shown[0].count == 60)
  }

  @Test("live: the window slides, parts are announced, nothing listed is missing")
  func live() async throws {
    let pictures = try await HLSFolder.pictures(5, "tune=zerolatency")
    let pipeline = try pipeline(
      folder.sink("target-duration=1 playlist-length=3 part-duration=250000000"))
    let clock = TestClock()
    clock.use(by: pipeline)
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    let audio = try TestSource(feeding: pipeline.element(named: "h"), "audio_0")
    pipeline.setState(.playing)
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    video.begin(pictures[0].caps, segment)
    audio.begin(HLSFolder.audioCaps)
    // As they would come by the clock.
    for (number, picture) in pictures.enumerated() {
      clock.advance(to: ClockTime(number, perSecond: 30))
      video.push(picture.buffer.copied())
      audio.push(HLSFolder.packets(number * 10 / 3..<(number + 1) * 10 / 3))
    }
    for source in [video, audio] { source.end() }
    defer { pipeline.setState(.null) }
    let messages = try await messages(of: pipeline)
    let added = messages.compactMap { message in
      guard case .element(let said) = message.content, said.name == "hls-segment-added" else {
        return String?.none
      }
      return said.string("location")
    }
    #expect(added.filter { $0.contains("/video_0/") }.count == 5)
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      #expect(list.contains("#EXT-X-MEDIA-SEQUENCE:2\n"), "\(list)")
      #expect(list.contains("#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES"))
      #expect(list.contains("INDEPENDENT=YES") && list.contains("#EXT-X-PROGRAM-DATE-TIME:"))
    }
    try folder.expectWhole(["video_0", "video_0_mono", "audio_0"])
  }

  @Test(
    "with append, a second run continues after a discontinuity; players read both", .tags(.judge),
    Judge.isThere)
  func append() async throws {
    for _ in 0..<2 {
      try await play(
        folder.video(60, "key-int-max=30 tune=zerolatency") + folder.audio(94)
          + folder.sink("playlist-type=event target-duration=1 append=true"))
    }
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      #expect(list.contains("segment00002.m4s") && list.hasSuffix("#EXT-X-ENDLIST\n"), "\(list)")
      #expect(list.components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2, "\(list)")
      #expect(list.components(separatedBy: "#EXT-X-MAP").count == 3, "\(list)")
    }
    let frames = try folder.frames("video_0/index.m3u8", ["--single"])
    #expect(frames.count == 120 && Array(frames.prefix(60)) == Array(frames.suffix(60)))
  }

  @Test("playlists that cannot be appended to are not replaced")
  func foreignPlaylist() async throws {
    let file = folder.path("video_0/index.m3u8")
    try FileManager.default.createDirectory(
      atPath: folder.path("video_0"), withIntermediateDirectories: true)
    try Data("no playlist".utf8).write(to: URL(filePath: file))
    let told = try await failure(
      of: folder.video(30, "") + folder.sink("playlist-type=event target-duration=1 append=true"))
    #expect(told.message.contains("cannot be appended to"), "\(told)")
    #expect(try folder.text("video_0/index.m3u8") == "no playlist")
  }

  @Test("a stream that is stopped in the middle has playlists that end")
  func stopped() async throws {
    let pictures = try await HLSFolder.pictures(2, "tune=zerolatency")
    let pipeline = try pipeline(folder.sink("target-duration=1 playlist-type=event"))
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    pipeline.setState(.playing)
    video.begin(pictures[0].caps)
    for picture in pictures.prefix(45) { video.push(picture.buffer.copied()) }
    #expect(folder.holds("main.m3u8"))
    pipeline.setState(.null)
    let list = try folder.text("video_0/index.m3u8")
    #expect(list.hasSuffix("#EXT-X-ENDLIST\n") && list.contains("segment00000.m4s"), "\(list)")
  }

  @Test(
    "with append, a stream that is stopped or fails is to be continued: its playlists do not end")
  func toBeContinued() async throws {
    let pictures = try await HLSFolder.pictures(2, "tune=zerolatency")
    for _ in 0..<2 {
      let pipeline = try pipeline(
        folder.sink("target-duration=1 playlist-type=event append=true"))
      let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
      pipeline.setState(.playing)
      video.begin(pictures[0].caps)
      for picture in pictures.prefix(45) { video.push(picture.buffer.copied()) }
      pipeline.setState(.null)
      #expect(!(try folder.text("video_0/index.m3u8")).contains("ENDLIST"))
    }
    let list = try folder.text("video_0/index.m3u8")
    #expect(list.components(separatedBy: "#EXT-X-DISCONTINUITY\n").count == 2, "\(list)")
  }

  /// A live camera and a microphone, each with a valve and a queue: `v`, `qv`, `a`, `qa`.
  private func channel() throws -> Pipeline {
    try pipeline(
      "stereotestsrc is-live=true ! video/x-raw,width=128,height=64,framerate=30/1 ! "
        + "sbssplit name=s s.left ! queue ! e.left s.right ! queue ! e.right "
        + "mvhevcenc name=e speed-preset=ultrafast tune=zerolatency ! valve name=v ! "
        + "queue name=qv ! h.video_0 "
        + "audiotestsrc is-live=true samplesperbuffer=1024 ! audio/x-raw,rate=48000 ! avenc_aac ! "
        + "valve name=a ! queue name=qa ! h.audio_0 "
        + folder.sink("target-duration=1 pad-timeout=1000000000 playlist-type=event"))
  }

  /// Waits until the playlists of these renditions are as wanted.
  private func wait(for names: [String], until isThere: (String) -> Bool) async throws {
    // A limit for hangs.
    for _ in 0..<1200 {
      let lists = names.map { (try? folder.text("\($0)/index.m3u8")) ?? "" }
      if lists.allSatisfy(isThere) { return }
      try await Task.sleep(for: .milliseconds(100))
    }
    Issue.record("\(try names.map { try folder.text("\($0)/index.m3u8") })")
  }

  /// Whether a playlist has two segments after its last gap and discontinuity.
  private func isBack(_ list: String) -> Bool {
    guard let place = list.range(of: "#EXT-X-DISCONTINUITY\n", options: .backwards) else {
      return false
    }
    let rest = list[place.upperBound...]
    return !rest.contains("GAP") && rest.matches(of: /(?m)^segment.*m4s$/).count >= 2
  }

  @Test("a camera that stops has gaps; audio goes on, and the camera comes back", .tags(.realTime))
  func silentCamera() async throws {
    let pipeline = try channel()
    let heard = HeardMessages(of: pipeline)
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    let names = ["video_0", "video_0_mono"]
    try await wait(for: names) { $0.contains("segment00001.m4s") }
    pipeline.element(named: "v")?.set("drop", "true")
    try await wait(for: names) { $0.components(separatedBy: "#EXT-X-GAP").count >= 3 }
    pipeline.element(named: "v")?.set("drop", "false")
    try await wait(for: names, until: isBack)
    pipeline.setState(.null)
    let audio = try folder.text("audio_0/index.m3u8")
    #expect(audio.contains("#EXT-X-DISCONTINUITY\n"))
    #expect(
      heard.warnings.contains { $0.contains("video_0 received nothing for 1.0 s") },
      "\(heard.warnings)")
    try folder.expectWhole(names + ["audio_0"])
  }

  @Test(
    "a channel whose timestamps have jumped, and whose sources all stop",
    .tags(.realTime, .exhaustive))
  func silentAfterJump() async throws {
    let pipeline = try channel()
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    let names = ["video_0", "video_0_mono", "audio_0"]
    try await wait(for: names) { $0.contains("segment00001.m4s") }
    for name in ["qv", "qa"] {
      pipeline.element(named: name)?.staticPad("src")?.offset = -30_000_000_000
    }
    try await wait(for: names, until: isBack)
    for name in ["v", "a"] { pipeline.element(named: name)?.set("drop", "true") }
    try await wait(for: names) { $0.components(separatedBy: "#EXT-X-GAP").count >= 4 }
    for name in ["v", "a"] { pipeline.element(named: name)?.set("drop", "false") }
    try await wait(for: names, until: isBack)
    pipeline.setState(.null)
    try folder.expectWhole(names)
  }

  /// What begins again while it is silent: the valve, the queues whose times jump, and by how many
  /// seconds. Without a jump, the source's clock stood still.
  struct Restart: CustomTestStringConvertible {
    var valve: String
    var queues: [String]
    var seconds: Int64?

    var testDescription: String {
      "\(valve), \(queues), \(seconds.map(String.init) ?? "its clock stood still")"
    }

    static let all = [
      Restart(valve: "a", queues: ["qa"], seconds: -1000),
      Restart(valve: "v", queues: ["qv"], seconds: nil),
      Restart(valve: "a", queues: ["qa", "qv"], seconds: -30),
      Restart(valve: "v", queues: ["qv"], seconds: -30),
      Restart(valve: "a", queues: ["qa"], seconds: nil),
    ]
  }

  @Test(
    "a source whose clock begins again while it is silent comes back beside the others",
    .tags(.realTime), arguments: Restart.all.sampled(2))
  func silentRestart(restart: Restart) async throws {
    let pipeline = try channel()
    let heard = HeardMessages(of: pipeline)
    defer { pipeline.setState(.null) }
    pipeline.setState(.playing)
    let names = ["video_0", "audio_0"]
    try await wait(for: names) { $0.contains("segment00001.m4s") }
    let silent = restart.valve == "v" ? "video_0" : "audio_0"
    let valve = pipeline.element(named: restart.valve)
    valve?.set("drop", "true")
    let stop = ContinuousClock.now
    try await wait(for: [silent]) { $0.components(separatedBy: "#EXT-X-GAP").count >= 4 }
    let away = (ContinuousClock.now - stop) / .seconds(1)
    for queue in restart.queues {
      pipeline.element(named: queue)?.staticPad("src")?.offset =
        restart.seconds.map { $0 * 1_000_000_000 } ?? Int64(-away * 1e9)
    }
    valve?.set("drop", "false")
    try await wait(for: names, until: isBack)
    pipeline.setState(.null)
    let dates = try names.map { name in
      let list = try MediaPlaylist(parsing: folder.text("\(name)/index.m3u8"))
      return try #require(list.segments.last { $0.startsDiscontinuity }?.programDateTime)
    }
    // A busy machine loses a few pictures. They were apart by the time of the silence.
    #expect(abs(dates[0] - dates[1]) < 1_000_000_000, "\(dates)")
    let told = restart.seconds == nil ? "stayed late" : "\(silent) jumped"
    #expect(heard.warnings.contains { $0.contains(told) }, "\(heard.warnings)")
    try folder.expectWhole(names)
  }

  @Test("a source whose second eye is lost for a while has a gap, and a warning; audio goes on")
  func lostEye() async throws {
    let pictures = try await HLSFolder.pictures(4, "tune=zerolatency")
    let others = try await HLSFolder.pictures(1, "tune=zerolatency option-string=ctu=16")
    let pipeline = try pipeline(folder.sink("target-duration=1 playlist-type=event"))
    defer { pipeline.setState(.null) }
    let heard = HeardMessages(of: pipeline)
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    let audio = try TestSource(feeding: pipeline.element(named: "h"), "audio_0")
    pipeline.setState(.playing)
    let caps = pictures[0].caps
    let start = try #require(pictures[0].buffer.pts)
    audio.begin(HLSFolder.audioCaps)
    video.begin(caps)
    for (number, picture) in pictures.enumerated() {
      if number == 60 {
        video.push(.caps(others[0].caps.with(removing: ["layered_codec_data"])))
      }
      if number == 90 { video.push(.caps(caps)) }
      let isLost = 60..<90 ~= number
      let buffer = (isLost ? others[number - 60] : picture).buffer.copied()
      (buffer.pts, buffer.dts) = (picture.buffer.pts, picture.buffer.dts)
      #expect(video.push(buffer) == .ok)
      for packet in HLSFolder.packets(number * 10 / 3..<(number + 1) * 10 / 3) {
        packet.pts = packet.pts.map { $0 + start }
        #expect(audio.push(packet) == .ok)
      }
    }
    for source in [video, audio] { source.push(.endOfStream) }
    try await heard.end()
    pipeline.setState(.null)
    #expect(heard.warnings.count { $0.contains("The second eye of the video on video_0") } == 1)
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      let isGap = list.matches(of: /(#EXT-X-GAP\n)?#EXTINF/).map { $0.output.1 != nil }
      // Where audio leads, segments end with its packets.
      #expect(isGap.prefix(2) == [false, false] && isGap.last == false, "\(list)")
      #expect(isGap.contains(true) == (name != "audio_0"), "\(list)")
    }
  }

  @Test("parts are at most as long as segments, whatever the property")
  func absurdParts() async throws {
    try await play(
      folder.video(30, "") + folder.sink("target-duration=1 part-duration=9000000000000000000"))
    #expect(try folder.text("video_0/index.m3u8").contains("#EXT-X-PART-INF:PART-TARGET=1.00000"))
  }

  /// A video of one size, to a pad of an element.
  private func clip(_ number: Int, _ size: String, _ count: Int, to target: String) -> String {
    "stereotestsrc num-buffers=\(count) ! video/x-raw,\(size),framerate=30/1 ! "
      + "sbssplit name=s\(number) "
      + "s\(number).left ! queue ! e\(number).left s\(number).right ! queue ! e\(number).right "
      + "mvhevcenc name=e\(number) speed-preset=ultrafast tune=zerolatency key-int-max=30 ! "
      + "queue ! \(target) "
  }

  @Test(
    "if the size changes, all renditions have a discontinuity, and no picture is lost",
    .tags(.judge),
    Judge.isThere, arguments: ["", "video/x-h265,stream-format=byte-stream ! "])
  func sizeChange(form: String) async throws {
    try await play(
      clip(1, "width=256,height=128", 75, to: form + "c.sink_0")
        + clip(2, "width=512,height=256", 60, to: form + "c.sink_1")
        + "concat name=c ! h.video_0 " + folder.audio(211)
        + folder.sink("playlist-type=vod target-duration=1 mpd-location=\(folder.path("all.mpd"))"))
    for name in ["video_0", "video_0_mono", "audio_0"] {
      let list = try folder.text("\(name)/index.m3u8")
      let lines = list.split(separator: "\n")
      let place = try #require(lines.firstIndex(of: "#EXT-X-DISCONTINUITY"), "\(list)")
      // 75 pictures are three segments.
      #expect(lines[..<place].filter { $0.hasSuffix(".m4s") }.count == 3, "\(list)")
      #expect(lines[place...].filter { $0.hasSuffix(".m4s") }.count == 2, "\(list)")
      #expect(lines.filter { $0 == "#EXT-X-DISCONTINUITY" }.count == 1)
      #expect(list.contains("init00001.mp4") == (name != "audio_0"))
    }
    #expect(try folder.frames("video_0/index.m3u8").count == 270)
    #expect(try folder.frames("video_0_mono/index.m3u8").count == 135)
    #expect(try folder.text("all.mpd").matches(of: /<Period id/).count == 2)
    #expect(try folder.text("main.m3u8").contains("RESOLUTION=256x256"))
  }
}
