// SPDX-License-Identifier: MPL-2.0

import Packager
import Testing

struct MediaPlaylistTests {
  private static let second: UInt64 = 1_000_000_000
  /// 2026-11-22T02:03:56Z
  private static let start: Int64 = 1_795_313_036_000_000_000

  /// A live playlist of segments of two seconds.
  private func live(_ count: Int, from first: UInt64 = 0) -> MediaPlaylist {
    var playlist = MediaPlaylist(.live, targetDuration: 2, mediaSequence: first)
    for index in 0..<count {
      var segment = MediaSegment(
        "segment\(index).m4s", duration: 2 * Self.second, map: InitializationSection("init.mp4"))
      segment.programDateTime = Self.start + Int64(index) * 2_000_000_000
      playlist.append(segment)
    }
    return playlist
  }

  @Test("a finished movie")
  func onDemand() {
    var playlist = MediaPlaylist(.onDemand, targetDuration: 6)
    for (index, duration) in [6_000_000_000, 5_966_666_667].enumerated() {
      playlist.append(
        MediaSegment(
          "segment\(index).m4s", duration: UInt64(duration),
          map: InitializationSection("init00000.mp4")))
    }
    playlist.hasEnded = true
    #expect(
      playlist.text == """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:6
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-MAP:URI="init00000.mp4"
        #EXTINF:6.00000,
        segment0.m4s
        #EXTINF:5.96667,
        segment1.m4s
        #EXT-X-ENDLIST

        """)
  }

  @Test("single pictures, by their bytes")
  func pictures() {
    var playlist = MediaPlaylist(.onDemand, targetDuration: 1)
    playlist.isIFramesOnly = true
    var picture = MediaSegment(
      "segment0.m4s", duration: Self.second,
      map: InitializationSection("all.mp4", byteRange: ByteRange(length: 800, offset: 0)))
    picture.byteRange = ByteRange(length: 36_950, offset: 24)
    playlist.append(picture)
    #expect(
      playlist.text == """
        #EXTM3U
        #EXT-X-VERSION:5
        #EXT-X-TARGETDURATION:1
        #EXT-X-MEDIA-SEQUENCE:0
        #EXT-X-PLAYLIST-TYPE:VOD
        #EXT-X-I-FRAMES-ONLY
        #EXT-X-MAP:URI="all.mp4",BYTERANGE="800@0"
        #EXTINF:1.00000,
        #EXT-X-BYTERANGE:36950@24
        segment0.m4s

        """)
  }

  @Test("old segments leave a live playlist; its map and its discontinuities are kept")
  func window() {
    var playlist = live(3)
    var changed = MediaSegment(
      "segment3.m4s", duration: 2 * Self.second, map: InitializationSection("init1.mp4"))
    changed.startsDiscontinuity = true
    changed.programDateTime = Self.start + 6_000_000_000
    playlist.append(changed)
    var gap = MediaSegment(
      "segment4.m4s", duration: 2 * Self.second, map: InitializationSection("init1.mp4"))
    gap.isGap = true
    playlist.append(gap)
    #expect(playlist.removeAll(but: 3).map(\.uri) == ["segment0.m4s", "segment1.m4s"])
    #expect(
      playlist.text == """
        #EXTM3U
        #EXT-X-VERSION:6
        #EXT-X-TARGETDURATION:2
        #EXT-X-MEDIA-SEQUENCE:2
        #EXT-X-DISCONTINUITY-SEQUENCE:0
        #EXT-X-MAP:URI="init.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2026-11-22T02:04:00.000Z
        #EXTINF:2.00000,
        segment2.m4s
        #EXT-X-DISCONTINUITY
        #EXT-X-MAP:URI="init1.mp4"
        #EXT-X-PROGRAM-DATE-TIME:2026-11-22T02:04:02.000Z
        #EXTINF:2.00000,
        segment3.m4s
        #EXT-X-GAP
        #EXTINF:2.00000,
        segment4.m4s

        """)
    for index in 5..<8 {
      playlist.append(
        MediaSegment(
          "segment\(index).m4s", duration: 2 * Self.second, map: InitializationSection("init1.mp4"))
      )
    }
    #expect(playlist.removeAll(but: 3).count == 3)
    #expect(playlist.discontinuitySequence == 1 && playlist.mediaSequence == 5)
    #expect(playlist.text.contains("#EXT-X-MAP:URI=\"init1.mp4\"\n#EXTINF"))
  }

  @Test("at least three target durations remain, and an event loses nothing")
  func minimum() {
    var playlist = live(10)
    #expect(playlist.removeAll(but: 1).count == 7)
    playlist.kind = .event
    #expect(playlist.removeAll(but: 1).isEmpty)
  }

  /// With low latency, 20 segments, and two parts of the next.
  private func lowLatency() -> MediaPlaylist {
    var playlist = MediaPlaylist(.live, targetDuration: 2, mediaSequence: 100)
    playlist.lowLatency = LowLatency(
      partTarget: Self.second / 2, partHoldBack: 1_536_000_000, canSkipUntil: 12 * Self.second)
    for index in 100..<120 {
      for part in 0..<4 {
        playlist.append(
          PartialSegment(
            "segment\(index).\(part).m4s", duration: Self.second / 2, isIndependent: part == 0))
      }
      var segment = MediaSegment(
        "segment\(index).m4s", duration: 2 * Self.second, map: InitializationSection("init.mp4"))
      segment.programDateTime = Self.start + Int64(index - 100) * 2_000_000_000
      playlist.append(segment)
    }
    for part in 0..<2 {
      playlist.append(
        PartialSegment(
          "segment120.\(part).m4s", duration: Self.second / 2, isIndependent: part == 0))
    }
    playlist.preloadHint = "segment120.2.m4s"
    playlist.renditionReports = [
      RenditionReport(uri: "../audio_0/index.m3u8", lastSequence: 120, lastPart: 1)
    ]
    return playlist
  }

  @Test("low latency: parts near the end, the hint and the reports")
  func parts() {
    let lines = lowLatency().text.split(separator: "\n").map(String.init)
    #expect(
      Array(lines.prefix(9)) == [
        "#EXTM3U", "#EXT-X-VERSION:6", "#EXT-X-TARGETDURATION:2",
        "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.53600,CAN-SKIP-UNTIL=12.00000",
        "#EXT-X-PART-INF:PART-TARGET=0.50000", "#EXT-X-MEDIA-SEQUENCE:100",
        "#EXT-X-DISCONTINUITY-SEQUENCE:0", "#EXT-X-MAP:URI=\"init.mp4\"",
        "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T02:03:56.000Z",
      ])
    #expect(
      Array(lines.suffix(7)) == [
        "#EXT-X-PART:DURATION=0.50000,URI=\"segment119.3.m4s\"",
        "#EXTINF:2.00000,", "segment119.m4s",
        "#EXT-X-PART:DURATION=0.50000,URI=\"segment120.0.m4s\",INDEPENDENT=YES",
        "#EXT-X-PART:DURATION=0.50000,URI=\"segment120.1.m4s\"",
        "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"segment120.2.m4s\"",
        "#EXT-X-RENDITION-REPORT:URI=\"../audio_0/index.m3u8\",LAST-MSN=120,LAST-PART=1",
      ])
    // Three target durations of whole segments.
    #expect(lines.filter { $0.hasPrefix("#EXT-X-PART:") }.count == 3 * 4 + 2)
  }

  @Test("the parts of an open segment come after the tags that they need")
  func openSegment() throws {
    var playlist = lowLatency()
    let parts = playlist.openParts
    var segment = MediaSegment("", duration: 0, map: InitializationSection("other.mp4"))
    segment.startsDiscontinuity = true
    segment.programDateTime = Self.start
    playlist.describeOpenSegment(as: segment)
    #expect(playlist.openParts == parts)
    let lines = playlist.text.split(separator: "\n").map(String.init)
    #expect(
      Array(lines.suffix(8).prefix(5)) == [
        "segment119.m4s", "#EXT-X-DISCONTINUITY", "#EXT-X-MAP:URI=\"other.mp4\"",
        "#EXT-X-PROGRAM-DATE-TIME:2026-11-22T02:03:56.000Z",
        "#EXT-X-PART:DURATION=0.50000,URI=\"segment120.0.m4s\",INDEPENDENT=YES",
      ])
    let again = try MediaPlaylist(parsing: playlist.text)
    #expect(again.openSegment == playlist.openSegment && again.text == playlist.text)
    // As the first one of all, too.
    var first = MediaPlaylist(.event, targetDuration: 2)
    first.describeOpenSegment(as: segment)
    for part in parts { first.append(part) }
    #expect(try MediaPlaylist(parsing: first.text).openSegment == first.openSegment)
  }

  @Test("an update skips segments that players have had for long, and no more")
  func deltaUpdate() throws {
    let playlist = lowLatency()
    let lines = playlist.deltaUpdate.split(separator: "\n").map(String.init)
    #expect(lines[1] == "#EXT-X-VERSION:9")
    // 41 s in all: 14 segments are completely older than 12 s.
    #expect(lines.contains("#EXT-X-SKIP:SKIPPED-SEGMENTS=14"))
    let whole = playlist.text.split(separator: "\n").map(String.init)
    let first = try #require(lines.firstIndex { $0.hasPrefix("#EXT-X-SKIP") })
    #expect(Array(whole.suffix(lines.count - first - 1)) == Array(lines[(first + 1)...]))
    #expect(live(3).deltaUpdate == live(3).text)
  }

  @Test("a written playlist is parsed, and written the same again")
  func roundTrip() throws {
    var vod = live(4)
    vod.kind = .onDemand
    vod.hasEnded = true
    for playlist in [live(5, from: 7), vod, lowLatency()] {
      let again = try MediaPlaylist(parsing: playlist.text)
      #expect(again.text == playlist.text)
      #expect(again.nextSequence == playlist.nextSequence)
    }
    #expect(try MediaPlaylist(parsing: live(3).text) == live(3))
    #expect(
      try MediaPlaylist(parsing: live(3).text.replacing("\n", with: "\r\n")).segments.count == 3)
  }

  @Test(
    "malformed playlists are refused with the line, and never trap",
    arguments: [
      "", "hello", "#EXTM3U\n", "#EXTM3U\n#EXT-X-TARGETDURATION:0\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\nsegment.m4s\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:-1,\na\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXTINF:99999999999999999999,\na\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MEDIA-SEQUENCE:18446744073709551615\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-PART:URI=\"a\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:6\n#EXT-X-MAP:BYTERANGE=\"4@\n",
    ])
  func refused(text: String) {
    #expect(throws: PlaylistError.self) { try MediaPlaylist(parsing: text) }
  }

  @Test(
    "dates of all years are those of the calendar",
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (951_782_400, "2000-02-29T00:00:00.000Z"),
      (1_709_164_799, "2024-02-28T23:59:59.000Z"), (4_107_542_400, "2100-03-01T00:00:00.000Z"),
      (-1, "1969-12-31T23:59:59.000Z"),
    ])
  func dates(seconds: Int64, text: String) throws {
    var playlist = MediaPlaylist(.live, targetDuration: 1)
    var segment = MediaSegment("a", duration: Self.second)
    segment.programDateTime = seconds * 1_000_000_000
    playlist.append(segment)
    #expect(playlist.text.contains("#EXT-X-PROGRAM-DATE-TIME:\(text)\n"))
    let again = try MediaPlaylist(parsing: playlist.text)
    #expect(again.segments.first?.programDateTime == segment.programDateTime)
  }
}
