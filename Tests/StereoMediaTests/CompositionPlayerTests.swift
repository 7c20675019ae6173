// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoPlayer`` with a ``StereoComposition``: what is played is what is exported.
@Suite(.tags(.realTime))
struct CompositionPlayerTests {
  private func expectSame(_ one: StereoFrame, _ other: StereoFrame) throws {
    for eye in Eye.allCases {
      #expect(same(try one[eye].pixels(), try other[eye].pixels()), "\(eye) at \(one.time)")
    }
  }

  private func wait(
    for state: StereoPlayer.State, of player: StereoPlayer
  ) async throws {
    for await found in player.states where found == state { return }
    throw Failure("the player never was \(state)")
  }

  /// One movie into another, a mix of both in between.
  private func crossfade() async throws -> StereoComposition<Compose<Void>> {
    let (a, b) = (
      try await StereoMovie(try await Movies.spatial()),
      try await StereoMovie(try await Movies.fragmented())
    )
    var composition = StereoComposition(
      Compose<Void> { request in
        guard let a = request["a"] else { return request["b"] == nil ? .skip : .source("b") }
        guard let b = request["b"] else { return .source("a") }
        return .stereo(a.left, b.right)
      }, frames: .every(.milliseconds(40)))
    composition.add("a", a)
    composition.add("b", b, at: .seconds(1))
    return composition
  }

  @Test("each frame after a seek or step is the exported one")
  func identity() async throws {
    let composition = try await crossfade()
    let known = try await composition.frames().reduce(into: [StereoFrame]()) { $0.append($1) }
    #expect(known.count == 59)
    let player = try await StereoPlayer(composition)
    for index in known.indices {
      if index > 0 { try await player.step(by: 1) }
      let frame = try #require(player.frame(), "\(index)")
      #expect(frame.index == index && frame.time == known[index].time && !frame.isMono)
      #expect(frame.duration == known[index].duration && frame.metadata == known[index].metadata)
      try expectSame(frame, known[index])
    }
    var dice = Dice(5)
    for _ in 0..<20 {
      let index = dice.next(below: known.count)
      try await player.seek(to: known[index].time + .milliseconds(dice.next(below: 39)))
      try expectSame(try #require(player.frame()), known[index])
    }
  }

  @Test("it plays in real time to its end, and in a loop")
  func playing() async throws {
    let composition = try await crossfade()
    let known = try await composition.frames().reduce(into: [StereoFrame]()) { $0.append($1) }
    let player = try await StereoPlayer(composition)
    let start = ContinuousClock.now
    player.play()
    var indexes: [Int] = []
    for await frame in player.frames {
      let index = try #require(frame.index)
      indexes.append(index)
      try expectSame(frame, known[index])
      if index == known.count - 1 { break }
    }
    #expect(ContinuousClock.now - start > .seconds(2.2))
    // A busy machine shows fewer of them.
    #expect(indexes.count > 1 && indexes == indexes.sorted(), "\(indexes)")
    try await wait(for: .ended, of: player)
    player.loops = true
    player.play()
    for _ in 0..<2 {
      for await frame in player.frames where (frame.index ?? 0) > 50 { break }
      for await frame in player.frames where (frame.index ?? 99) < 10 { break }
    }
  }

  @Test("a mono composition plays one picture for both eyes, with its selected audio")
  func mono() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var composition = composition(movie, output: .mono)
    composition.audio = "a"
    let known = try await composition.frames().reduce(into: [StereoFrame]()) { $0.append($1) }
    let player = try await StereoPlayer(composition)
    player.play()
    for await frame in player.frames {
      let index = try #require(frame.index)
      #expect(frame.isMono)
      try expectSame(frame, known[index])
      if index == known.count - 1 { break }
    }
    try await wait(for: .ended, of: player)
    try await player.seek(to: known[20].time)
    try expectSame(try #require(player.frame()), known[20])
  }

  private struct Oops: Error {}

  @Test("a compositor's error ends the playback, and is reported")
  func throwing() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    let never = composition(movie) { _ in throw Oops() }
    let failure = await #expect(throws: StereoMediaError.self) { try await StereoPlayer(never) }
    #expect(failure?.code == .compositionFailed && failure?.message.contains("Oops") == true)
    let later = composition(movie) { request in
      if request.time > .seconds(1) { throw Oops() }
      return .source("a")
    }
    let player = try await StereoPlayer(later)
    player.play()
    var last: StereoPlayer.State?
    for await state in player.states { last = state }
    guard case .failed(let error) = last else {
      Issue.record("it ended as \(String(describing: last))")
      return
    }
    #expect(error.code == .compositionFailed, "\(error)")
    await #expect(throws: StereoMediaError.self) { try await player.seek(to: .zero) }
  }

  @Test("a compositor that never returns blocks no caller")
  func neverReturning() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    for isAtStart in [true, false] {
      let isInside = Signal()
      let stuck = composition(movie) { request in
        guard isAtStart || request.time > .milliseconds(500) else { return .source("a") }
        await isInside.come()
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
        return .skip
      }
      let task = Task {
        let player = try await StereoPlayer(stuck)
        player.play()
        for await _ in player.frames {}
        try Task.checkCancellation()
      }
      await isInside.wait()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
  }

  @Test("incompatible compositions are refused")
  func refused() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    for (grid, word) in [
      (FrameGrid.of("b"), "no source 'b'"), (.every(.zero), "interval has to be above 0"),
      (.every(.nanoseconds(1)), "too many frames"),
    ] {
      let failure = await #expect(throws: StereoMediaError.self) {
        try await StereoPlayer(composition(movie, grid))
      }
      #expect(failure?.message.contains(word) == true, "\(String(describing: failure))")
    }
  }
}
