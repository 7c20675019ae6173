// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoVideo
import TestElements
import TestKit
import Testing

/// `picturerange`: which pictures pass, and which errors it has.
struct PictureRangeTests {
  private let folder: TemporaryFolder

  init() throws {
    try BuiltPlugin.require()
    folder = try TemporaryFolder()
  }

  private static let step: UInt64 = 40_000_000

  private func list(_ times: [UInt64]) throws -> String {
    let bytes = times.flatMap { time in
      (0..<8).map { UInt8(truncatingIfNeeded: time >> (8 * UInt64($0))) }
    }
    let path = folder.path("times-\(UUID().uuidString)")
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }

  private struct Passed {
    var times: [UInt64] = []
    var error: String?
  }

  /// Plays ten pictures, with other times, or without those that have none, and returns what comes
  /// out.
  private func pass(
    _ times: [UInt64?], _ properties: String, end: Int = 10
  ) async throws -> Passed {
    let pipeline = try pipeline(
      "stereotestsrc num-buffers=\(end) ! video/x-raw,format=I420,width=64,height=32,"
        + "framerate=25/1 ! identity name=i ! picturerange seeks=false \(properties) ! "
        + "fakesink name=sink")
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    pipeline.element(named: "i")?.staticPad("sink")?.onEachBuffer { _, buffer in
      let number = Int(clamping: ((buffer.pts ?? 0).nanoseconds + 1) / Self.step)
      guard times.indices.contains(number), let time = times[number] else { return .isDropped }
      buffer.pts = ClockTime(nanoseconds: time)
      return .passes
    }
    var result = Passed()
    do {
      try await play(pipeline)
    } catch let failure as PipelineFailure {
      result.error = failure.message
    }
    result.times = tap.buffers.compactMap { $0.buffer.pts?.nanoseconds }
    return result
  }

  private static let times = (0..<10).map { UInt64($0) * step }

  @Test("without a list, all pictures pass")
  func passesAll() async throws {
    let result = try await pass(Self.times, "")
    #expect(result.times == Self.times && result.error == nil)
  }

  @Test("what comes before the range is dropped, and the stream ends after its last picture")
  func range() async throws {
    let path = try list(Self.times)
    let result = try await pass(Self.times, "times=\(path) first=3 count=4")
    #expect(result.times == Array(Self.times[3..<7]) && result.error == nil)
  }

  @Test("after the range, tags and pictures are answered with the end of the stream")
  func afterTheRange() throws {
    let harness = try #require(Harness("picturerange"))
    // The list is read at the start.
    #expect(harness.element.setState(.ready))
    harness.element.set("seeks", "false")
    harness.element.set("times", try list(Self.times))
    harness.element.set("count", "2")
    #expect(harness.element.setState(.playing))
    harness.setSourceCaps("video/x-raw,format=I420,width=64,height=32,framerate=25/1")
    var flows: [FlowReturn] = []
    for time in Self.times.prefix(5) {
      let buffer = Buffer([UInt8](repeating: 0, count: 64 * 32 * 3 / 2))
      buffer.pts = ClockTime(nanoseconds: time)
      flows.append(harness.push(buffer))
      let tags = TagList()
      tags.set("bitrate", .uint(UInt32(time / 1000 + 1)))
      #expect(harness.push(.tags(tags)))
    }
    #expect(flows == [.ok, .eos, .eos, .eos, .eos])
  }

  @Test(
    "a picture with another time than in the list is an error, and not with a wide tolerance",
    arguments: [
      // Lost, doubled, clipped to begin at the position of a seek, one too early.
      (drop: 5, shift: 0, at: 5), (drop: -1, shift: 3_000_000, at: 4),
      (drop: -1, shift: -101_000, at: 6), (drop: 0, shift: 0, at: 0),
    ])
  func wrongTimes(drop: Int, shift: Int64, at place: Int) async throws {
    let path = try list(Self.times)
    var times: [UInt64?] = Self.times
    times[place] = UInt64(Int64(Self.times[place]) + shift)
    if drop >= 0 { times[drop] = nil }
    let result = try await pass(times, "times=\(path)")
    #expect(result.times == Array(Self.times[..<place]))
    #expect(result.error?.contains("Picture \(place) is at") == true, "\(result)")
    let count = times.compactMap(\.self).count
    let unchecked = try await pass(times, "times=\(path) count=\(count) tolerance=1000000000")
    #expect(unchecked.times == times.compactMap(\.self) && unchecked.error == nil)
  }

  @Test("times within the tolerance are not told apart")
  func tolerance() async throws {
    let path = try list(Self.times)
    let times = Self.times.map { $0 + 99_000 }
    let result = try await pass(times, "times=\(path) first=2")
    #expect(result.times == Array(times[2...]) && result.error == nil)
  }

  @Test("a movie that ends before the range is an error")
  func endsEarly() async throws {
    let path = try list(Self.times)
    let result = try await pass(Self.times, "times=\(path)", end: 6)
    #expect(result.error?.contains("ends after 6 of the 10 pictures") == true, "\(result)")
  }

  @Test("lists that are missing, cut off, or do not rise are errors of the settings")
  func damagedLists() async throws {
    let cut = folder.path("cut")
    try Data([1, 2, 3]).write(to: URL(filePath: cut))
    for (path, properties, words) in [
      (folder.path("none"), "", "does not exist"), (cut, "", "no list of times"),
      (try list([0, 5, 5]), "", "do not rise"), (try list([0, 5]), "first=2", "no 1 from"),
      (try list([0, 5]), "first=1 count=2", "no 2 from"), (try list([]), "", "has 0 pictures"),
    ] {
      let result = try await pass(Self.times, "times=\(path) \(properties)")
      #expect(result.error?.contains(words) == true, "\(result)")
      #expect(result.times.isEmpty)
    }
  }

  @Test(
    "of a movie, exactly the pictures of the range pass, wherever it begins",
    .tags(.long),
    arguments: [
      "x264enc speed-preset=ultrafast bframes=3 b-adapt=false key-int-max=10 ! h264parse ! mp4mux",
      "x264enc speed-preset=ultrafast bframes=2 b-adapt=false key-int-max=12 ! h264parse "
        + "! matroskamux",
      "jpegenc ! qtmux",
    ])
  func ofMovies(_ coding: String) async throws {
    let path = folder.path("movie")
    try await play(
      "stereotestsrc num-buffers=40 ! video/x-raw,format=I420,width=96,height=64,framerate=30/1 ! "
        + "capssetter caps=video/x-raw,multiview-mode=mono ! \(coding) ! filesink location=\(path)")
    let reading = "filesrc location=\(path) ! decodebin ! "
    let whole = try await record(reading + "fakesink name=sink async=false")[0]
    #expect(whole.count == 40)
    let times = try whole.map { try #require($0.runningTime).nanoseconds }
    let list = try list(times)
    for (first, count) in [(0, 7), (1, 5), (9, 12), (23, 17), (39, 1)] {
      let range = try await record(
        reading + "picturerange times=\(list) first=\(first) count=\(count) ! "
          + "fakesink name=sink async=false")[0]
      let isSame =
        try range.map { try $0.pixels() }
        == whole[first..<first + count].map { try $0.pixels() }
      #expect(isSame && range.count == count, "\(first): \(range.count) pictures")
    }
  }

  @Test("a source that cannot be sought in is an error that says so")
  func unseekable() async throws {
    let path = try list(Self.times)
    await #expect {
      try await play(
        "stereotestsrc is-live=true num-buffers=20 ! video/x-raw,width=64,height=32,framerate=25/1 "
          + "! picturerange times=\(path) first=5 ! fakesink")
    } throws: { error in
      "\(error)".contains("cannot be sought in")
    }
  }
}
