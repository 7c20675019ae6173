// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import TestKit
import Testing

/// The property `stats` of `mvhevchlssink`.
@Suite(.checkedStreams)
struct HLSStatisticsTests {
  private let folder: HLSFolder

  init() throws {
    folder = try HLSFolder()
  }

  private func stats(_ pipeline: Pipeline) throws -> [String: Value] {
    guard case .structure(_, let fields)? = pipeline.element(named: "h")?.get("stats") else {
      throw Failure("no stats")
    }
    return Dictionary(fields.map { ($0.key, $0.value) }) { $1 }
  }

  private func number(_ value: Value?) throws -> UInt64 {
    switch value {
    case .uint64(let number): number
    case .uint(let number): UInt64(number)
    default: throw Failure("\(String(describing: value)) is no number")
    }
  }

  @Test("segments, bytes and bit rates are those of the files")
  func files() async throws {
    let pipeline = try pipeline(
      folder.video(90, "key-int-max=30 tune=zerolatency")
        + folder.sink("playlist-type=vod target-duration=1"))
    #expect(try number(stats(pipeline)["segments"]) == 0)
    try await play(pipeline)
    let stats = try stats(pipeline)
    #expect(try number(stats["segments"]) == 6 && number(stats["gaps"]) == 0)
    guard case .array(let rows)? = stats["renditions"] else { throw Failure("no renditions") }
    var names: [String] = []
    for case .structure(let name, let fields) in rows {
      names.append(name)
      let row = Dictionary(fields.map { ($0.key, $0.value) }) { $1 }
      let sizes = try (0..<3).map {
        try Data(contentsOf: URL(filePath: folder.path("\(name)/segment0000\($0).m4s"))).count
      }
      #expect(try number(row["bytes"]) == UInt64(sizes.reduce(0, +)))
      #expect(try number(row["segments"]) == 3)
      // Each lasts a second.
      #expect(abs(Int(try number(row["bitrate"])) - sizes[2] * 8) <= 1)
      #expect(abs(Int(try number(row["average-bitrate"])) - sizes.reduce(0, +) * 8 / 3) <= 1)
    }
    #expect(names == ["video_0", "video_0_mono"])
  }

  @Test("live: how late the last segment is, and what was mended")
  func live() async throws {
    let pictures = try await HLSFolder.pictures(3, "tune=zerolatency")
    let pipeline = try pipeline(folder.sink("target-duration=1 playlist-type=event"))
    let clock = TestClock()
    clock.use(by: pipeline)
    let video = try TestSource(feeding: pipeline.element(named: "h"), "video_0")
    let audio = try TestSource(feeding: pipeline.element(named: "h"), "audio_0")
    pipeline.setState(.playing)
    defer { pipeline.setState(.null) }
    var segment = Segment()
    segment.start = pictures[0].buffer.pts ?? 0
    video.begin(pictures[0].caps, segment)
    audio.begin(HLSFolder.audioCaps)
    for (number, picture) in pictures.enumerated() {
      clock.advance(to: ClockTime(number, perSecond: 30))
      video.push(picture.buffer.copied())
      audio.push(HLSFolder.packets(number * 10 / 3..<(number + 1) * 10 / 3))
      // Audio that has been there already.
      if number == 45 { audio.push(HLSFolder.packets(140..<143)) }
    }
    clock.advance(to: ClockTime(5, perSecond: 1))
    let stats = try stats(pipeline)
    #expect(try number(stats["dropped-buffers"]) == 3)
    #expect(try number(stats["timestamp-jumps"]) == 0 && number(stats["silent-pads"]) == 0)
    // Two seconds are complete in the playlists of three renditions.
    #expect(try number(stats["segments"]) == 6)
    let lag = Double(try number(stats["lag"])) / 1e9
    #expect(abs(lag - 3) < 0.1, "\(lag)")
    for source in [video, audio] { source.end() }
    _ = try await messages(of: pipeline)
  }
}
