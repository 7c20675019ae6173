// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestKit
import Testing

/// Subtitles in `mvhevchlssink`: from files, from movies, and from live sources.
@Suite(.checkedStreams)
struct HLSSubtitleTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  private func subRip() throws -> String {
    try folder.temporaryFolder.write(
      """
      1
      00:00:00,500 --> 00:00:01,500
      <i>one</i> & <font color="red">two</font>

      2
      00:00:01,600 --> 00:00:03,200
      across
      the cut

      3
      00:00:03,500 --> 00:00:03,900
      last

      """, to: "texts.srt")
  }

  /// A movie of four seconds with a text track; gives its path.
  private func movie() async throws -> String {
    let path = folder.path("movie.mov")
    try await play(
      eyes(120, "width=256,height=128,framerate=30/1") + mux(to: path, "key-int-max=30")
        + "filesrc location=\(try subRip()) ! subparse ! "
        + "taginject tags=\"language-code=de\" ! queue ! mux.subtitle_0")
    return path
  }

  private let across = "00:00:01.600 --> 00:00:03.200\nacross\nthe cut\n"

  @Test("texts of a file: a segment for each of the pictures, and what crosses a cut in both")
  func file() async throws {
    try await play(
      folder.video(120, "key-int-max=30")
        + "filesrc location=\(try subRip()) ! subparse ! taginject "
        + "tags=\"language-code=en,title=(string)Commentary\" ! queue ! h.subtitle_0 "
        + folder.sink(
          "playlist-type=vod target-duration=2 forced-subtitles=subtitle_0 "
            + "mpd-location=\(folder.path("all.mpd"))"))
    let first = try folder.text("subtitle_0/segment00000.vtt")
    #expect(first.hasPrefix("WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n"), "\(first)")
    #expect(first.contains("00:00:00.500 --> 00:00:01.500\n<i>one</i> &amp; two\n"), "\(first)")
    let second = try folder.text("subtitle_0/segment00001.vtt")
    #expect(first.contains(across) && second.contains(across), "\(second)")
    #expect(second.contains("\nlast\n") && !first.contains("last"))
    let main = try folder.text("main.m3u8")
    #expect(
      main.contains(
        "TYPE=SUBTITLES,GROUP-ID=\"subtitles\",NAME=\"Commentary\",LANGUAGE=\"en\",DEFAULT=NO,"
          + "AUTOSELECT=YES,FORCED=YES,URI=\"subtitle_0/index.m3u8\""), "\(main)")
    #expect(main.matches(of: /SUBTITLES="subtitles"/).count == 2, "\(main)")
    let list = try folder.text("subtitle_0/index.m3u8")
    #expect(list.matches(of: /#EXTINF:2\.00000,\nsegment\d+\.vtt/).count == 2, "\(list)")
    let manifest = try folder.text("all.mpd")
    #expect(manifest.contains("<Label>Commentary</Label>"), "\(manifest)")
    #expect(manifest.contains("codecs=\"wvtt\""), "\(manifest)")
    try folder.expectWhole(["video_0", "subtitle_0"])
  }

  @Test("qtdemux reads the fragments of DASH as texts, and hlsdemux the segments of HLS")
  func stock() async throws {
    try await play(
      folder.video(120, "key-int-max=30")
        + "filesrc location=\(try subRip()) ! subparse ! queue ! h.subtitle_0 "
        + folder.sink(
          "playlist-type=vod target-duration=2 mpd-location=\(folder.path("all.mpd"))"))
    let pieces = try ["init00000.mp4", "segment00000.m4s", "segment00001.m4s"].map {
      try Data(contentsOf: URL(filePath: folder.path("subtitle_0/\($0)")))
    }
    let track = folder.path("track.mp4")
    try Data(pieces.joined()).write(to: URL(filePath: track))
    let shown = try await record(
      "filesrc location=\(track) ! qtdemux ! fakesink name=sink")[0]
    let texts = shown.map { String(decoding: $0.buffer.bytes, as: UTF8.self) }.joined()
    for text in ["two", "the cut", "last"] { #expect(texts.contains(text), "\(texts)") }
    let listed = try await record(
      "filesrc location=\(folder.path("subtitle_0/index.m3u8")) ! hlsdemux ! subparse ! "
        + "fakesink name=sink")[0]
    let times = listed.map { ($0.buffer.pts ?? 0).seconds }
    #expect(times == [0.5, 1.6, 1.6, 3.5], "\(times)")
  }

  @Test("the text track of a movie, from the muxer to the stream")
  func textTrack() async throws {
    let path = try await movie()
    try await play(
      "filesrc location=\(path) ! mvhevcdemux name=d d.video_0 ! queue ! h.video_0 "
        + "d.meta_0 ! queue ! h.subtitle_0 " + folder.sink("playlist-type=vod target-duration=2"))
    let texts = try (0..<2).map { try folder.text("subtitle_0/segment0000\($0).vtt") }
    #expect(texts[0].contains("00:00:00.500 --> 00:00:01.500\none &amp; two\n"), "\(texts)")
    #expect(texts.allSatisfy { $0.contains(across) }, "\(texts)")
    #expect(texts[1].components(separatedBy: "-->").count == 3, "\(texts)")
    #expect(try folder.text("main.m3u8").contains("LANGUAGE=\"de\""))
  }

  @Test("live, with parts: texts never delay pictures, and no channel waits for the next text")
  func live() async throws {
    let pictures = try await HLSFolder.pictures(6, "tune=zerolatency")
    let pipeline = try pipeline(
      folder.sink("target-duration=1 playlist-type=event part-duration=250000000"))
    let clock = TestClock()
    clock.use(by: pipeline)
    let sink = pipeline.element(named: "h")
    let video = try TestSource(feeding: sink, "video_0")
    let texts = try TestSource(feeding: sink, "subtitle_0")
    pipeline.setState(.playing)
    defer { pipeline.setState(.null) }
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    video.begin(pictures[0].caps, segment)
    texts.begin(Caps("text/x-raw", ["format": "utf8"]))
    for (number, picture) in pictures.enumerated() {
      clock.advance(to: ClockTime(number, perSecond: 30))
      if number == 125 {
        let buffer = Buffer(Array("a < b\n\nnow".utf8))
        (buffer.pts, buffer.duration) = (ClockTime(125, perSecond: 30), .second)
        texts.push(buffer)
      }
      video.push(picture.buffer.copied())
      if number == 150 {
        // Before the segment ends, and though there was one text alone.
        #expect(try folder.text("subtitle_0/index.m3u8").contains("segment00004.2.vtt"))
        #expect(try folder.text("subtitle_0/segment00004.1.vtt").contains("a &lt; b\nnow\n"))
      }
    }
    for source in [video, texts] { source.end() }
    _ = try await messages(of: pipeline)
    let main = try folder.text("main.m3u8")
    #expect(main.contains("NAME=\"subtitle_0\""), "\(main)")
    #expect(
      try folder.text("subtitle_0/segment00005.vtt").contains("4.166 --> 00:00:05.166\na &lt;"))
    try folder.expectWhole(["video_0", "subtitle_0"])
  }

  @Test("WebVTT as webvttenc makes it")
  func webVTT() async throws {
    try await play(
      folder.video(60, "key-int-max=30")
        + "filesrc location=\(try subRip()) ! subparse ! webvttenc ! queue ! h.subtitle_0 "
        + folder.sink("playlist-type=vod target-duration=2"))
    let text = try folder.text("subtitle_0/segment00000.vtt")
    #expect(text.contains("00:00:00.500 --> 00:00:01.500\n"), "\(text)")
    #expect(text.contains(across), "\(text)")
    #expect(text.components(separatedBy: "WEBVTT").count == 2, "\(text)")
  }

  @Test("subtitles alone are no stream")
  func alone() async throws {
    let told = try await failure(
      of: "filesrc location=\(try subRip()) ! subparse ! queue ! h.subtitle_0 " + folder.sink(""))
    #expect(told.message.contains("nothing to write"), "\(told)")
  }
}
