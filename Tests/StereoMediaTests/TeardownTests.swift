// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// Nothing is left of a reader when it is abandoned.
@Suite(.serialized, .tags(.realTime))
struct TeardownTests {
  private func resident() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
    return Int(line.filter(\.isNumber)) ?? 0
  }

  @Test("an abandoned loop leaves neither threads nor files nor memory")
  func leftLoops() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let count = ProcessInfo.processInfo.environment["STEREO_MEDIA_ROUNDS"].flatMap(Int.init) ?? 60
    func round() async throws {
      var frames = 0
      for try await frame in StereoReader(movie) {
        frames += 1
        if frame.index == 2 { break }
      }
      #expect(frames == 3)
    }
    for _ in 0..<10 { try await round() }
    try await Task.sleep(for: .milliseconds(500))
    let (threads, files) = (Holdings.threads, Holdings.files)
    let memory = try resident()
    for _ in 0..<count { try await round() }
    #expect(try await Holdings.settle(at: threads + 4) { Holdings.threads })
    #expect(try await Holdings.settle(at: files) { Holdings.files })
    // Less than a frame a round.
    #expect(try resident() - memory < 20 * 1024, "kibibytes")
  }

  private struct First: StereoCompositor {
    let output = CompositionOutput.stereo

    func compose(_ request: CompositionRequest<Void>) async throws -> ComposedFrame {
      .source("a")
    }
  }

  @Test("an abandoned composition leaves neither threads nor files")
  func leftCompositions() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var composition = StereoComposition(First(), frames: .of("a"))
    for id in ["a", "b", "c"] { composition.add(id, movie) }
    let made = composition
    func round() async throws {
      for try await frame in made.frames() where frame.time > .milliseconds(100) { break }
    }
    for _ in 0..<5 { try await round() }
    try await Task.sleep(for: .milliseconds(500))
    let (threads, files) = (Holdings.threads, Holdings.files)
    for _ in 0..<20 { try await round() }
    #expect(try await Holdings.settle(at: threads + 4) { Holdings.threads })
    #expect(try await Holdings.settle(at: files) { Holdings.files })
  }

  @Test("a reader that is not read decodes no more than its depth")
  func backPressure() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("long.mov")
    _ = try await Movies.spatial()
    try await TestMovie.spatial(
      path, frames: 120, "width=1280,height=360", mux: "speed-preset=ultrafast")
    let movie = try await StereoMovie(path)
    var iterator = StereoReader(movie).makeAsyncIterator()
    _ = try await iterator.next()
    try await Task.sleep(for: .milliseconds(800))
    let early = try resident()
    var count = 1
    while try await iterator.next() != nil {
      count += 1
      try await Task.sleep(for: .milliseconds(count < 20 ? 50 : 0))
      // 120 pairs would be 83 megabytes.
      if count == 20 { #expect(try resident() - early < 20 * 1024, "kibibytes") }
    }
    #expect(count == 120)
  }

  @Test("a task that is cancelled at any time ends")
  func cancelled() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    for round in 0..<30 {
      let task = Task {
        for try await _ in StereoReader(movie) { try await Task.sleep(for: .milliseconds(2)) }
      }
      try await Task.sleep(for: .milliseconds(round))
      task.cancel()
      let result = await task.result
      if case .failure(let error) = result { #expect(error is CancellationError, "\(error)") }
    }
  }

  @Test("any number of frames can be kept after the end of the reader")
  func keptFrames() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let kept = try await StereoReader(movie).reduce(into: [StereoFrame]()) { $0.append($1) }
    #expect(kept.count == 40)
    let again = try await StereoReader(movie).reduce(into: [StereoFrame]()) { $0.append($1) }
    for (one, other) in zip(kept, again) {
      #expect(same(try one.left.pixels(), try other.left.pixels()))
      #expect(same(try one.right.copied().pixels(), try other.right.pixels()))
    }
  }
}
