// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoComposition``: compositors that throw, sleep and never return, and what does not go
/// together.
struct CompositionFailureTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  private var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }

  private struct Oops: Error, Equatable {}

  @Test("a compositor's error is thrown once, and there is no output")
  func throwing() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let throwing = composition(movie) { request in
      if request.time > .seconds(1) { throw Oops() }
      return .source("a")
    }
    var iterator = throwing.frames().makeAsyncIterator()
    var count = 0
    await #expect(throws: Oops.self) {
      while try await iterator.next() != nil { count += 1 }
    }
    #expect(count == 30)
    #expect(try await iterator.next() == nil)
    await #expect(throws: Oops.self) {
      _ = try await throwing.export(to: folder.path("a.mov"), quickSettings()).report
    }
    #expect(try names == ["a.incomplete.mov"])
    let never = composition(movie) { _ in throw Oops() }
    await #expect(throws: Oops.self) {
      _ = try await never.export(to: folder.path("b.mov"), quickSettings()).report
    }
    #expect(try names == ["a.incomplete.mov"])
  }

  @Test("a compositor may be slow")
  func sleeping() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let sleeping = composition(movie) { _ in
      try await Task.sleep(for: .milliseconds(5))
      return .source("a")
    }
    let report = try await sleeping.export(to: folder.path("a.mov"), quickSettings()).report
    #expect(report.frameCount == 40)
  }

  @Test(
    "a compositor that never returns ends with its cancelled task, which leaves no file",
    arguments: [false, true])
  func neverReturning(isAtStart: Bool) async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let (output, settings) = (folder.path("a.mov"), quickSettings())
    for exports in [false, true] {
      let isInside = Signal()
      let stuck = composition(movie) { request in
        guard isAtStart || request.time > .milliseconds(500) else { return .source("a") }
        await isInside.come()
        // Not even cancellation ends it.
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return .skip
      }
      let task = Task {
        if exports { return try await stuck.export(to: output, settings).report.frameCount }
        return try await stuck.frames().reduce(0) { count, _ in count + 1 }
      }
      await isInside.wait()
      task.cancel()
      await #expect(throws: CancellationError.self) { _ = try await task.value }
      #expect(try names == [])
    }
  }

  @Test("an abandoned export leaves no file", .tags(.realTime, .exhaustive))
  func left() async throws {
    let movie = try await StereoMovie(try await Movies.long())
    var slow = quickSettings()
    slow.speed = .slow
    for try await progress in composition(movie).export(to: folder.path("a.mov"), slow) {
      #expect(progress.frameCount > 0)
      break
    }
    try await eventually("an empty folder") { try names.isEmpty }
  }

  private func error(
    _ composition: StereoComposition<some StereoCompositor>
  ) async throws -> StereoMediaError {
    let error = try await #require(throws: StereoMediaError.self) {
      for try await _ in composition.frames() {}
    }
    let other = try await #require(throws: StereoMediaError.self) {
      _ = try await composition.export(to: folder.path("a.mov"), quickSettings()).report
    }
    #expect(error.code == other.code && error.message == other.message)
    #expect(try !names.contains("a.mov"))
    return error
  }

  @Test(
    "pictures of another size or format are refused, unless the composition makes them alike",
    .tags(.long))
  func unlike() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let small = composition(movie) { request in
      guard let frame = request["a"], frame.index == 7 else { return .source("a") }
      let picture = try frame.left.converted(to: .i420, size: .fit(width: 100))
      return .stereo(picture, picture)
    }
    let wrong = try await error(small)
    #expect(wrong.code == .invalidInput && wrong.message.contains("320x90"), "\(wrong)")
    let mixed = composition(movie) { request in
      guard let frame = request["a"] else { return .skip }
      return .stereo(frame.left, try frame.right.converted(to: .rgba))
    }
    #expect(try await error(mixed).message.contains("RGBA"))

    var two = composition(movie) { .source($0.time < .seconds(1) ? "a" : "b") }
    two.add("b", try await StereoMovie(try await Movies.long()))
    #expect(try await error(two).code == .invalidInput)
    (two.size, two.format) = (.exact(width: 160, height: 90), .nv12)
    let frames = try await two.frames().reduce(into: []) { $0.append($1) }
    #expect(frames.count == 40)
    #expect(frames.allSatisfy { $0.left.width == 160 && $0.right.format == .nv12 })
  }

  @Test("incompatible sources, times and audio are refused before anything is written")
  func refused() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    #expect(try await error(composition(movie, .of("b"))).message.contains("'b'"))
    for step in [Duration.zero, .seconds(-1)] {
      #expect(try await error(composition(movie, .every(step))).code == .invalidInput)
    }
    #expect(
      try await error(StereoComposition(Compose<Void> { _ in .skip }, frames: .every(.seconds(1))))
        .code
        == .invalidInput)
    var twice = composition(movie)
    twice.add("a", movie)
    #expect(try await error(twice).message.contains("two sources 'a'"))
    var early = composition(movie)
    early.add("b", movie, at: .seconds(-1))
    #expect(try await error(early).message.contains("'b'"))
    for (range, start) in [(nil, Duration.seconds(1)), (.zero..<(.seconds(1)), .zero)]
      as [(Range<Duration>?, Duration)]
    {
      var cut = composition(movie)
      cut.add("b", movie, range: range, at: start)
      cut.audio = "b"
      let wrong = try await error(cut)
      #expect(wrong.message.contains("audio") && wrong.hint != nil, "\(wrong)")
    }
    var unknown = composition(movie)
    unknown.audio = "nothing"
    #expect(try await error(unknown).message.contains("'nothing'"))
    #expect(try names == [])
    let stereo = composition(movie, output: .mono) { request in
      guard let frame = request["a"] else { return .skip }
      return .stereo(frame.left, frame.right)
    }
    #expect(try await error(stereo).message.contains("mono"))
    #expect(try await error(composition(movie) { _ in .source("x") }).message.contains("'x'"))
    // Nothing to write.
    await #expect(throws: StereoMediaError.self) {
      _ = try await composition(movie) { _ in .skip }.export(to: folder.path("b.mov")).report
    }
    #expect(try !names.contains("b.mov"))
  }
}
