// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// The end of playback that is abandoned, or cannot continue.
@Suite(.serialized, .tags(.realTime))
struct PlayerEndTests {
  @Test("a player that is released while it plays leaves neither threads nor files")
  func dropped() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    func round(_ number: Int) async throws {
      let player = try await StereoPlayer(movie)
      let (frames, states) = (player.frames, player.states)
      player.loops = number % 2 == 0
      player.play(rate: number % 3 == 0 ? 2 : 1)
      for await frame in frames where (frame.index ?? 0) > number % 4 { break }
      if number % 5 == 0 { player.pause() }
      _ = states
    }
    for number in 0..<6 { try await round(number) }
    try await Task.sleep(for: .milliseconds(500))
    let (threads, files) = (Holdings.threads, Holdings.files)
    for number in 0..<20 { try await round(number) }
    #expect(try await Holdings.settle(at: threads + 4) { Holdings.threads })
    #expect(try await Holdings.settle(at: files) { Holdings.files })
  }

  @Test("frames end with the movie, each time that it is played, and go on while it loops")
  func moviesEnd() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var last = Duration.zero
    for try await frame in StereoReader(movie) { last = frame.time }
    let player = try await StereoPlayer(movie, audio: .none)
    for _ in 0..<2 {
      player.play(rate: 4)
      var times: [Duration] = []
      for await frame in player.frames { times.append(frame.time) }
      #expect(times.last == last)
    }
    player.loops = true
    player.play(rate: 4)
    var rounds = 0
    var previous = Duration.zero
    for await frame in player.frames {
      if frame.time < previous { rounds += 1 }
      previous = frame.time
      if rounds == 3 { break }
    }
    #expect(rounds == 3)
  }

  @Test("loops over a player's sequences end with it")
  func loopsEnd() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    var player: StereoPlayer? = try await StereoPlayer(movie)
    player?.play()
    let (frames, states) = (try #require(player?.frames), try #require(player?.states))
    let both = Task {
      var count = 0
      for await _ in frames { count += 1 }
      for await _ in states { count += 1 }
      return count
    }
    for await frame in try #require(player?.frames) where (frame.index ?? 0) > 2 { break }
    player = nil
    #expect(await both.value > 2)
  }

  @Test("a player that is cancelled while opening or seeking leaves nothing")
  func cancelled() async throws {
    let movie = try await StereoMovie(try await Movies.spatial())
    _ = try await StereoPlayer(movie)
    let player = try await StereoPlayer(movie)
    try await Task.sleep(for: .milliseconds(500))
    let (threads, files) = (Holdings.threads, Holdings.files)
    for round in 0..<20 {
      let opening = Task { _ = try await StereoPlayer(movie) }
      let seeking = Task { try await player.seek(to: .milliseconds(round * 50)) }
      try await Task.sleep(for: .milliseconds(round * 2))
      opening.cancel()
      seeking.cancel()
      for result in [await opening.result, await seeking.result] {
        if case .failure(let error) = result { #expect(error is CancellationError, "\(error)") }
      }
    }
    try await player.seek(to: .seconds(1))
    #expect(player.frame()?.index == 29)
    #expect(try await Holdings.settle(at: threads + 4) { Holdings.threads })
    #expect(try await Holdings.settle(at: files) { Holdings.files })
  }

  @Test("a loop over a movie that has become empty fails the player for good")
  func failing() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    try FileManager.default.copyItem(atPath: try await Movies.lasting(), toPath: path)
    let player = try await StereoPlayer(try await StereoMovie(path))
    player.loops = true
    try await player.seek(to: .zero)
    try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 64)
    player.play(rate: 16)
    var last: StereoPlayer.State?
    for await state in player.states {
      last = state
      if state == .ended { break }
    }
    guard case .failed(let error) = last else {
      Issue.record("\(String(describing: last))")
      return
    }
    #expect(error.code == .decodingFailed, "\(error)")
    await #expect(throws: error) { try await player.seek(to: .zero) }
    await #expect(throws: error) { try await player.step(by: 1) }
    player.play()
    player.loops = true
    var again = player.states.makeAsyncIterator()
    #expect(await again.next() == last)
    #expect(await again.next() == nil)
  }

  @Test("a file that becomes shorter while it plays ends there")
  func truncated() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    try FileManager.default.copyItem(atPath: try await Movies.lasting(), toPath: path)
    let player = try await StereoPlayer(try await StereoMovie(path))
    let size = try #require(
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
    try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: UInt64(size / 4))
    player.play(rate: 16)
    for await state in player.states where state == .ended { break }
    #expect(player.time < .seconds(9))
    await #expect(throws: StereoMediaError.self) { try await player.seek(to: .seconds(9)) }
  }

  @Test("damaged movies end in an error or at their end", arguments: 0..<24)
  func damaged(round: Int) async throws {
    var bytes = [UInt8](
      try Data(
        contentsOf: URL(
          filePath: round % 2 == 0 ? try await Movies.spatial() : try await Movies.fragmented())))
    var random = UInt32(round + 1)
    func next(_ limit: Int) -> Int {
      random = random &* 1_664_525 &+ 1_013_904_223
      return Int(random >> 8) % max(limit, 1)
    }
    if round % 3 == 0 {
      bytes.removeLast(next(bytes.count / 2))
    } else {
      // Mostly pictures, and mostly what says where they are.
      let region = round % 3 == 1 ? bytes.count : min(4000, bytes.count)
      for _ in 0..<20 { bytes[bytes.count - 1 - next(region)] = UInt8(next(256)) }
    }
    let folder = try TemporaryFolder()
    let path = folder.path("a.mov")
    try Data(bytes).write(to: URL(filePath: path))
    do {
      let player = try await StereoPlayer(try await StereoMovie(path))
      player.loops = round % 4 == 0
      player.play(rate: 4)
      for await frame in player.frames where (frame.index ?? 0) > 10 { break }
      try await player.seek(to: .milliseconds(500))
      try await player.step(by: -3)
      player.loops = false
      player.play(rate: 8)
      for await state in player.states where state == .ended { break }
    } catch {
      #expect(error is StereoMediaError, "\(error)")
    }
  }
}
