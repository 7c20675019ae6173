// SPDX-License-Identifier: MPL-2.0

import Foundation
import GStreamer
import PipelineHost
import StereoMedia
import TestKit
import Testing

/// ``StereoElements``: functions of a program as elements.
struct StereoElementsTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// A name that no other test has.
  private func name(_ what: String) -> String {
    "\(what)-\(UInt64.random(in: 0...UInt64.max))"
  }

  private func swap(_ frame: StereoFrame) -> StereoFrame {
    StereoFrame(left: frame.right, right: frame.left, time: frame.time)
  }

  /// Decodes a movie, through a filter, into a file an eye.
  private func line(_ filter: String, _ movie: String) -> String {
    "filesrc location=\(movie) ! mvhevcdemux name=d d.video_0 ! mvhevcdec name=e "
      + "e.left ! queue ! f.left e.right ! queue ! f.right \(filter) name=f ! sbssplit name=s "
      + "s.left ! queue ! filesink location=\(folder.path("left")) "
      + "s.right ! queue ! filesink location=\(folder.path("right"))"
  }

  private func file(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: folder.path(name))))
  }

  private actor Times {
    private(set) var times: [Duration] = []
    private(set) var fields: [SpatialMetadata] = []

    func add(_ frame: StereoFrame) {
      times.append(frame.time)
      fields.append(frame.metadata)
    }
  }

  @Test(
    "a function in a line of gst-launch gets each pair with its time, and its pictures are shown")
  func launchLine() async throws {
    let path = try await Movies.spatial()
    let movie = try await StereoMovie(path)
    let (name, times) = (name("swap"), Times())
    try await StereoElements.filter(name) { frame in
      await times.add(frame)
      return swap(frame)
    }
    try await TestMovie.play(line(name, path))
    let read = try await StereoReader(movie).reduce(into: []) { $0.append($1) }
    #expect(same(try file("left"), try read.flatMap { try $0.right.pixels() }))
    #expect(same(try file("right"), try read.flatMap { try $0.left.pixels() }))
    let index = try #require(movie.video).frames
    #expect(await times.times == index.map(\.time))
    #expect(await times.fields.allSatisfy { $0 == movie.video?.spatial })
  }

  @Test("a function in a pipeline file makes a movie whose eyes are swapped")
  func pipelineFile() async throws {
    let path = try await Movies.spatial()
    let name = name("swap")
    try await StereoElements.filter(name) { swap($0) }
    let text = """
      version: 1
      elements:
        source: { type: filesrc, location: "\(path)" }
        demux: { type: mvhevcdemux }
        decode: { type: mvhevcdec }
        swap: { type: \(name) }
        split: { type: sbssplit }
        mux: { type: mvhevcmux, quality: 10, speed-preset: ultrafast }
        sink: { type: filesink, location: "\(folder.path("a.mov"))" }
      links:
        - source -> demux
        - demux.video_0 -> queue -> decode
        - decode.left -> queue -> swap.left
        - decode.right -> queue -> swap.right
        - swap -> split
        - split.left -> queue -> mux.left
        - split.right -> queue -> mux.right
        - mux -> sink
      """
    let pipeline = try HostedPipeline.load(try folder.write(text, to: "a.yaml"))
    try await PipelineRun(pipeline).run()
    let written = try await StereoMovie(folder.path("a.mov"))
    let movie = try await StereoMovie(path)
    #expect(written.video?.frames.map(\.time) == movie.video?.frames.map(\.time))
    var read = StereoReader(movie).makeAsyncIterator()
    var count = 0
    for try await frame in StereoReader(written) {
      let own = try #require(try await read.next())
      #expect(try distance(frame.left, own.right) < 2 && distance(frame.right, own.left) < 2)
      #expect(try distance(frame.left, own.left) > 2)
      count += 1
    }
    #expect(count == 40)
  }

  @Test("pictures of another size and format pass unchanged")
  func otherPictures() async throws {
    let path = try await Movies.spatial()
    let name = name("small")
    try await StereoElements.filter(name) { frame in
      let small = try frame.left.converted(to: .gray8, size: .fit(width: 64))
      return StereoFrame(left: small, right: small, time: frame.time)
    }
    try await TestMovie.play(line(name, path))
    #expect(try file("left").count == 40 * 64 * 18 && file("left") == file("right"))
  }

  private struct Oops: Error, CustomStringConvertible {
    let description = "the tea is cold"
  }

  @Test("a function's error is the element's error, and so are eyes that differ")
  func errors() async throws {
    let path = try await Movies.spatial()
    let (throwing, uneven) = (name("throwing"), name("uneven"))
    try await StereoElements.filter(throwing) { frame in
      if frame.time > .milliseconds(500) { throw Oops() }
      return frame
    }
    try await StereoElements.filter(uneven) { frame in
      let small = try frame.left.converted(to: .i420, size: .fit(width: 64))
      return StereoFrame(left: small, right: frame.right, time: frame.time)
    }
    for (name, text) in [(throwing, "the tea is cold"), (uneven, "The eyes differ")] {
      let error = await #expect(throws: (any Error).self) {
        try await TestMovie.play(line(name, path))
      }
      #expect("\(try #require(error))".contains(text), "\(name)")
    }
  }

  @Test("a stop ends a function that never returns: its task is cancelled, without waiting")
  func stops() async throws {
    let path = try await Movies.spatial()
    let name = name("stuck")
    let (isInside, isCancelled) = (Signal(), Signal())
    try await StereoElements.filter(name) { frame in
      guard frame.time > .milliseconds(200) else { return frame }
      await isInside.come()
      await withTaskCancellationHandler {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      } onCancel: {
        Task { await isCancelled.come() }
      }
      return frame
    }
    let playing = Task { try await TestMovie.play(line(name, path)) }
    await isInside.wait()
    playing.cancel()
    _ = await playing.result
    await isCancelled.wait()
  }

  private actor Visits {
    private var count = 0

    func add() -> Int {
      count += 1
      return count
    }
  }

  @Test(
    "a flushing seek ends a function that never returns, and the next frame follows"
  )
  func flushes() async throws {
    let path = try await Movies.spatial()
    let (name, visits, isInside) = (name("once"), Visits(), Signal())
    try await StereoElements.filter(name) { frame in
      if await visits.add() == 10 {
        await isInside.come()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
      return frame
    }
    let pipeline = try Pipeline(
      parsing: line(name, path).replacing(
        "filesink", with: "filesink async=false name=end", maxReplacements: 1))
    let playing = Task { try await pipeline.run() }
    await isInside.wait()
    var seek = Seek()
    seek.format = .time
    seek.flags = [.flush, .accurate]
    seek.start = .set(0)
    #expect(try #require(pipeline.element(named: "end")).send(.seek(seek)))
    try await playing.value
    // Nine before the seek, and all after it.
    #expect(await visits.add() == 10 + 40 + 1)
    #expect(try file("left").count == 40 * 320 * 90 * 3 / 2)
  }

  @Test("a name is valid, given only once, and never that of an existing element")
  func names() async throws {
    let name = name("once")
    try await StereoElements.filter(name) { $0 }
    for taken in [name, "sbssplit", "fakesink"] {
      let error = await #expect(throws: StereoMediaError.self) {
        try await StereoElements.filter(taken) { $0 }
      }
      #expect(error?.code == .nameTaken)
    }
    for wrong in [
      "", "1a", "a b", "a!b", "\u{e4}", "-a", "a\u{0}", String(repeating: "a", count: 101),
    ] {
      let error = await #expect(throws: StereoMediaError.self) {
        try await StereoElements.filter(wrong) { $0 }
      }
      #expect(error?.code == .invalidInput, "\(wrong)")
    }
  }
}
