// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Packager
import Testing

/// Subtitles beside pictures and audio: their segments, playlists and sets.
struct SubtitleTests {
  private func subtitles(
    _ name: String, _ language: String? = "en", isDefault: Bool = false, isForced: Bool = false,
    isLive: Bool = false
  ) -> Rendition {
    var subtitles = Rendition.Subtitles(name: language ?? name, language: language)
    (subtitles.isDefault, subtitles.isForced, subtitles.isLive) = (isDefault, isForced, isLive)
    return Rendition(name, subtitles: subtitles)
  }

  private func cue(_ start: Double, _ end: Double, _ text: String) -> SubtitleCue {
    SubtitleCue(
      start: Int64(start * 1e9), end: Int64(end * 1e9), text: text,
      settings: text == "two" ? "line:10%" : "")
  }

  /// A video with cues that are appended when their time has come, and then its end.
  private func packaged(
    _ settings: PackagerSettings, _ subtitles: Rendition, _ cues: [SubtitleCue], seconds: Int,
    date: Int64? = nil
  ) throws -> Disk {
    var packager = Packager<[UInt8]>(settings)
    packager.date = date
    let disk = Disk()
    let (video, text) = (try packager.add(video("v")), try packager.add(subtitles))
    var rest = cues[...]
    for picture in pictures(seconds * 30) {
      while let cue = rest.first, cue.start <= picture.presentationTime {
        try packager.append(cue, to: text)
        rest.removeFirst()
      }
      try packager.append(picture, to: video)
      try packager.reach(picture.presentationTime, of: text)
      try disk.take(&packager)
    }
    for index in [text, video] {
      try packager.end(index)
      try disk.take(&packager)
    }
    return disk
  }

  private let cues = [
    (0.5, 1.5, "one"), (1.5, 4.5, "two"), (1.75, 2.25, "both"), (7.5, 9.0, "last"),
  ]

  private func all() -> [SubtitleCue] { cues.map { cue($0.0, $0.1, $0.2) } }

  @Test("each segment has the cues that are shown in it, with their own times")
  func segments() throws {
    let disk = try packaged(
      PackagerSettings(.onDemand, target: 2), subtitles("s"), all(), seconds: 8)
    #expect(
      try disk.text("s/segment00000.vtt") == """
        WEBVTT
        X-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0

        00:00:00.500 --> 00:00:01.500
        one

        00:00:01.500 --> 00:00:04.500 line:10%
        two

        00:00:01.750 --> 00:00:02.250
        both


        """)
    #expect(
      try disk.text("s/segment00001.vtt") == """
        WEBVTT
        X-TIMESTAMP-MAP=LOCAL:00:00:02.000,MPEGTS:180000

        00:00:01.500 --> 00:00:04.500 line:10%
        two

        00:00:01.750 --> 00:00:02.250
        both


        """)
    #expect(try disk.text("s/segment00003.vtt").contains("00:00:07.500 --> 00:00:09.000\nlast"))
    let (video, text) = (try disk.playlist("v/index.m3u8"), try disk.playlist("s/index.m3u8"))
    #expect(text.segments.map(\.uri) == (0..<4).map { "segment0000\($0).vtt" })
    #expect(text.segments.map(\.duration) == video.segments.map(\.duration))
    #expect(text.hasEnded && text.segments.allSatisfy { $0.map == nil && !$0.isGap })
    // Movie fragments are for DASH alone.
    #expect(!disk.files.keys.contains { $0.hasPrefix("s/") && $0.hasSuffix("m4s") })
  }

  @Test("DASH: fragments whose samples show the same cues, without gaps, in a set of their own")
  func fragments() throws {
    var settings = PackagerSettings(.onDemand, target: 2)
    settings.names.manifest = "manifest.mpd"
    let disk = try packaged(settings, subtitles("s", isForced: true), all(), seconds: 8)
    var bytes = try #require(disk.files["s/init00000.mp4"])
    for number in 0..<4 { bytes += try #require(disk.files["s/segment0000\(number).m4s"]) }
    let track = try track(of: bytes)
    #expect(track.handlerType == "text")
    var end: Int64 = 0
    var shown: [(Double, String)] = []
    for index in 0..<track.samples.count {
      let sample = try #require(track.samples.sample(at: index))
      #expect(sample.presentationTime == end)
      end = sample.presentationTime + Int64(sample.duration)
      let content = bytes[Int(sample.offset)..<Int(sample.offset) + Int(sample.size)]
      let texts = WebVTTTrack.cues(of: Array(content)).map(\.text).joined(separator: "+")
      shown.append((Double(sample.presentationTime) / 90_000, texts))
    }
    #expect(end == 8 * 90_000)
    let expected: [(Double, String)] = [
      (0, ""), (0.5, "one"), (1.5, "two"), (1.75, "two+both"), (2, "two+both"), (2.25, "two"),
      (4, "two"), (4.5, ""), (6, ""), (7.5, "last"),
    ]
    #expect(shown.map(\.0) == expected.map(\.0))
    #expect(shown.map(\.1) == expected.map(\.1))
    let manifest = try disk.text("manifest.mpd")
    let set = try #require(manifest.split(separator: "<AdaptationSet ").last)
    #expect(set.contains("contentType=\"text\" mimeType=\"application/mp4\" lang=\"en\""), "\(set)")
    #expect(set.contains("codecs=\"wvtt\"") && set.contains("value=\"forced-subtitle\""), "\(set)")
    #expect(set.contains("media=\"s/segment$Number%05d$.m4s\""), "\(set)")
  }

  @Test("a live window with parts: texts are listed when pictures are, and removed with them")
  func live() throws {
    var settings = PackagerSettings(.live, target: 2)
    (settings.partDuration, settings.playlistLength) = (500_000_000, 4)
    let disk = try packaged(
      settings, subtitles("s", isLive: true), [cue(0.2, 0.9, "one"), cue(35.1, 35.4, "late")],
      seconds: 40, date: 0)
    let playlist = try disk.playlist("s/index.m3u8")
    #expect(playlist.segments.count == 4 && playlist.mediaSequence == 16)
    let parts = try #require(playlist.segments.last).parts
    #expect(parts.map(\.uri) == (0..<4).map { "segment00019.\($0).vtt" })
    #expect(parts.allSatisfy { $0.duration == 500_000_000 && $0.isIndependent })
    #expect(try disk.text("s/segment00017.2.vtt").contains("35.100 --> 00:00:35.400\nlate"))
    #expect(!(try disk.text("s/segment00017.1.vtt")).contains("late"))
    // Files of pictures and texts go at the same time.
    let kept = ["v", "s"].map { name in
      Set(
        disk.files.keys.filter { $0.hasPrefix("\(name)/segment") }.map { $0.dropFirst().prefix(13) }
      )
    }
    #expect(kept[0] == kept[1] && !kept[0].isEmpty && kept[0].count < 20)
    // Part by part as the pictures come, not at the end of the segment.
    let order = disk.names.filter {
      $0.hasSuffix("segment00003.0.vtt") || $0 == "v/segment00003.m4s"
    }
    #expect(order.first == "s/segment00003.0.vtt")
  }

  @Test("segments wait for texts of a file, but not for those of a live source")
  func waits() throws {
    for isLive in [false, true] {
      var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 1))
      let disk = Disk()
      let video = try packager.add(video("v"))
      let text = try packager.add(subtitles("s", isLive: isLive))
      for picture in pictures(45) { try packager.append(picture, to: video) }
      try disk.take(&packager)
      #expect((disk.files["s/segment00000.vtt"] != nil) == isLive)
      // The cue of a file comes later than the pictures; that of a live source is late.
      try packager.append(cue(0.5, 1.4, "text"), to: text)
      try packager.append(cue(1.2, 1.5, "next"), to: text)
      try disk.take(&packager)
      #expect(try disk.text("s/segment00000.vtt").contains("text") != isLive)
      for index in [video, text] { try packager.end(index) }
      try disk.take(&packager)
      #expect(try disk.text("s/segment00001.vtt").contains("text\n\n00:00:01.200"))
    }
  }

  @Test("after 26.5 hours, the clock of 33 bits begins again, as that of a transport stream does")
  func wrap() throws {
    let hours = 30 * 3600 * second
    var packager = Packager<[UInt8]>(PackagerSettings(.event, target: 1))
    let disk = Disk()
    let (video, text) = (try packager.add(video("v")), try packager.add(subtitles("s")))
    for picture in pictures(30) {
      var picture = picture
      picture.presentationTime += hours
      picture.decodeTime += hours
      try packager.append(picture, to: video)
    }
    try packager.append(
      SubtitleCue(start: hours + second / 2, end: hours + second, text: "x"), to: text)
    for index in [video, text] { try packager.end(index) }
    try disk.take(&packager)
    #expect(
      try disk.text("s/segment00000.vtt").hasPrefix(
        "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:30:00:00.000,MPEGTS:1130065408\n\n30:00:00.500 --> "))
  }

  @Test("the multivariant playlist: one group, unique names, one default at most, in all variants")
  func multivariant() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.onDemand, target: 2))
    let disk = Disk()
    var streams = [try packager.add(video("v")), try packager.add(audio("a"))]
    let texts = [
      subtitles("s0", isDefault: true), subtitles("s1", isDefault: true, isForced: true),
      subtitles("s2", nil),
    ]
    for rendition in texts { streams.append(try packager.add(rendition)) }
    for picture in pictures(60) { try packager.append(picture, to: streams[0]) }
    for packet in packets(94) { try packager.append(packet, to: streams[1]) }
    // Tags may come after the beginning.
    packager.describe(streams[4], as: .init(name: "Untertitel \"A\"", language: "de"))
    for index in streams { try packager.end(index) }
    try disk.take(&packager)
    let main = try disk.text("main.m3u8")
    let lines = main.split(separator: "\n").filter { $0.contains("TYPE=SUBTITLES") }
    let head = "#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID=\"subtitles\","
    let expected = [
      ("\"en\",LANGUAGE=\"en\",DEFAULT=YES,", "NO", 0),
      ("\"en 2\",LANGUAGE=\"en\",DEFAULT=NO,", "YES", 1),
      ("\"Untertitel A\",LANGUAGE=\"de\",DEFAULT=NO,", "NO", 2),
    ].map { text, forced, number in
      head + "NAME=\(text)AUTOSELECT=YES,FORCED=\(forced),URI=\"s\(number)/index.m3u8\""
    }
    #expect(lines.map(String.init) == expected)
    for line in main.split(separator: "\n") where line.hasPrefix("#EXT-X-STREAM-INF") {
      #expect(line.contains("SUBTITLES=\"subtitles\""), "\(line)")
    }
  }

  @Test("with append, the texts of both runs are listed, and the open segment has one header")
  func append() throws {
    var settings = PackagerSettings(.event, target: 2)
    settings.partDuration = 500_000_000
    var packager = Packager<[UInt8]>(settings)
    let disk = Disk()
    let (first, text) = (try packager.add(video("v")), try packager.add(subtitles("s")))
    try packager.append(cue(0.1, 1.2, "one"), to: text)
    for picture in pictures(45) {
      try packager.append(picture, to: first)
      try packager.reach(picture.presentationTime, of: text)
    }
    try disk.take(&packager)
    let open = try disk.playlist("s/index.m3u8")
    #expect(open.openParts.count == 2)
    let paths = settings.names.openPartPaths(of: subtitles("s"), in: open)
    let parts = try paths.map { try #require(disk.files[$0], "\($0)") }
    packager = Packager<[UInt8]>(settings)
    let again = try packager.add(
      video("v"), continuing: EarlierRun(try disk.playlist("v/index.m3u8")))
    let texts = try packager.add(
      subtitles("s"), continuing: EarlierRun(open, openParts: parts))
    for picture in pictures(60) { try packager.append(picture, to: again) }
    for index in [again, texts] { try packager.end(index) }
    try disk.take(&packager)
    let playlist = try disk.playlist("s/index.m3u8")
    #expect(playlist.segments.map(\.isGap) == [false, false])
    #expect(playlist.segments.map(\.startsDiscontinuity) == [false, true])
    let joined = try disk.text("s/segment00000.vtt")
    #expect(joined.ranges(of: "WEBVTT").count == 1, "\(joined)")
    // A cue that two parts show is in both.
    #expect(joined.ranges(of: "\none\n").count == 2, "\(joined)")
  }

  @Test("cues without end, times without sense: bounded work, and nothing traps")
  func extremes() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.live, target: 1))
    let disk = Disk()
    let (video, text) = (try packager.add(video("v")), try packager.add(subtitles("s")))
    let times = [Int64.min, -1, 0, second / 2, .max]
    for _ in 0..<100 {
      for start in times {
        for end in times {
          try packager.append(SubtitleCue(start: start, end: end, text: "x"), to: text)
        }
      }
    }
    for picture in pictures(90) { try packager.append(picture, to: video) }
    for index in [video, text] { try packager.end(index) }
    try disk.take(&packager)
    #expect(try #require(disk.files["s/segment00000.vtt"]).count < 50_000)
  }
}

/// Texts of cues, from markup and from WebVTT itself.
struct WebVTTTests {
  @Test(
    "plain text stays what it is",
    arguments: [
      ("a < b && c --> d", "a &lt; b &amp;&amp; c --&gt; d"), ("one\r\n\r\n \ntwo\n", "one\ntwo"),
      ("\0", "\u{FFFD}"), ("", ""),
    ])
  func plain(text: String, expected: String) { #expect(WebVTT.escaped(text) == expected) }

  @Test(
    "markup keeps bold, italic and underlined text, closed in order",
    arguments: [
      ("<i>one</i> &amp; <span color=\"red\">two</span>", "<i>one</i> &amp; two"),
      ("<b>a <i>b</b> c", "<b>a <i>b c</i></b>"), ("a < b", "a &lt; b"), ("<I>x", "<i>x</i>"),
      ("&lt;b&gt; &nonsense; &", "&lt;b&gt; &amp;nonsense; &amp;"),
    ])
  func markup(text: String, expected: String) {
    let entities: [Substring: Character] = ["amp": "&", "lt": "<", "gt": ">"]
    #expect(WebVTT.styled(text) { entities[$0] } == expected)
  }

  @Test("cues of a file, without what is damaged")
  func parsing() {
    let file = """
      WEBVTT - a title

      NOTE 00:00:00.000 --> 00:00:01.000

      STYLE
      ::cue { color: red }

      first
      00:01.000 --> 00:00:02.500 line:0 nonsense align:start
      <v Anna>one
      two

      00:00:03.000 --> x
      lost

      00:99999999999999999999:03.000 --> 00:00:04.000
      lost

      01:00:00.000 --> 01:00:01.000
      last
      """
    #expect(
      WebVTT.cues(in: file) == [
        SubtitleCue(
          start: second, end: 5 * second / 2, text: "<v Anna>one\ntwo",
          settings: "line:0 align:start"),
        SubtitleCue(start: 3600 * second, end: 3601 * second, text: "last"),
      ])
  }
}
