// SPDX-License-Identifier: MPL-2.0

import CGStreamer
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
    var times: [UInt64?] = []
    var flow = FlowReturn.ok
    var hasEnded = false
    var error: String?
  }

  /// Pushes pictures of these times, and returns what comes out.
  private func pass(
    _ times: [UInt64], _ properties: [(String, String)], end: Bool = false
  ) throws -> Passed {
    let harness = try #require(Harness("picturerange"))
    let bus = gst_bus_new()
    gst_element_set_bus(harness.element.pointer, bus)
    defer {
      gst_element_set_bus(harness.element.pointer, nil)
      gst_object_unref(bus)
    }
    var result = Passed()
    for (name, value) in properties { harness.element.set(name, value) }
    harness.play()
    harness.setSourceCaps("video/x-raw,format=GRAY8,width=4,height=4,framerate=25/1")
    for time in times where result.flow == .ok {
      let frame = Buffer([UInt8](repeating: 3, count: 16))
      frame.pts = ClockTime(nanoseconds: time)
      result.flow = harness.push(frame)
    }
    if end { harness.push(.endOfStream) }
    while let buffer = harness.tryPull() { result.times.append(buffer.pts?.nanoseconds) }
    while let event = harness.tryPullEvent() {
      if case .endOfStream = event.kind { result.hasEnded = true }
    }
    while let message = gst_bus_pop(bus) {
      if case .error(let failure) = Message(adopting: message).content {
        result.error = failure.message
      }
    }
    return result
  }

  private static let times = (0..<10).map { UInt64($0) * step }

  @Test("without a list, all pictures pass")
  func passesAll() throws {
    let result = try pass(Self.times, [])
    #expect(result.times == Self.times && result.flow == .ok)
  }

  @Test("what comes before the range is dropped, and the stream ends after its last picture")
  func range() throws {
    let path = try list(Self.times)
    let result = try pass(
      Self.times, [("times", path), ("first", "3"), ("count", "4"), ("seeks", "false")])
    #expect(result.times == Array(Self.times[3..<7]))
    #expect(result.flow == .eos && result.hasEnded)
  }

  @Test(
    "a picture with another time than in the list is an error, and not with a wide tolerance",
    arguments: [
      // Lost, doubled, clipped to begin at the position of a seek, one too early.
      (drop: 5, shift: 0, at: 5), (drop: -1, shift: 3_000_000, at: 4),
      (drop: -1, shift: -101_000, at: 6), (drop: 0, shift: 0, at: 0),
    ])
  func wrongTimes(drop: Int, shift: Int64, at place: Int) throws {
    let path = try list(Self.times)
    var times = Self.times
    times[place] = UInt64(Int64(times[place]) + shift)
    if drop >= 0 { times.remove(at: drop) }
    let result = try pass(times, [("times", path)])
    #expect(result.flow == .error)
    #expect(result.times == Array(Self.times[..<place]))
    #expect(result.error?.contains("Picture \(place) is at") == true, "\(result)")
    let unchecked = try pass(times, [("times", path), ("tolerance", "1000000000")])
    #expect(unchecked.times.count == times.count)
  }

  @Test("times within the tolerance are not told apart")
  func tolerance() throws {
    let path = try list(Self.times)
    let times = Self.times.map { $0 + 99_000 }
    let result = try pass(times, [("times", path), ("first", "2"), ("seeks", "false")])
    #expect(result.times == Array(times[2...]) && result.flow == .eos)
  }

  @Test("a movie that ends before the range is an error")
  func endsEarly() throws {
    let path = try list(Self.times)
    let result = try pass(Array(Self.times[..<6]), [("times", path)], end: true)
    #expect(result.error?.contains("ends after 6 of the 10 pictures") == true, "\(result)")
  }

  @Test("lists that are missing, cut off, or do not rise are errors of the settings")
  func damagedLists() throws {
    let cut = folder.path("cut")
    try Data([1, 2, 3]).write(to: URL(filePath: cut))
    for (path, properties, words) in [
      (folder.path("none"), [], "does not exist"), (cut, [], "no list of times"),
      (try list([0, 5, 5]), [], "do not rise"), (try list([0, 5]), [("first", "2")], "no 1 from"),
      (try list([0, 5]), [("first", "1"), ("count", "2")], "no 2 from"),
      (try list([]), [], "has 0 pictures"),
    ] {
      let result = try pass([], [("times", path)] + properties)
      #expect(result.error?.contains(words) == true, "\(result)")
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
        "videotestsrc is-live=true num-buffers=20 ! video/x-raw,width=16,height=16,framerate=25/1 "
          + "! picturerange times=\(path) first=5 ! fakesink")
    } throws: { error in
      "\(error)".contains("cannot be sought in")
    }
  }
}
