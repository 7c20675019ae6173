// SPDX-License-Identifier: MPL-2.0

import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Playing fast or backwards, with key frames alone or without audio.
struct TrickModeTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let rate: Double
    let flags: PlaybackSegment.Flags
    let delivery: Delivery

    var hasKeyUnitsOnly: Bool { flags.contains(.keyUnitsOnly) }
    var isMute: Bool { flags.contains(.withoutAudio) }
    var testDescription: String {
      "\(delivery) at \(rate)\(hasKeyUnitsOnly ? ", key units" : "")\(isMute ? ", mute" : "")"
    }
  }

  /// A source that moves goes forwards only.
  private static let ways: [(rate: Double, delivery: Delivery)] = [
    (4, .read), (-4, .read), (0.5, .memory), (-0.5, .memory), (4, .movable(upTo: 700)),
  ]

  static let cases = ways.flatMap { way in
    [[.keyUnitsOnly, .withoutAudio], [.keyUnitsOnly], [.withoutAudio], []].map {
      (flags: PlaybackSegment.Flags) in
      Case(rate: way.rate, flags: flags.union(.trickMode), delivery: way.delivery)
    }
  }

  private static let frameCount = 48

  @Test("what is asked for is left out, and nothing else", arguments: cases)
  func shouldDrop(_ test: Case) throws {
    var session = Session(try WovenMovie(hasAudio: true).bytes(), test.delivery)
    let whole = try session.playToEnd()
    let recording = try play(&session, test, after: whole)
    let keys = Self.frameCount / WovenStream.keyInterval
    for name in ["left", "right", "video_0"] {
      let (some, all) = (recording[name], whole[name])
      #expect(some.shown.count == (test.hasKeyUnitsOnly ? keys : all.shown.count), "\(name)")
    }
    let audio = recording["audio_0"]
    #expect(audio.segments.count == 1 && audio.samples.isEmpty == test.isMute)
    if !test.isMute {
      let bytes = { (played: Recording.Played) in played.contents.flatMap { $0 }.count }
      #expect(bytes(audio) == bytes(whole["audio_0"]))
    }
    #expect(recording.streams.allSatisfy { $0.hasEnded })
    // A seek without them brings back all.
    let normal = try play(
      &session, Case(rate: 1, flags: [], delivery: test.delivery), after: whole)
    #expect(normal["audio_0"].contents == whole["audio_0"].contents)
    #expect(normal["video_0"].contents == whole["video_0"].contents)
  }

  @Test(
    "key units come alone, each up to the next one, and nothing else is read; audio is a gap",
    arguments: cases.filter { $0.hasKeyUnitsOnly && $0.isMute })
  func keyUnits(_ test: Case) throws {
    let bytes = try WovenMovie(hasAudio: true).bytes()
    var session = Session(bytes, test.delivery)
    let whole = try session.playToEnd()
    let read = session.byteCount
    let fast = try play(&session, test, after: whole)
    // What moves to nothing but the start reads all of it.
    if case .movable = test.delivery {} else { #expect(session.byteCount - read < bytes.count / 2) }
    let keys = Array(stride(from: 0, to: Self.frameCount, by: WovenStream.keyInterval))
    for name in ["left", "right", "video_0"] {
      let frames = fast[name].streamTimes.map { Int(($0 + 1_000_000).units(perSecond: 30)) }
      #expect(frames == (test.rate > 0 ? keys : keys.reversed()), "\(name)")
      #expect(fast[name].samples.allSatisfy { $0.duration ?? 0 >= 6 * SeekTests.frame })
      #expect(fast[name].samples.allSatisfy { $0.flags.contains(.discontinuity) })
    }
    let gaps = fast["audio_0"].gaps
    for (one, next) in zip(gaps, gaps.dropFirst()) {
      #expect(
        test.rate > 0 ? one.upperBound == next.lowerBound : one.lowerBound == next.upperBound)
    }
    #expect((test.rate > 0 ? gaps.first : gaps.last)?.lowerBound == 0)
    let end = (test.rate > 0 ? gaps.last : gaps.first)?.upperBound ?? 0
    #expect(end == ClockTime(Self.frameCount, perSecond: 30))
  }

  @Test("the key unit before what is sought stands for it", arguments: [4.0, -4.0])
  func soughtKeyUnits(rate: Double) throws {
    var session = Session(try WovenMovie().bytes(), .read)
    let whole = try session.playToEnd()
    let test = Case(rate: rate, flags: [.trickMode, .keyUnitsOnly], delivery: .read)
    let fast = try play(&session, test, from: 14 * SeekTests.frame, after: whole)
    let keys = [12, 18, 24, 30, 36, 42]
    for stream in fast.streams {
      let frames = stream.streamTimes.map {
        Int(($0 + 1_000_000).nanoseconds / SeekTests.frame.nanoseconds)
      }
      // What begins before the segment counts as its start.
      let expected = [14] + keys.dropFirst()
      #expect(frames == (rate > 0 ? expected : expected.reversed()), "\(stream.name)")
      #expect(
        stream.contents
          == (rate > 0 ? keys : keys.reversed()).map { key in
            whole[stream.name].contents[key]
          })
    }
  }

  private func play(
    _ session: inout Session, _ test: Case, from start: ClockTime = 0, after whole: Recording
  ) throws -> Recording {
    var seek = SeekRequest(to: start)
    seek.rate = test.rate
    seek.flags.formUnion(test.flags)
    guard session.seek(seek) else { throw Failure("the seek is refused") }
    var recording = Recording(after: whole)
    try session.play(into: &recording)
    #expect(recording.disorder == [])
    return recording
  }
}
