// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// Conversions in parts of movies whose seeks, times or coding make it hard to cut them at a
/// picture.
@Suite(.tags(.process, .judge))
struct PartsOfMoviesTests {
  private static let frames = 150
  private static let (width, height) = (96, 64)

  /// How a movie of numbered pictures is made, by FFmpeg.
  struct Source: Sendable, CustomTestStringConvertible {
    let name: String
    let options: String
    var rate = "30"
    /// Options of `convert`.
    var extra: [String] = []

    var testDescription: String { "\(name) \(extra.joined(separator: " "))" }
  }

  private static let h264 = "-c:v libx264 -preset veryfast -crf 8 -pix_fmt yuv420p -c:a aac "
  private static let openGroups = h264 + "-x264-params open-gop=1:bframes=3:keyint=50:scenecut=0"
  /// Times that are no multiples of a frame's duration.
  private static let exactTimes = "-fps_mode vfr -enc_time_base 1/90000 "
  private static let varyingRate =
    h264 + exactTimes + "-g 47 -vf settb=1/90000,setpts='PTS+(1-mod(N\\,3))*0.006/TB'"

  private static let sources = [
    // Cut at keyframes; an edit list.
    Source(name: "keyframes.mp4", options: h264 + "-g 60"),
    // FFmpeg writes Matroska whose audio begins before its pictures.
    Source(name: "open.mkv", options: openGroups),
    Source(name: "film.mkv", options: h264 + "-g 40", rate: "24000/1001"),
    Source(name: "open.mp4", options: openGroups),
    Source(name: "varying.mkv", options: varyingRate),
    Source(name: "varying.mp4", options: varyingRate + " -video_track_timescale 90000"),
    Source(name: "mjpeg.mov", options: "-c:v mjpeg -q:v 2 -c:a pcm_s16le"),
    Source(
      name: "hdr.mp4",
      options: "-c:v libx265 -x265-params log-level=none:keyint=45:hdr10=1:crf=10:max-cll=1000,400 "
        + "-pix_fmt yuv420p10le -color_primaries bt2020 -color_trc smpte2084 -colorspace bt2020nc "
        + "-tag:v hvc1 -c:a aac"),
    Source(
      name: "half-sphere.mp4", options: openGroups,
      extra: ["--projection", "half-equirectangular"]),
  ]

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test(
    "each picture and sound of the source is there, when it is shown there",
    arguments: sources.sampled(3))
  func allPictures(of source: Source) async throws {
    let size = "size=\(Self.width * 2)x\(Self.height)"
    try await shell(
      "ffmpeg -v error -f lavfi -i testsrc2=\(size):rate=\(source.rate):duration=7 "
        + "-f lavfi -i sine=duration=7 -frames:v \(Self.frames) \(source.options) \(source.name)")
    let settings = ["--layout", "side-by-side", "preset=ultrafast", "quality=6"] + source.extra
    for line in [["whole.mov"], ["parts.mov", "--work", "w", "--parts", "1.5s"]] {
      let result = try Command.run(["convert", source.name] + line + settings, in: folder)
      try #require(result.status == 0, "\(result.errors)")
    }

    // The same sound, at the same times.
    let sounds = try await ["whole", "parts"].map {
      "ffmpeg -v error -i \($0).mov -map 0:a -c copy -f framemd5 -"
    }.asyncMap { try await shell($0) }
    #expect(sounds[0] == sounds[1] && !sounds[0].isEmpty)

    // The times of the source, from the beginning of its sound or pictures on.
    let times = try await [source.name, "parts.mov"].asyncMap { try await pictureTimes($0) }
    #expect(times[1].count == Self.frames)
    let isSame = zip(times[0], times[1]).allSatisfy { abs($0 - $1) < 0.001 }
    #expect(isSame, "\(times[0].prefix(9)) became \(times[1].prefix(9))")

    try await expectPictures(
      left: source.name, "crop=iw/2:ih:0:0,", right: source.name, "crop=iw/2:ih:iw/2:0,")
  }

  @Test("the pictures of two files, one for each eye, are cut at the same places")
  func twoFiles() async throws {
    let size = "size=\(Self.width)x\(Self.height)"
    let audio = "-f lavfi -i sine=duration=5 -c:a aac"
    for (name, keyframes, sound, count) in [
      ("l", 50, audio, Self.frames), ("r", 35, "", Self.frames + 2), ("late", 50, "", Self.frames),
    ] {
      let late =
        Self.exactTimes + "-video_track_timescale 90000 "
        + "-vf 'settb=1/90000,setpts=PTS+gt(N\\,20)*0.004/TB'"
      let filter = name == "r" ? "-vf negate" : name == "late" ? late : ""
      try await shell(
        "ffmpeg -v error -f lavfi -i testsrc2=\(size):rate=30:duration=7 \(sound) "
          + "-frames:v \(count) -c:v libx264 -preset veryfast -crf 8 -pix_fmt yuv420p \(filter) "
          + "-x264-params open-gop=1:bframes=3:keyint=\(keyframes):scenecut=0 \(name).mp4")
    }
    let settings = ["preset=ultrafast", "quality=6"]
    for line in [["whole.mov"], ["parts.mov", "--work", "w", "--parts", "1.5s"]] {
      let result = try Command.run(["convert", "l.mp4", "r.mp4"] + line + settings, in: folder)
      try #require(result.status == 0, "\(result.errors)")
    }
    let times = try await ["whole.mov", "parts.mov"].asyncMap { try await pictureTimes($0) }
    #expect(times[0] == times[1])
    try await expectPictures(left: "l.mp4", "", right: "r.mp4", "trim=end_frame=\(Self.frames),")

    let late = try Command.run(
      ["plan", "l.mp4", "late.mp4", "b.mov", "--work", "v"] + settings, in: folder)
    #expect(late.status == 2 && late.errors.contains("and that of 'late.mp4' at"), "\(late.errors)")
    let url = try Command.run(
      ["plan", "l.mp4", "http://127.0.0.1:1/r.mp4", "b.mov", "--work", "v"], in: folder)
    #expect(url.status == 2 && url.errors.contains("download it first"), "\(url.errors)")
    // What has changed since is noticed, whichever eye it is.
    let planned = try Command.run(
      ["plan", "l.mp4", "r.mp4", "c.mov", "--work", "u"] + settings, in: folder)
    try #require(planned.status == 0, "\(planned.errors)")
    try FileManager.default.removeItem(atPath: folder.path("r.mp4"))
    try FileManager.default.copyItem(atPath: folder.path("l.mp4"), toPath: folder.path("r.mp4"))
    let changed = try Command.run(["part", "u", "0"], in: folder)
    #expect(changed.status == 2 && changed.errors.contains("r.mp4' is not the movie"))
  }

  /// Expects both eyes of the joined movie to have the pictures of their sources.
  private func expectPictures(
    left: String, _ leftFilter: String, right: String, _ rightFilter: String
  ) async throws {
    try await TestMovie.decode(
      folder.path("parts.mov"), left: folder.path("left"), right: folder.path("right"))
    let raw = "-f rawvideo -pix_fmt yuv420p -s \(Self.width)x\(Self.height) -i"
    for (eye, source, filter) in [("left", left, leftFilter), ("right", right, rightFilter)] {
      let wanted = try await pictures(source, filter)
      let got = try await pictures(eye, "", input: raw)
      try #require(wanted.count == Self.frames && got.count == Self.frames)
      // Pictures next to one another are less alike than 35 dB.
      let least = zip(wanted, got).map(Self.likeness).min() ?? 0
      #expect(least > 40, "\(eye): \(least) dB")
    }
  }

  /// Returns what a line of a shell prints.
  @discardableResult
  private func shell(_ line: String) async throws -> String {
    String(
      decoding: try await Program.output(of: ["bash", "-c", line], in: folder.url), as: UTF8.self)
  }

  /// The times at which pictures are shown, in seconds, in order.
  private func pictureTimes(_ name: String) async throws -> [Double] {
    try await shell(
      "ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 \(name)"
    ).split { ",\n".contains($0) }.compactMap { Double($0) }.sorted()
  }

  /// The luma of all pictures, in its own range.
  ///
  /// - Parameter filter: what is done before, with a comma after it.
  private func pictures(
    _ name: String, _ filter: String, input: String = "-i"
  ) async throws -> [ArraySlice<UInt8>] {
    let bytes = [UInt8](
      try await Program.output(
        of: [
          "bash", "-c",
          "ffmpeg -v error \(input) \(name) -map 0:v -vf \(filter)extractplanes=y "
            + "-fps_mode passthrough -pix_fmt gray -f rawvideo -",
        ], in: folder.url))
    let size = Self.width * Self.height
    return stride(from: 0, to: bytes.count, by: size).map {
      bytes[$0..<min($0 + size, bytes.count)]
    }
  }

  /// The likeness of two pictures in decibels (PSNR).
  private static func likeness(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Double {
    let sum = zip(a, b).reduce(0) { $0 + (Int($1.0) - Int($1.1)) * (Int($1.0) - Int($1.1)) }
    return 10 * log10(255 * 255 * Double(a.count) / Double(max(1, sum)))
  }
}

extension Sequence {
  fileprivate func asyncMap<Result>(
    _ transform: (Element) async throws -> Result
  ) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
