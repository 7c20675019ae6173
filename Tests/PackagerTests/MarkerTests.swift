// SPDX-License-Identifier: MPL-2.0

import Foundation
import Packager
import StereoVideo
import TestKit
import Testing

/// Markers in playlists and manifests, and messages of SCTE 35.
struct MarkerTests {
  /// The examples of SCTE 35 (14.1, 14.2): the start of a placement, and a splice of a minute.
  private static let signal =
    "/DA0AAAAAAAA///wBQb+cr0AUAAeAhxDVUVJSAAAjn/PAAGlmbAICAAAAAAsoKGKNAIAmsnRfg=="
  private static let insert = "/DAvAAAAAAAA///wFAVIAACPf+/+c2nALv4AUsz1AAAAAAAKAAhDVUVJAAABNWLbowo="

  private static func message(_ text: String) throws -> [UInt8] {
    [UInt8](try #require(Data(base64Encoded: text)))
  }

  @Test("the examples of SCTE 35 are read")
  func examples() throws {
    let insert = try SpliceInfo(try Self.message(Self.insert))
    #expect(insert.event == 0x4800_008F && insert.role == .out && insert.time == 0x0_7369_C02E)
    #expect(insert.duration == 60_293_566_666 && insert.returnsByItself && !insert.isCancelled)
    let signal = try SpliceInfo(try Self.message(Self.signal))
    #expect(signal.event == 0x4800_008E && signal.role == .out && signal.time == 0x0_72BD_0050)
    #expect(signal.duration == 307_000_000_000 && !signal.returnsByItself)
  }

  @Test("a message that is cut off or damaged is an error or another message, and never traps")
  func damaged() throws {
    for text in [Self.insert, Self.signal] {
      let message = try Self.message(text)
      for count in message.indices {
        #expect(throws: SyntaxError.self) { try SpliceInfo(Array(message.prefix(count))) }
      }
      for index in message.indices {
        for bit in 0..<8 {
          var changed = message
          changed[index] ^= 1 << UInt8(bit)
          let info = try? SpliceInfo(changed)
          _ = info.flatMap { Marker($0, message: changed, at: .max) }
        }
      }
    }
  }

  private func marker(
    _ id: String, _ time: Double, _ role: Marker.Role, duration: UInt64? = nil
  ) -> Marker {
    var marker = Marker(id: id, time: Int64(time * 1e9), role: role, message: [0xFC, 0x30, 0x0A])
    marker.duration = duration
    return marker
  }

  /// What is written of ten seconds with keyframes every second, with markers that come when the
  /// stream is at a time.
  private func run(
    _ kind: MediaPlaylist.Kind, _ markers: [(at: Int, Marker)], parts: UInt64 = 0, gop: Int = 30,
    cues: Bool = true, seconds: Int = 10
  ) throws -> Disk {
    var settings = PackagerSettings(kind, target: 4)
    settings.playlistLength = 2
    settings.partDuration = parts
    settings.hasCues = cues
    settings.names.manifest = "manifest.mpd"
    let disk = Disk()
    var packager = Packager<[UInt8]>(settings)
    // 2026-11-27 00:00.
    packager.date = 1_795_737_600 * second
    let (stereo, sound) = (
      try packager.add(video("v", iFrames: true)), try packager.add(audio("a"))
    )
    for place in 0..<seconds {
      for (at, marker) in markers where at == place {
        let (isNew, isNewAgain) = (packager.append(marker), packager.append(marker))
        #expect(isNew && !isNewAgain)
      }
      try play(
        &packager,
        [
          stereo: pictures(30, gop: gop, from: place * 30),
          sound: packets(47, from: place * 47),
        ], to: disk, ends: false)
    }
    try packager.end(stereo)
    try packager.end(sound)
    try disk.take(&packager)
    return disk
  }

  @Test("segments are cut at a break and its end, in all renditions, and playlists say why")
  func breakOfThreeSeconds() throws {
    let disk = try run(
      .event,
      [(0, marker("ad", 3, .out, duration: 3_000_000_000)), (4, marker("ad", 6, .in))])
    for name in ["v", "a"] {
      let text = try disk.text("\(name)/index.m3u8")
      let lengths = text.matches(of: /#EXTINF:([0-9]+)/).map { Int($0.output.1) }
      #expect(lengths.first == (name == "v" ? 3 : 2) || lengths.first == 3, "\(text)")
      let lines = text.split(separator: "\n").map(String.init)
      let out = try #require(
        lines.firstIndex(
          of: "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2026-11-27T00:00:03.000Z\","
            + "PLANNED-DURATION=3.000,SCTE35-OUT=0xFC300A"), "\(text)")
      #expect(lines[out + 1] == "#EXT-X-CUE-OUT:3.000", "\(text)")
      #expect(lines[out + 3] == "segment00001.m4s", "\(text)")
      let back = try #require(
        lines.firstIndex(
          of: "#EXT-X-DATERANGE:ID=\"ad\",START-DATE=\"2026-11-27T00:00:03.000Z\","
            + "DURATION=3.000,SCTE35-IN=0xFC300A"), "\(text)")
      #expect(
        lines[back + 1] == "#EXT-X-CUE-IN" && lines[back + 3] == "segment00002.m4s", "\(text)")
      #expect(text.components(separatedBy: "DATERANGE").count == 3)
    }
    #expect(disk.keyframes.contains(3 * second) && disk.keyframes.contains(6 * second))
    #expect(!(try disk.text("v/iframe.m3u8")).contains("CUE"))
    let manifest = try disk.text("manifest.mpd")
    #expect(
      manifest.contains(
        """
            <EventStream schemeIdUri="urn:scte:scte35:2014:xml+bin" timescale="1000">
              <Event presentationTime="3000" duration="3000" id="1342213061">
                <Signal xmlns="http://www.scte.org/schemas/35/2016">
                  <Binary>/DAK</Binary>
                </Signal>
              </Event>
              <Event presentationTime="6000" id="
        """), "\(manifest)")
  }

  @Test("messages at the same time have numbers of their own, which stay: players drop repetitions")
  func numbers() throws {
    var other = marker("other", 3, .out)
    other.message.append(7)
    let disk = try run(.event, [(0, marker("ad", 3, .out)), (0, other), (5, marker("ad", 6, .in))])
    let ids = try disk.text("manifest.mpd").matches(of: /<Event .*id="([0-9]+)"/).map(\.output.1)
    #expect(Set(ids).count == 3 && ids.allSatisfy { UInt32($0) != nil }, "\(ids)")
    let again = try run(.event, [(0, marker("ad", 3, .out)), (0, other)]).text("manifest.mpd")
    #expect(ids.prefix(2).allSatisfy { again.contains("id=\"\($0)\"") }, "\(again)")
  }

  @Test("without keyframes at the right time, the cut is at the next one")
  func lateKeyframe() throws {
    let disk = try run(.event, [(0, marker("ad", 2.5, .out))])
    let text = try disk.text("v/index.m3u8")
    #expect(text.contains("00:00:02.500Z\",SCTE35-OUT"), "\(text)")
    #expect(text.contains("#EXT-X-CUE-OUT\n#EXTINF:4.00000,\nsegment00001.m4s"), "\(text)")
    #expect(text.contains("#EXTINF:3.00000,\nsegment00000.m4s"), "\(text)")
  }

  @Test("a break that returns by itself has an end without a message")
  func automaticReturn() throws {
    var marker = marker("ad", 2, .out, duration: 3_000_000_000)
    marker.returnsByItself = true
    let text = try run(.event, [(0, marker)]).text("v/index.m3u8")
    #expect(text.contains("#EXT-X-CUE-OUT:3.000\n#EXTINF:3.00000,\nsegment00001.m4s"), "\(text)")
    #expect(text.contains("#EXT-X-CUE-IN\n#EXTINF:4.00000,\nsegment00002.m4s"), "\(text)")
    #expect(!text.contains("SCTE35-IN"))
  }

  @Test("a range stays listed while it overlaps the window, and goes with it")
  func window() throws {
    let long = try run(
      .live, [(0, marker("long", 1, .out, duration: 60_000_000_000)), (0, marker("x", 2, .other))],
      cues: false, seconds: 40)
    let text = try long.text("v/index.m3u8")
    #expect(!text.contains("segment00000.m4s") && !text.contains("CUE"), "\(text)")
    #expect(text.contains("ID=\"long\"") && !text.contains("ID=\"x\""), "\(text)")
    let short = try run(
      .live, [(0, marker("short", 1, .out, duration: 5_000_000_000))], seconds: 40)
    #expect(!(try short.text("v/index.m3u8")).contains("DATERANGE"))
    #expect(!(try short.text("manifest.mpd")).contains("EventStream"))
  }

  @Test("playlists are read with their ranges, and delta updates have all of them")
  func reading() throws {
    let disk = try run(
      .event, [(0, marker("one", 1, .out)), (9, marker("two", 12, .in))], parts: 500_000_000,
      seconds: 40)
    let text = try disk.text("v/index.m3u8")
    var playlist = try MediaPlaylist(parsing: text)
    #expect(playlist.text == text)
    playlist.hasEnded = false
    let delta = playlist.deltaUpdate
    #expect(delta.contains("#EXT-X-SKIP:") && !delta.contains("segment00001.m4s"), "\(delta)")
    #expect(delta.components(separatedBy: "#EXT-X-DATERANGE").count == 3, "\(delta)")
  }

  @Test("an independent parser reads ranges and cues", .tags(.judge))
  func judged() throws {
    let folder = try TemporaryFolder()
    let disk = try run(
      .event,
      [(0, marker("ad", 3, .out, duration: 3_000_000_000)), (4, marker("ad", 6, .in))])
    let path = try folder.write(try disk.text("v/index.m3u8"), to: "index.m3u8")
    let lines = try Python.lines([
      "-c",
      """
      import m3u8, sys
      playlist = m3u8.load(sys.argv[1])
      for segment in playlist.segments:
          ranges = [(r.id, r.start_date, r.planned_duration, r.duration, r.scte35_out, r.scte35_in)
                    for r in segment.dateranges]
          print(segment.uri, segment.cue_out_start, segment.cue_in, ranges)
      """, path,
    ])
    let start = "'2026-11-27T00:00:03.000Z'"
    #expect(lines[0] == "segment00000.m4s False False []", "\(lines)")
    #expect(
      lines[1] == "segment00001.m4s True False [('ad', \(start), 3.0, None, '0xFC300A', None)]",
      "\(lines)")
    #expect(
      lines[2] == "segment00002.m4s False True [('ad', \(start), None, 3.0, None, '0xFC300A')]",
      "\(lines)")
  }

  @Test("floods and times at the ends of their type cost little")
  func hostile() throws {
    var packager = Packager<[UInt8]>(PackagerSettings(.live, target: 1))
    let stereo = try packager.add(video("v"))
    for time in [Int64.min, .max, -1, 0] {
      for role in [Marker.Role.out, .in, .other] {
        var marker = Marker(id: "\"\n#EXT-X-ENDLIST", time: time, role: role)
        marker.duration = .max
        marker.returnsByItself = true
        _ = packager.append(marker)
      }
    }
    for number in 0..<1500 {
      _ = packager.append(Marker(id: "\(number)", time: Int64(number) << 40, role: .out))
    }
    packager.date = .max
    let disk = Disk()
    try play(&packager, [stereo: pictures(90)], to: disk)
    let text = try disk.text("v/index.m3u8")
    #expect(text.components(separatedBy: "\n#EXT-X-ENDLIST\n").count == 2, "\(text)")
  }
}
