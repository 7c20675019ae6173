// SPDX-License-Identifier: MPL-2.0

import StereoMedia
import Testing

/// ``SourcePart``: which frame of a movie a composition shows when.
struct SourcePartTests {
  private func frames() async throws -> FrameIndex {
    try #require(try await StereoMovie(try await Movies.spatial()).video).frames
  }

  @Test(
    "a frame is shown from its time until the next one's; none before the first or after the end")
  func whole() async throws {
    let frames = try await frames()
    let part = SourcePart(frames, range: nil, at: .zero)
    #expect(part.indexes == 0..<40 && part.end == frames[39].time + frames[39].duration)
    for (index, frame) in frames.enumerated() {
      #expect(part.frame(at: frame.time) == index)
      #expect(part.frame(at: frame.time + frame.duration / 2) == index)
      #expect(part.frame(at: frame.time + frame.duration - .microseconds(2)) == index)
      #expect(part.place(of: index).time == frame.time)
      #expect(part.place(of: index).duration == frame.duration)
    }
    #expect(part.frame(at: .milliseconds(-1)) == nil)
    #expect(part.frame(at: part.end) == nil)
    #expect(part.frame(at: .seconds(1_000_000)) == nil)
  }

  @Test("times that are computed from a rate show the frames that they mean")
  func computed() async throws {
    let part = SourcePart(try await frames(), range: nil, at: .zero)
    for index in 0..<40 {
      #expect(part.frame(at: .seconds(1001) / 30000 * index) == index)
      #expect(part.frame(at: .seconds(Double(index) * 1001 / 30000)) == index)
    }
  }

  @Test("a part is shown at its position, and nothing of the movie outside it")
  func ranges() async throws {
    let frames = try await frames()
    let range = frames[10].time..<frames[20].time
    let part = SourcePart(frames, range: range, at: .seconds(5))
    #expect(part.indexes == 10..<20)
    #expect(part.frame(at: .seconds(5)) == 10 && part.place(of: 10).time == .seconds(5))
    #expect(part.frame(at: .seconds(5) - .microseconds(2)) == nil)
    #expect(part.frame(at: .zero) == nil)
    #expect(part.end == .seconds(5) + frames[20].time - frames[10].time)
    #expect(part.frame(at: part.end - .microseconds(2)) == 19)
    #expect(part.frame(at: part.end) == nil)
  }

  @Test("a part that begins and ends within frames begins with the next one and cuts the last one")
  func within() async throws {
    let frames = try await frames()
    let range = frames[4].time + .milliseconds(5)..<frames[6].time + .milliseconds(5)
    let part = SourcePart(frames, range: range, at: .zero)
    #expect(part.indexes == 5..<7)
    #expect(part.frame(at: .zero) == nil)
    #expect(part.frame(at: frames[5].time - range.lowerBound) == 5)
    #expect(part.place(of: 5).time == frames[5].time - range.lowerBound)
    #expect(part.place(of: 6).duration == .milliseconds(5))
    #expect(part.frame(at: part.end - .microseconds(2)) == 6)
    #expect(part.frame(at: part.end) == nil)
  }

  @Test("ranges that reach beyond the movie are cut to it")
  func beyond() async throws {
    let frames = try await frames()
    let end = frames[39].time + frames[39].duration
    let part = SourcePart(frames, range: .seconds(-3)..<(.seconds(50)), at: .seconds(1))
    #expect(part.indexes == 0..<40 && part.end == .seconds(1) + end)
    let outside = SourcePart(frames, range: .seconds(50)..<(.seconds(60)), at: .zero)
    #expect(outside.indexes.isEmpty && outside.frame(at: .zero) == nil)
    let none = SourcePart(frames, range: .zero..<(.zero), at: .zero)
    #expect(none.indexes.isEmpty && none.frame(at: .zero) == nil)
  }
}
