// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import ISOBMFF
import SpatialElements
import StereoVideo
import TestKit
import Testing

/// Texts, time codes and chapters that `mvhevcmux` makes tracks of.
struct MuxTextTests {
  let folder: TemporaryFolder
  var path: String { folder.path("movie.mov") }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func texts(_ file: MovieFile, _ track: Track) -> [String] {
    track.allSamples.map { sample in
      let bytes = file.bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)]
      let length = bytes.prefix(2).reduce(0) { $0 << 8 | Int($1) }
      return String(decoding: bytes.dropFirst(2).prefix(length), as: UTF8.self)
    }
  }

  @Test(
    "texts with tags and entities are written without",
    arguments: [
      ("<i>Tom &amp; Jerry</i>", "Tom & Jerry"), ("a < b & c", "a < b & c"), ("&lt;b&gt;", "<b>"),
      ("<span color=\"red\">&#39;&#x41;&quot;</span>", "'A\""), ("&nbsp; &", "&nbsp; &"),
      ("<b>one\ntwo</b>", "one\ntwo"), ("&#xFFFFFFFFFF;&#xD800;", "&#xFFFFFFFFFF;&#xD800;"),
      ("", ""), ("<", "<"), ("&", "&"), ("&;", "&;"),
    ])
  func markup(text: String, plain: String) { #expect(MuxSubtitles.plain(text) == plain) }

  @Test(
    "subtitles become a track of timed text, with nothing between them", .tags(.judge),
    arguments: ["mov", "mp4"])
  func subtitles(container: String) async throws {
    let source = folder.path("text.srt")
    try Data(
      """
      1
      00:00:00,500 --> 00:00:01,000
      Hello

      2
      00:00:01,500 --> 00:00:01,900
      Über den Wolken

      """.utf8
    ).write(to: URL(filePath: source))
    try await play(
      eyes(60, "width=128,height=64")
        + "filesrc location=\(source) ! subparse ! text/x-raw,format=utf8 ! queue ! mux.subtitle_0 "
        + mux(to: path, "container=\(container)"))
    let file = try MovieFile(path)
    let track = try #require(file.tracks("sbtl").first)
    #expect(texts(file, track) == ["", "Hello", "", "Über den Wolken"])
    #expect(track.allSamples.map(\.duration) == [45_000, 45_000, 45_000, 36_000])
    #expect(track.edits.first?.mediaTime == 0)
    let said = try Python.lines([
      "-c",
      """
      import av, sys
      with av.open(sys.argv[1]) as movie:
          s = movie.streams.subtitles[0]
          print(s.codec_context.name, [
              (float(p.pts * p.time_base), round(float(p.duration * p.time_base), 3))
              for p in movie.demux(s) if p.size > 2])
      """, path,
    ])
    #expect(said == ["mov_text [(0.5, 0.5), (1.5, 0.4)]"])
  }

  @Test(
    "time codes of frames become a track that the video refers to", .tags(.judge),
    arguments: [false, true])
  func timeCode(dropFrame: Bool) async throws {
    let rate = dropFrame ? "30000/1001" : "25/1"
    try await play(
      "stereotestsrc num-buffers=10 ! video/x-raw,width=128,height=64,framerate=\(rate) ! "
        + "timecodestamper drop-frame=\(dropFrame) timecode-offset=9000 ! sbssplit name=s "
        + "s.left ! queue ! mux.left s.right ! queue ! mux.right " + mux(to: path))
    let file = try MovieFile(path)
    let track = try #require(file.tracks("tmcd").first)
    #expect(try file.video().references.map(\.type) == ["tmcd"])
    #expect(try file.video().references.first?.track == track.id)
    let sample = try #require(track.allSamples.first)
    #expect(track.samples.count == 1)
    #expect(
      file.bytes[Int(sample.offset)..<Int(sample.offset) + 4].reduce(0) { $0 << 8 | Int($1) }
        == 9000)
    #expect(sample.duration == (dropFrame ? 10_010 : 10))
    let said = try Python.lines([
      "-c",
      """
      import av, sys
      with av.open(sys.argv[1]) as movie: print(movie.streams.video[0].metadata.get("timecode"))
      """, path,
    ])
    // 9000 frames: six minutes, or five and the numbers that were left out.
    #expect(said == [dropFrame ? "00:05:00;10" : "00:06:00:00"])
  }

  @Test(
    "chapters of a table of contents become a track that players list", .tags(.judge),
    arguments: ["event", "GstTocSetter"])
  func chapters(by way: String) async throws {
    let pipeline = try pipeline(eyes(90, "width=128,height=64") + mux(to: path))
    let toc = gst_toc_new(GST_TOC_SCOPE_GLOBAL)
    for (index, name) in ["Beginning", "Äußerstes", "End"].enumerated() {
      let entry = gst_toc_entry_new(GST_TOC_ENTRY_TYPE_CHAPTER, "\(index)")
      let tags = TagList()
      tags.set(GST_TAG_TITLE, .string(name))
      gst_toc_entry_set_tags(entry, gst_tag_list_ref(tags.pointer))
      gst_toc_entry_set_start_stop_times(
        entry, gint64(index) * 1_000_000_000, gint64(index + 1) * 1_000_000_000)
      gst_toc_append_entry(toc, entry)
    }
    pipeline.setState(.ready)
    if way == "GstTocSetter" {
      let setter = try #require(pipeline.element(named: "mux"))
      gst_toc_setter_set_toc(OpaquePointer(setter.pointer), toc)
    }
    let mux = try #require(pipeline.element(named: "mux")?.staticPad("left"))
    let once = Locked<Event?>(way == "event" ? Event(adopting: gst_event_new_toc(toc, 0)) : nil)
    gst_mini_object_unref(toc.map { UnsafeMutablePointer($0) })
    let peer = try #require(mux.peer)
    peer.onEachBuffer { pad, _ in
      let event = once.withLock { event in
        defer { event = nil }
        return event
      }
      if let event { pad.push(event) }
      return .passes
    }
    try await play(pipeline)
    let file = try MovieFile(path)
    let track = try #require(file.tracks("text").first)
    #expect(texts(file, track) == ["Beginning", "Äußerstes", "End"])
    #expect(track.allSamples.map(\.duration) == [1000, 1000, 1000])
    #expect(!track.isEnabled)
    #expect(try file.video().references.map(\.type) == ["chap"])
    let said = try Python.lines([
      "-c",
      """
      import av, sys
      with av.open(sys.argv[1]) as movie:
          for c in movie.chapters(): print(c["metadata"]["title"], c["start"] * c["time_base"])
      """, path,
    ])
    #expect(said == ["Beginning 0", "Äußerstes 1", "End 2"])
  }
}
