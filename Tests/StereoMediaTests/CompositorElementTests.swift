// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import GStreamerCheck
import StereoMedia
import StereoVideo
import TestKit
import Testing

/// ``StereoElements/compositor(_:_:)``: compositors of a program as elements.
struct CompositorElementTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A name that no other test has.
  private func name(_ what: String) -> String {
    "\(what)-\(UInt64.random(in: 0...UInt64.max))"
  }

  /// - Parameter late: what the right eye passes.
  private func spatial(_ path: String, _ number: Int, late: String = "") -> String {
    "filesrc location=\(path) ! mvhevcdemux name=d\(number) d\(number).video_0 "
      + "! mvhevcdec name=e\(number) e\(number).left ! queue ! c.left_\(number) "
      + "e\(number).right ! queue \(late)! c.right_\(number) "
  }

  private func mono(_ path: String, _ number: Int) -> String {
    "filesrc location=\(path) ! decodebin ! queue ! c.mono_\(number) "
  }

  /// What comes out of a compositor, into a file.
  private func file(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: folder.path(name))))
  }

  private var eyes: String {
    "! sbssplit name=s s.left ! queue ! filesink location=\(folder.path("left")) "
      + "s.right ! queue ! filesink location=\(folder.path("right"))"
  }

  /// Shows the second source to the right eye for as long as there is one.
  private var beside: Compose<Void> {
    Compose { request in
      guard let frame = request["0"] else { return .skip }
      return .stereo(frame.left, request["1"]?.left ?? frame.right)
    }
  }

  @Test(
    "frames are those that a composition makes of the same sources, pixel by pixel",
    arguments: ["", "! identity sleep-time=3000 "])
  func sources(late: String) async throws {
    let (one, other) = (try await Movies.spatial(), try await Movies.short())
    let name = name("beside")
    try await StereoElements.compositor(name, beside)
    try await TestMovie.play(
      spatial(one, 0) + spatial(other, 1, late: late) + "\(name) name=c " + eyes)
    var composition = StereoComposition(beside, frames: .of("0"))
    composition.add("0", try await StereoMovie(one))
    composition.add("1", try await StereoMovie(other))
    let frames = try await composition.frames().reduce(into: []) { $0.append($1) }
    #expect(frames.count == 40)
    #expect(same(try file("left"), try frames.flatMap { try $0.left.pixels() }))
    #expect(same(try file("right"), try frames.flatMap { try $0.right.pixels() }))
    // The second source has been there, and has ended.
    let own = try await StereoReader(StereoMovie(one)).reduce(into: []) { $0.append($1) }
    let shown = try zip(frames, own).map { !same(try $0.right.pixels(), try $1.right.pixels()) }
    #expect(shown.prefix(6).allSatisfy { $0 } && !shown.suffix(34).contains(true))
  }

  @Test("frames without timestamps follow those before them")
  func missingTimes() async throws {
    let name = name("times")
    try await StereoElements.compositor(name, beside)
    let pipeline = try Pipeline(
      parsing: "videotestsrc num-buffers=8 ! "
        + "video/x-raw,format=I420,width=64,height=64,framerate=25/1 ! queue ! c.mono_0 "
        + "\(name) name=c ! fakesink name=sink")
    pipeline.element(named: "c")?.staticPad("mono_0")?.addFilter(TimeRemover([0, 3, 4, 7]))
    let tap = try Tap(pipeline.element(named: "sink")?.staticPad("sink"))
    let warnings = Locked<[String]>([])
    pipeline.setState(.playing)
    defer { pipeline.setState(.null) }
    for await message in pipeline.bus.messages {
      if case .warning(let failure) = message.content {
        warnings.withLock { $0.append(failure.message) }
      }
      if case .error(let failure) = message.content { throw failure }
      if case .endOfStream = message.content { break }
    }
    // Both eyes of each frame, one after the other.
    #expect(tap.buffers.map(\.buffer.pts) == (0..<16).map { 20 * .millisecond * $0 })
    let told = warnings.current
    #expect(told.count { $0.contains("had no timestamp (1 so far)") } == 1, "\(told)")
  }

  private actor Log {
    private(set) var requests: [CompositionRequest<Void>] = []

    func add(_ request: CompositionRequest<Void>) { requests.append(request) }
  }

  @Test(
    "the source with the lowest number sets the frame times; skipped frames are absent")
  func monoOutput() async throws {
    let (one, other) = (try await Movies.mono(), try await Movies.spatial())
    let (name, log) = (name("mono"), Log())
    try await StereoElements.compositor(
      name,
      Compose(output: .mono) { request in
        await log.add(request)
        let count = await log.requests.count
        return count.isMultiple(of: 3) ? .skip : .source("7")
      })
    // Pads are asked for in another order.
    try await TestMovie.play(
      spatial(other, 7) + mono(one, 3) + "\(name) name=c "
        + "! filesink location=\(folder.path("out"))")
    let requests = await log.requests
    let movie = try await StereoMovie(other)
    let index = try #require(movie.video).frames
    let grid = try #require(try await StereoMovie(one).video).frames
    #expect(requests.map(\.time) == grid.map(\.time))
    #expect(
      zip(requests, grid).allSatisfy { abs(($0.duration - $1.duration) / .nanoseconds(1)) <= 1 })
    #expect(requests.allSatisfy { $0["3"]?.isMono == true && $0["3"]?.time == $0.time })
    #expect(requests.allSatisfy { $0["0"] == nil && $0.instruction == nil && $0.progress == 0 })
    for request in requests {
      let shown = try #require(index.playing(at: request.time))
      #expect(request["7"]?.time == index[shown].time, "\(request.time)")
      #expect(request["7"]?.isMono == false && request["7"]?.metadata == movie.video?.spatial)
    }
    let read = try await StereoReader(movie).reduce(into: []) { $0.append($1) }
    let expected = try requests.enumerated().filter { !($0.offset + 1).isMultiple(of: 3) }.flatMap {
      // The hero eye of the movie.
      try read[try #require(index.playing(at: $0.element.time))].right.pixels()
    }
    #expect(same(try file("out"), expected))
  }

  private struct Oops: Error, CustomStringConvertible {
    let description = "the tea is cold"
  }

  @Test("a compositor's error, or an invalid result, is the element's error")
  func errors() async throws {
    let path = try await Movies.spatial()
    let wrong: [(String, Compose<Void>)] = [
      ("the tea is cold", Compose { _ in throw Oops() }),
      ("source '5' has no frame", Compose { _ in .source("5") }),
      (
        "differ",
        Compose { request in
          guard let frame = request["0"] else { return .skip }
          return .stereo(frame.left, try frame.right.converted(to: .rgba))
        }
      ),
      (
        "two pictures",
        Compose(output: .mono) { request in
          guard let frame = request["0"] else { return .skip }
          return .stereo(frame.left, frame.right)
        }
      ),
    ]
    for (text, compositor) in wrong {
      let name = name("wrong")
      try await StereoElements.compositor(name, compositor)
      let error = await #expect(throws: (any Error).self) {
        try await TestMovie.play(spatial(path, 0) + "\(name) name=c ! fakesink")
      }
      #expect("\(try #require(error))".contains(text), "\(text)")
    }
    let taken = await #expect(throws: StereoMediaError.self) {
      try await StereoElements.compositor("sbssplit", beside)
    }
    #expect(taken?.code == .nameTaken)
  }

  @Test("a source is two eyes or one picture, and never half of one")
  func pads() async throws {
    let path = try await Movies.mono()
    let name = name("pads")
    try await StereoElements.compositor(name, beside)
    let element = try Pipeline(parsing: "\(name) name=c ! fakesink").element(named: "c")
    let compositor = try #require(element)
    #expect(compositor.requestPad("left_0") != nil && compositor.requestPad("right_0") != nil)
    #expect(compositor.requestPad("mono_0") == nil)
    #expect(compositor.requestPad("mono_4") != nil && compositor.requestPad("right_4") == nil)
    let error = await #expect(throws: (any Error).self) {
      try await TestMovie.play(
        "filesrc location=\(path) ! decodebin ! queue ! c.left_2 \(name) name=c ! fakesink")
    }
    #expect("\(try #require(error))".contains("Source 2 has only one eye"))
  }

  @Test("a stop ends a compositor that never returns")
  func stops() async throws {
    let path = try await Movies.spatial()
    let (name, isInside) = (name("stuck"), Signal())
    try await StereoElements.compositor(
      name,
      Compose<Void> { _ in
        await isInside.come()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return .skip
      })
    let playing = Task {
      try await TestMovie.play(spatial(path, 0) + "\(name) name=c ! fakesink")
    }
    await isInside.wait()
    playing.cancel()
    _ = await playing.result
  }
}
