// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoMedia
import TestKit
import Testing

/// ``StereoPlayer``: frames when they are due, and exact places.
@Suite(.tags(.realTime))
struct StereoPlayerTests {
  /// What a reader gives of each frame.
  private func read(_ path: String) async throws -> [StereoFrame] {
    try await StereoReader(try await StereoMovie(path)).reduce(into: []) { $0.append($1) }
  }

  private func isSame(_ one: StereoFrame, _ other: StereoFrame) throws -> Bool {
    try one.time == other.time && same(try one.left.pixels(), try other.left.pixels())
      && same(try one.right.pixels(), try other.right.pixels())
  }

  private func player(_ path: String, audio: StereoPlayer.AudioOutput = .none) async throws
    -> StereoPlayer
  {
    try await StereoPlayer(try await StereoMovie(path), audio: audio)
  }

  /// Waits until a player says so.
  private func wait(
    for state: StereoPlayer.State, of player: StereoPlayer
  ) async throws {
    for await found in player.states where found == state { return }
    throw Failure("the player never was \(state)")
  }

  enum Kind: CaseIterable {
    case spatial, fragmented, sideBySide, topBottom, mono

    func path() async throws -> String {
      switch self {
      case .spatial: try await Movies.spatial()
      case .fragmented: try await Movies.fragmented()
      case .sideBySide: try await Movies.packed("side-by-side")
      case .topBottom: try await Movies.packed("top-bottom")
      case .mono: try await Movies.mono()
      }
    }
  }

  @Test(
    "frames come in order, each as the reader gives it; the last one stays",
    arguments: Kind.allCases.sampled(3))
  func inOrder(kind: Kind) async throws {
    let path = try await kind.path()
    let known = try await read(path)
    let player = try await player(path)
    let first = try #require(player.frame())
    #expect(first.index == 0 && player.frame() == nil && player.time == .zero)
    let states = Task { [states = player.states] in
      var seen: [StereoPlayer.State] = []
      for await state in states {
        seen.append(state)
        if state == .ended { break }
      }
      return seen
    }
    let frames = player.frames
    player.play()
    var indexes: [Int] = []
    for await frame in frames {
      let index = try #require(frame.index)
      #expect(frame.isMono == (kind == .mono))
      #expect(try isSame(frame, known[index]), "\(index)")
      indexes.append(index)
      if index == known.count - 1 { break }
    }
    #expect(indexes.count > 2 && indexes == Set(indexes).sorted(), "\(indexes)")
    #expect(await states.value == [.paused, .playing, .ended])
    #expect(player.time == known.last?.time)
    // From the beginning again.
    player.play()
    try await wait(for: .playing, of: player)
    try await wait(for: .ended, of: player)
    #expect(player.time == known.last?.time)
  }

  @Test("pause keeps the frame that is shown, and play continues after it")
  func pause() async throws {
    let path = try await Movies.lasting()
    let known = try await read(path)
    let player = try await player(path)
    player.play()
    for await frame in player.frames where (frame.index ?? 0) >= 10 { break }
    player.pause()
    try await wait(for: .paused, of: player)
    let held = player.time
    _ = player.frame()
    // As long as another one plays to its end.
    let other = try await self.player(try await Movies.mono())
    other.play()
    try await wait(for: .ended, of: other)
    #expect(player.frame() == nil && player.time == held)
    player.play()
    var later = player.frames.makeAsyncIterator()
    #expect(await later.next()?.time == held)
    let next = try #require(await later.next())
    #expect(next.time > held && next.time < held + .seconds(3))
    #expect(try isSame(next, known[try #require(next.index)]))
  }

  @Test("a seek shows exactly the frame at its time", arguments: Kind.allCases.sampled(3))
  func exact(kind: Kind) async throws {
    let path = try await kind.path()
    let known = try await read(path)
    let player = try await player(path)
    var random = UInt32(5)
    for _ in 0..<15 {
      random = random &* 1_664_525 &+ 1_013_904_223
      let index = Int(random >> 16) % known.count
      let frame = known[index]
      let end = index + 1 < known.count ? known[index + 1].time : frame.time + .seconds(5)
      for time in [frame.time, (frame.time + end) / 2, end - .nanoseconds(1)] {
        try await player.seek(to: time)
        let shown = try #require(player.frame())
        #expect(shown.index == index && player.frame() == nil && player.time == frame.time)
        #expect(try isSame(shown, frame), "\(index)")
      }
    }
    for (time, index) in [
      (.seconds(-5), 0), (.seconds(100), known.count - 1),
      (.seconds(Int64.max), known.count - 1), (.zero, 0),
    ] as [(Duration, Int)] {
      try await player.seek(to: time)
      #expect(player.frame()?.index == index)
    }
  }

  @Test("a keyframe is the last one up to the place")
  func keyframes() async throws {
    let path = try await Movies.spatial()
    let player = try await player(path)
    let frames = try #require(try await StereoMovie(path).video?.frames)
    for index in [0, 7, 14, 15, 16, 29, 30, 39] {
      try await player.seek(to: frames[index].time, .keyframe)
      #expect(player.frame()?.index == index / 15 * 15)
    }
  }

  @Test(
    "steps go forth and back by index, not beyond the ends, and pause", arguments: Kind.allCases)
  func steps(kind: Kind) async throws {
    let path = try await kind.path()
    let known = try await read(path)
    let player = try await player(path)
    let last = known.count - 1
    for (count, index) in [
      (1, 1), (1, 2), (1, 3), (-1, 2), (10, 12), (-3, 9), (0, 9), (-100, 0), (-1, 0), (.max, last),
      (1, last), (-1, last - 1), (.min, 0),
    ] {
      try await player.step(by: count)
      let shown = try #require(player.frame())
      #expect(shown.index == index)
      #expect(try isSame(shown, known[index]), "\(index)")
    }
    player.play()
    for await frame in player.frames where frame.index ?? 0 > 2 { break }
    try await player.step(by: -1)
    var states = player.states.makeAsyncIterator()
    #expect(await states.next() == .paused)
    let shown = try #require(player.frame())
    #expect(try isSame(shown, known[try #require(shown.index)]))
  }

  @Test("rates are as fast as they say; those that make no sense count as some that do")
  func rates() async throws {
    let path = try await Movies.lasting()
    let (slow, fast) = (try await player(path), try await player(path))
    slow.play()
    fast.play(rate: 4)
    for await frame in fast.frames where (frame.index ?? 0) >= 200 { break }
    let (one, other) = (slow.time, fast.time)
    #expect(one * 2 < other && one * 8 > other, "\(one) \(other)")
    // In the middle of playing.
    slow.play(rate: 16)
    for await frame in slow.frames where (frame.index ?? 0) >= 250 { break }
    for rate in [Double.nan, 0, -3, .infinity, 1e-300] {
      slow.play(rate: rate)
      try await slow.seek(to: .seconds(3))
      #expect(try #require(slow.frame()).time >= .seconds(2.9))
    }
  }

  @Test("a movie loops until looping is switched off, and nothing piles up")
  func loops() async throws {
    let path = try await Movies.short()
    let known = try await read(path)
    let player = try await player(path, audio: .automatic)
    player.loops = true
    #expect(player.loops)
    player.play()
    var (rounds, last) = (0, -1)
    var holdings = (threads: 0, files: 0)
    let start = ContinuousClock.now
    for await frame in player.frames {
      let index = try #require(frame.index)
      if index < last {
        rounds += 1
        if rounds == 3 { holdings = (Holdings.threads, Holdings.files) }
        if rounds == 20 { break }
      }
      last = index
      #expect(try isSame(frame, known[index]), "\(index)")
    }
    #expect(rounds == 20)
    // As long as they play, and not as fast as they can be decoded.
    #expect(ContinuousClock.now - start > .seconds(3))
    #expect(try await Holdings.settle(at: holdings.threads + 2) { Holdings.threads })
    #expect(try await Holdings.settle(at: holdings.files) { Holdings.files })
    try await player.seek(to: known[4].time)
    for await frame in player.frames where frame.index == 1 { break }
    player.loops = false
    try await wait(for: .ended, of: player)
    #expect(player.time == known.last?.time)
    player.loops = true
    player.play()
    for _ in 0..<2 {
      for await frame in player.frames where frame.index == 4 { break }
      for await frame in player.frames where frame.index == 1 { break }
    }
  }

  @Test("many seeks in a row, and from many tasks at once")
  func seeks() async throws {
    let path = try await Movies.spatial()
    let known = try await read(path)
    let player = try await player(path, audio: .automatic)
    for round in (0..<200).sampled(60) {
      let index = round * 17 % 40
      try await player.seek(to: known[index].time)
      #expect(player.frame()?.index == index)
    }
    player.loops = true
    player.play()
    for round in 0..<50 {
      let index = round * 23 % 40
      try await player.seek(to: known[index].time)
      let frame = try #require(player.frame())
      #expect(try isSame(frame, known[try #require(frame.index)]))
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for round in 0..<50 {
        group.addTask {
          switch round % 5 {
          case 0: player.play(rate: round % 2 == 0 ? 1 : 2)
          case 1: player.pause()
          case 2: try await player.step(by: round % 3 - 1)
          case 3: player.loops = round % 2 == 0
          default: try await player.seek(to: .milliseconds(round * 20))
          }
        }
      }
      try await group.waitForAll()
    }
    player.pause()
    try await player.seek(to: known[33].time)
    #expect(player.frame()?.index == 33)
    player.loops = false
    player.play()
    try await wait(for: .ended, of: player)
  }

  @Test("without an audio device, a movie plays, with a warning", .tags(.process))
  func noDevice() async throws {
    let tried = try Program.run([
      "gst-launch-1.0", "audiotestsrc", "num-buffers=1", "!", "autoaudiosink",
    ])
    let hasDevice = !tried.output.contains("WARNING")
    for (path, audio, isSilent) in [
      (try await Movies.spatial(), StereoPlayer.AudioOutput.automatic, !hasDevice),
      (try await Movies.spatial(), .none, false),
      (try await Movies.fragmented(), .automatic, false),
    ] {
      let player = try await player(path, audio: audio)
      player.play()
      var warnings: [StereoMediaError] = []
      for await state in player.states {
        if case .warning(let warning) = state { warnings.append(warning) }
        if state == .ended { break }
      }
      #expect(player.time == (try await StereoMovie(path)).video?.frames.last?.time)
      #expect(warnings.map(\.code) == (isSilent ? [.audioUnavailable] : []), "\(warnings)")
    }
  }

  @Test("audio without a decoder is a warning, and the pictures play")
  func undecodableAudio() async throws {
    let folder = try TemporaryFolder()
    var bytes = [UInt8](try Data(contentsOf: URL(filePath: try await Movies.spatial())))
    let name = Array("mp4a".utf8)
    for place in bytes.indices.dropLast(4) where Array(bytes[place..<place + 4]) == name {
      bytes.replaceSubrange(place..<place + 4, with: Array("zzzz".utf8))
    }
    let path = folder.path("a.mov")
    try Data(bytes).write(to: URL(filePath: path))
    let player = try await player(path, audio: .automatic)
    var states = player.states.makeAsyncIterator()
    guard case .warning(let warning) = await states.next() else {
      Issue.record("no warning")
      return
    }
    #expect(warning.code == .audioUnavailable)
    player.play()
    try await wait(for: .ended, of: player)
  }

  @Test("unplayable movies and impossible picture formats are errors")
  func refused() async throws {
    let folder = try TemporaryFolder()
    _ = try await Movies.spatial()
    let audio = folder.path("sound.mp4")
    try await TestMovie.play(
      "audiotestsrc num-buffers=10 ! avenc_aac ! mp4mux ! filesink location=\(audio)")
    let gone = folder.path("gone.mov")
    try FileManager.default.copyItem(atPath: try await Movies.spatial(), toPath: gone)
    let movie = try await StereoMovie(gone)
    try FileManager.default.removeItem(atPath: gone)
    for movie in [movie, try await StereoMovie(audio)] {
      await #expect(throws: StereoMediaError.self) { _ = try await StereoPlayer(movie) }
    }
    let whole = try await StereoMovie(try await Movies.spatial())
    for (format, size) in [
      ("NONSENSE ! fakesink", nil), ("RGBA", PictureSize.fit(width: 0)),
    ] as [(PixelFormat, PictureSize?)] {
      let error = await #expect(throws: StereoMediaError.self) {
        _ = try await StereoPlayer(whole, format: format, size: size)
      }
      #expect(error?.code == .unsupportedFormat)
    }
    let small = try await StereoPlayer(whole, audio: .none, format: .rgba, size: .fit(width: 160))
    let frame = try #require(small.frame())
    #expect(frame.right.format == .rgba && (frame.right.width, frame.right.height) == (160, 45))
  }

  @Test("players of one movie do not disturb each other")
  func two() async throws {
    let path = try await Movies.spatial()
    let known = try await read(path)
    let movie = try await StereoMovie(path)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<2 {
        group.addTask {
          let player = try await StereoPlayer(movie)
          player.play()
          for await frame in player.frames {
            let index = try #require(frame.index)
            #expect(try isSame(frame, known[index]))
            if index == 39 { return index }
          }
          return -1
        }
      }
      for try await last in group { #expect(last == 39) }
    }
  }
}
