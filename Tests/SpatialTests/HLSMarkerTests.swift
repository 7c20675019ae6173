// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestElements
import TestKit
import Testing

/// Messages of SCTE 35 through `mvhevchlssink`.
@Suite(.checkedStreams)
struct HLSMarkerTests {
  private let folder: HLSFolder
  /// The examples of SCTE 35 (14.2): a break of a minute, with the number 4800008F.
  private static let insert =
    "0xFC302F000000000000FFFFF014054800008F7FEFFE7369C02EFE0052CCF500000000000A00084355454900000135"
    + "62DBA30A"

  init() throws {
    // There are no events before GStreamer has begun.
    try BuiltPlugin.require()
    folder = try HLSFolder()
  }

  /// Feeds four seconds of pictures, with events before some of them; returns the warnings.
  private func run(
    _ properties: String, _ events: [(before: Int, Event)]
  ) async throws -> [String] {
    let pictures = try await HLSFolder.pictures(4, "tune=zerolatency")
    let pipeline = try pipeline(folder.sink("target-duration=4 \(properties)"))
    defer { pipeline.setState(.null) }
    let heard = HeardMessages(of: pipeline)
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    pipeline.setState(.playing)
    video.begin(pictures[0].caps)
    for (number, picture) in pictures.enumerated() {
      for (before, event) in events where before == number { video.push(event) }
      #expect(video.push(picture.buffer.copied()) == .ok)
    }
    video.push(.endOfStream)
    try await heard.end()
    pipeline.setState(.null)
    return heard.warnings
  }

  /// The encoder's timestamps begin at 1000 hours, which is the running time here.
  @Test("a break is cut at the next keyframe, listed in all renditions, and in the manifest")
  func insert() async throws {
    let data = Event.custom("application/x-scte35", ["data": .string(Self.insert)])
    let back = Event.custom(
      "application/x-scte35",
      [
        "data": .string(Self.insert.replacing("8F7FEFFE", with: "8F7F6FFE")),
        "running-time": .uint64(3_600_003_000_000_000),
      ])
    let warnings = try await run(
      "playlist-type=event cue-tags=true mpd-location=\(folder.place)/manifest.mpd",
      [(40, data), (50, back)])
    #expect(warnings.isEmpty, "\(warnings)")
    for name in ["video_0", "video_0_mono"] {
      let list = try folder.text("\(name)/index.m3u8")
      let lengths = list.matches(of: /#EXTINF:([0-9.]+)/).map { String($0.output.1) }
      #expect(lengths == ["2.00000", "1.00000", "1.00000"], "\(list)")
      #expect(
        list.contains(
          /ID="splice-4800008F",START-DATE="[^"]+",PLANNED-DURATION=60.294,SCTE35-OUT=0xFC302F/
        ), "\(list)")
      #expect(list.contains("#EXT-X-CUE-OUT:60.294\n"), "\(list)")
      #expect(list.contains("DURATION=1.667,SCTE35-IN=0xFC302F"), "\(list)")
      #expect(list.contains("#EXT-X-CUE-IN\n#EXTINF:1.00000,\nsegment00002.m4s"), "\(list)")
    }
    #expect(try folder.text("manifest.mpd").contains("<Binary>/DAvAAAA"))
  }

  @Test("messages that are damaged, repeated or cannot be listed harm nothing, and are told")
  func mistakes() async throws {
    func event(_ fields: Fields) -> Event { .custom("application/x-scte35", fields) }
    let warnings = try await run(
      "playlist-type=vod",
      [
        (1, event([:])), (1, event(["data": .string("0xFG")])),
        (1, event(["data": .string("FC3")])),
        (1, event(["data": .buffer(Buffer([0xFC, 0x30]))])), (1, event(["data": .int(5)])),
        (1, event(["data": .buffer(Buffer([UInt8](repeating: 0xFC, count: 100_000)))])),
        (2, event(["data": .string(Self.insert), "running-time": .uint64(.max)])),
        (3, event(["data": .string(Self.insert), "running-time": .int64(.min)])),
        (4, event(["data": .string(Self.insert)])), (4, event(["data": .string(Self.insert)])),
      ])
    #expect(warnings.count { $0.contains("is damaged") } == 6, "\(warnings)")
    #expect(warnings.count { $0.contains("EXT-X-DATERANGE needs") } == 1, "\(warnings)")
    let list = try folder.text("video_0/index.m3u8")
    #expect(!list.contains("DATERANGE") && list.hasSuffix("#EXT-X-ENDLIST\n"), "\(list)")
  }

  @Test("ID3 tags are in the segments of both eyes and of one; what is no tag is told")
  func metadata() async throws {
    func event(_ fields: Fields) -> Event { .custom("application/x-id3", fields) }
    let tag = Buffer(Array("ID3".utf8) + [4, 0, 0, 0, 0, 0, 7] + [UInt8](repeating: 5, count: 7))
    let warnings = try await run(
      "playlist-type=event segment-duration=1000000000",
      [
        (40, event(["data": .buffer(tag)])),
        (50, event(["data": .buffer(tag), "running-time": .uint64(3_600_003_500_000_000)])),
        (60, event([:])), (60, event(["data": .string("494433")])),
        (60, event(["data": .buffer(Buffer([UInt8](repeating: 0x49, count: 200_000)))])),
      ])
    #expect(warnings.count { $0.contains("has no ID3v2 tag") } == 3, "\(warnings)")
    for name in ["video_0", "video_0_mono"] {
      let counts = try (0..<4).map { number in
        let file = URL(filePath: folder.path("\(name)/segment0000\(number).m4s"))
        return try Data(contentsOf: file).count(of: Data("emsg/ID3".utf8))
      }
      #expect(counts == [0, 1, 0, 1], "\(counts)")
    }
  }

  @Test(
    "the messages of a transport stream are listed, and cut at the times that they tell",
    .tags(.judge))
  func transportStream() async throws {
    let file = folder.temporaryFolder.path("break.ts")
    try await play(
      eyes(120, "width=256,height=128,framerate=30/1").replacing("mux.", with: "enc.")
        + "mvhevcenc name=enc speed-preset=ultrafast key-int-max=30 ! "
        + "mpegtsmux scte-35-pid=500 scte-35-null-interval=4000000000 ! filesink location=\(file)")
    let probed = try await Program.output(
      of: [
        "ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts", "-of",
        "csv=p=0", file,
      ])
    let first = try #require(
      String(decoding: probed, as: UTF8.self).split(whereSeparator: \.isWhitespace).compactMap {
        Int64($0.filter(\.isNumber))
      }.min())
    // A break of ten seconds, from two seconds on (SCTE 35, 9.7.3).
    let splice = first + 180_000
    let time = [0xFE | UInt8(splice >> 32 & 1)] + [24, 16, 8, 0].map { UInt8(splice >> $0 & 255) }
    let command: [UInt8] =
      [0, 0, 0, 77, 0x7F, 0xEF] + time + [0xFE, 0, 0x0D, 0xBB, 0xA0, 0, 1, 0, 0]
    let content: [UInt8] =
      [0xFC, 0x30, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xF0, UInt8(command.count), 5] + command
      + [0, 0]
    var writer = TransportWriter()
    // The multiplexer has written one that says nothing.
    writer.counters[500] = 1
    writer.write(500, [0] + TransportWriter.section(content))
    var packets = TransportWriter.packets([UInt8](try Data(contentsOf: URL(filePath: file))))
    packets.insert(contentsOf: writer.packets, at: packets.count / 4)
    try Data(packets.flatMap(\.self)).write(to: URL(filePath: file))
    try await play(
      "filesrc location=\(file) ! tsdemux send-scte35-events=true ! mvhevcdemux name=d "
        + "d.video_0 ! queue ! h.video_0 "
        + folder.sink("playlist-type=event target-duration=4 cue-tags=true"))
    let list = try folder.text("video_0/index.m3u8")
    let lengths = list.matches(of: /#EXTINF:([0-9.]+)/).map { String($0.output.1) }
    #expect(lengths == ["2.00000", "2.00000"], "\(list)")
    #expect(
      list.contains(/ID="splice-4D",START-DATE="[^"]+",PLANNED-DURATION=10.000,SCTE35-OUT=/),
      "\(list)")
    #expect(list.contains("#EXT-X-CUE-OUT:10.000\n"), "\(list)")
  }
}

extension Data {
  fileprivate func count(of part: Data) -> Int {
    var (count, rest) = (0, self[...])
    while let place = rest.range(of: part) {
      (count, rest) = (count + 1, rest[place.upperBound...])
    }
    return count
  }
}
