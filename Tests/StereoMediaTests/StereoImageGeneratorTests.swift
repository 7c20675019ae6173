// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import StereoMedia
import TestKit
import Testing

/// ``StereoImageGenerator``: exact frames, in any order.
struct StereoImageGeneratorTests {
  private func sequential(_ movie: StereoMovie) async throws -> [StereoFrame] {
    try await StereoReader(movie).reduce(into: []) { $0.append($1) }
  }

  @Test(
    "frames in any order are those of reading from the beginning", .tags(.long),
    arguments: [false, true])
  func anyOrder(isFragmented: Bool) async throws {
    let path = try await isFragmented ? Movies.fragmented() : Movies.spatial()
    let movie = try await StereoMovie(path)
    let whole = try await sequential(movie)
    let generator = StereoImageGenerator(movie)
    // Repeatable: steps back and forth, jumps, repetitions.
    var random = UInt32(7)
    for _ in 0..<80 {
      random = random &* 1_664_525 &+ 1_013_904_223
      let index = Int(random >> 16) % 40
      let frame = try await generator.frame(index)
      #expect(frame.index == index && frame.time == whole[index].time)
      #expect(same(try frame.left.pixels(), try whole[index].left.pixels()), "\(index)")
      #expect(same(try frame.right.pixels(), try whole[index].right.pixels()), "\(index)")
    }
  }

  @Test("eight tasks at once each get their own frames")
  func concurrentTasks() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let whole = try await sequential(movie)
    let generator = StereoImageGenerator(movie)
    let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var wrong = 0
          for step in 0..<10 {
            let index = (task * 13 + step * 7) % 40
            let frame = try await generator.frame(index)
            let isRight = try frame.left.pixels() == whole[index].left.pixels()
            wrong += isRight && frame.index == index ? 0 : 1
          }
          return wrong
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }

  @Test("the frame at a time is the one that has begun; beyond the ends, the first and the last")
  func times() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let generator = StereoImageGenerator(movie, show: .left)
    let frames = try #require(movie.video?.frames)
    for (time, index) in [
      (frames[7].time, 7), (frames[7].time - .nanoseconds(1), 6),
      (frames[7].time + .milliseconds(20), 7), (.seconds(-5), 0), (.seconds(500), 39),
    ] {
      let frame = try await generator.frame(at: time)
      #expect(frame.index == index && frame.time == frames[index].time)
    }
    for index in [-1, 40, .max, .min] {
      let error = await #expect(throws: StereoMediaError.self) { try await generator.frame(index) }
      #expect(error?.code == .outOfRange)
    }
  }

  @Test("picture files have the frame's own pixels, and the frame is returned")
  func files() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let whole = try await sequential(movie)
    let folder = try TemporaryFolder()
    for show in [StereoImageGenerator.Show.left, .right, .both] {
      let generator = StereoImageGenerator(movie, show: show)
      let file = try await generator.image(at: .milliseconds(500), as: .png)
      #expect(file.index == 14 && file.actualTime == whole[14].time)
      #expect(file.requestedTime == .milliseconds(500))
      try Data(file.bytes).write(to: URL(filePath: folder.path("a.png")))
      try await TestMovie.play(
        "filesrc location=\(folder.path("a.png")) ! pngdec ! videoconvert "
          + "! video/x-raw,format=RGBA ! filesink location=\(folder.path("raw"))")
      let pixels = [UInt8](try Data(contentsOf: URL(filePath: folder.path("raw"))))
      let eyes = try [whole[14].left, whole[14].right].map {
        try $0.converted(to: .rgba).pixels()
      }
      let row = 320 * 4
      let expected: [UInt8] =
        switch show {
        case .left: eyes[0]
        case .right: eyes[1]
        default:
          (0..<90).flatMap { y in eyes.flatMap { $0[y * row..<(y + 1) * row] } }
        }
      #expect(same(pixels, expected), "\(show)")
    }
    let jpeg = try await StereoImageGenerator(movie, show: .anaglyph).image(3, as: .jpeg(5))
    #expect(jpeg.bytes.starts(with: [0xFF, 0xD8, 0xFF]) && jpeg.requestedTime == nil)
    let small = StereoImageGenerator(movie, show: .left, maximumSize: .fit(width: 80))
    #expect(try await small.frame(3).left.width == 80)
  }

  @Test("one frame that fails does not end the others")
  func images() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("damaged.mov")
    var bytes = try Data(contentsOf: URL(filePath: try await Movies.spatial()))
    let movie = try await StereoMovie(try await Movies.spatial())
    // The samples of the second keyframe's group are gone, the index is not.
    let file = try MovieFile(try await Movies.spatial())
    let samples = try file.track("vide").samples
    for index in 15..<30 {
      let sample = try #require(samples.sample(at: index))
      let start = Int(sample.offset)
      bytes.replaceSubrange(start..<start + Int(sample.size), with: Data(count: Int(sample.size)))
    }
    try bytes.write(to: URL(filePath: path))
    let times = try [2, 20, 35].map { try #require(movie.video?.frames[$0].time) }
    var results: [Result<EncodedImage, StereoMediaError>] = []
    let generator = StereoImageGenerator(try await StereoMovie(path), show: .both)
    for await result in generator.images(at: times) { results.append(result) }
    try #require(results.count == 3)
    #expect(try results[0].get().index == 2)
    #expect(throws: StereoMediaError.self) { try results[1].get() }
    #expect(try results[2].get().index == 35)
  }

  @Test("one eye is not shown as two; a packed movie's eyes can be extracted")
  func otherMovies() async throws {
    let one = try await StereoMovie(try await Movies.mono())
    for show in [StereoImageGenerator.Show.anaglyph, .both] {
      let mono = StereoImageGenerator(one, show: show)
      let error = await #expect(throws: StereoMediaError.self) { try await mono.image(0) }
      #expect(error?.code == .missingVideo && error?.hint != nil)
      #expect(try await mono.frame(0).isMono)
      #expect(try await mono.image(0, of: .right).bytes.isEmpty == false)
    }
    let movie = try await StereoMovie(try await Movies.packed("top-bottom"))
    let frame = try await StereoImageGenerator(movie).frame(11)
    #expect(!frame.isMono && frame.left.height == 90 && frame.index == 11)
    #expect(!same(try frame.left.pixels(), try frame.right.pixels()))
  }

  @Test("a task that is cancelled while it waits ends at once, and the others continue")
  func cancellation() async throws {
    let generator = StereoImageGenerator(try await StereoMovie(try await Movies.spatial()))
    for round in 0..<20 {
      let task = Task { try await generator.frame(round * 2) }
      try await Task.sleep(for: .microseconds(round * 700))
      task.cancel()
      let ended = await task.result
      if case .failure(let error) = ended { #expect(error is CancellationError, "\(error)") }
    }
    #expect(try await generator.frame(33).index == 33)
  }
}
