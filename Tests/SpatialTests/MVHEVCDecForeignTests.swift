// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import ISOBMFF
import StereoVideo
import TestElements
import TestKit
import Testing

/// `mvhevcdec` on the files of other makers in `../shared/media`, which are not part of the
/// project.
@Suite(
  .enabled(if: ForeignFile.arePresent, "../shared/media is not there"))
struct MVHEVCDecForeignTests {
  init() throws {
    try BuiltPlugin.require()
  }

  @Test("both eyes are those of a native decoder", arguments: ForeignFile.names)
  func exact(name: String) throws {
    let file = try ForeignFile(name)
    let decoder = try StereoDecoder()
    decoder.push(file.caps, file.accessUnits)
    let frames = try decoder.finish()
    for eye in Eye.allCases {
      #expect(frames[eye].map { md5($0.pixels) } == file.md5s(eye), "\(eye)")
    }
  }

  @Test("each eye alone is that of a native decoder", arguments: ForeignFile.names)
  func alone(name: String) throws {
    let file = try ForeignFile(name)
    for eye in Eye.allCases {
      let decoder = try StereoDecoder(view: eye.rawValue)
      decoder.push(file.caps, file.accessUnits)
      let frames = try decoder.finish()
      #expect(frames[eye].map { md5($0.pixels) } == file.md5s(eye), "\(eye)")
      #expect(frames[eye.other].isEmpty)
    }
  }
}

/// A movie of another maker as a layered stream, and what its pictures have to be.
struct ForeignFile {
  // The name is that of the JSON file.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  private struct Golden: Decodable {
    let frame_md5_i420_presentation_order: [String: [String]]
  }

  private static let folder = Repository.url.deletingLastPathComponent()
    .appending(path: "shared/media")
  static let arePresent = FileManager.default.fileExists(
    atPath: folder.appending(path: "golden.json").path)
  /// The movies; there are elementary streams too.
  static let names: [String] =
    (try? golden().keys.filter { !$0.hasSuffix(".hevc") }.sorted()) ?? []

  private static func golden() throws -> [String: Golden] {
    try JSONDecoder().decode(
      [String: Golden].self, from: Data(contentsOf: folder.appending(path: "golden.json")))
  }

  let caps: Caps
  let accessUnits: [Buffer]
  private let golden: Golden

  init(_ name: String) throws {
    golden = try #require(try Self.golden()[name])
    let movie = try MovieFile(Self.folder.appending(path: name).path)
    let entry = try movie.videoEntry()
    caps = Caps(
      "video/x-h265",
      [
        ("stream-format", "hvc1"), ("alignment", "au"),
        ("codec_data", .buffer(Buffer(try #require(entry.hvcC)))),
        ("layered_codec_data", .buffer(Buffer(try #require(entry.lhvC)))),
      ])
    let track = try movie.video()
    accessUnits = track.allSamples.map { sample in
      let start = Int(sample.offset)
      let buffer = Buffer(Array(movie.bytes[start..<start + Int(sample.size)]))
      buffer.pts = ClockTime(rounding: sample.presentationTime, perSecond: track.timescale)
      buffer.dts = ClockTime(rounding: sample.decodeTime, perSecond: track.timescale)
      return buffer
    }
  }

  func md5s(_ eye: Eye) -> [String] { golden.frame_md5_i420_presentation_order[eye.rawValue] ?? [] }
}
