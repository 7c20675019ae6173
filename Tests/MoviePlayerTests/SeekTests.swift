// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Going elsewhere in a movie, backwards, and over a part of it.
struct SeekTests {
  static let frame: ClockTime = 1_000_000_000 / 30

  /// What a seek gives, up to the end.
  private func play(
    _ session: inout Session, _ seek: SeekRequest, after whole: Recording
  ) throws -> Recording {
    guard session.seek(seek) else { throw Failure("the seek is refused") }
    var recording = Recording(after: whole)
    try session.play(into: &recording)
    #expect(recording.disorder == [])
    return recording
  }

  @Test(
    "an exact seek begins with the keyframe that its first frame needs",
    arguments: [Delivery.read, .memory, .movable(upTo: 3000)])
  func exact(delivery: Delivery) throws {
    let bytes = try WovenMovie(hasAudio: true).bytes()
    var session = Session(bytes, delivery)
    let whole = try session.playToEnd()
    var dice = Dice(7)
    for _ in 0..<100 {
      let time = ClockTime(nanoseconds: dice.next(below: 1_590_000_000)) + 2
      let rest = try play(&session, SeekRequest(to: time), after: whole)
      let shown = Int(time.units(perSecond: 30))
      let key = shown / WovenStream.keyInterval * WovenStream.keyInterval
      for name in ["left", "right", "video_0"] {
        let all = whole[name].contents
        let distance = all.count - rest[name].samples.count
        #expect(rest[name].contents == Array(all.dropFirst(distance)), "\(name) at \(time)")
        #expect(rest[name].shown.count == 48 - key, "\(name) at \(time)")
        #expect(rest[name].samples.first?.flags.isSuperset(of: .discontinuity) == true)
        let segment = try #require(rest[name].segments.first)
        #expect(segment.time == time && segment.base == 0)
        #expect(rest[name].streamTimes.contains { $0 <= time && $0 + Self.frame + 2 > time })
      }
      let audio = rest["audio_0"].contents.flatMap { $0 }
      #expect(audio == Array(whole["audio_0"].contents.flatMap { $0 }.suffix(audio.count)))
      #expect(rest["audio_0"].streamTimes.first.map { $0 <= time } == true)
      #expect(session.player.position >= time)
    }
  }

  @Test("a seek to a key unit begins with the one before, after or nearest")
  func keyUnits() throws {
    var session = Session(try WovenMovie().bytes(), .read)
    let whole = try session.playToEnd()
    #expect(session.player.duration == 48 * .second / 30)
    for (snap, frame) in [(SeekRequest.Snap.before, 12), (.after, 18), (.nearest, 18)] {
      var seek = SeekRequest(to: 16 * Self.frame)
      seek.precision = .keyUnit(snap)
      let rest = try play(&session, seek, after: whole)
      let first = try #require(rest["video_0"].streamTimes.first)
      #expect(first.nanoseconds / (Self.frame - 1).nanoseconds == frame, "\(snap)")
      #expect(rest["video_0"].segments.first?.time == first)
      #expect(rest["video_0"].samples.first?.flags.contains(.delta) == false)
      #expect(rest["video_0"].samples.first?.flags.contains(.discontinuity) == true)
      #expect(rest["video_0"].samples.count == 48 - frame)
    }
  }

  @Test("backwards, every sample comes once, group by group")
  func reverse() throws {
    var session = Session(try WovenMovie(hasAudio: true).bytes(), .read)
    let whole = try session.playToEnd()
    var seek = SeekRequest(to: 0)
    seek.rate = -1
    let back = try play(&session, seek, after: whole)
    for name in ["left", "right", "video_0"] {
      #expect(
        back[name].contents.sorted { $0.lexicographicallyPrecedes($1) }
          == whole[name].contents.sorted { $0.lexicographicallyPrecedes($1) }, "\(name)")
      let starts = back[name].samples.filter { $0.flags.contains(.discontinuity) }
      #expect(starts.count == 8, "\(name)")
      let times = starts.compactMap(\.presentationTime)
      #expect(times == times.sorted(by: >), "\(name)")
    }
    let bytes = { (recording: Recording) in recording["audio_0"].contents.flatMap { $0 }.count }
    #expect(bytes(back) == bytes(whole))
    #expect(back.end == .endOfStream)
  }

  @Test("a part is played up to its end, which is reported as a segment's if requested")
  func segments() throws {
    var session = Session(try WovenMovie(hasAudio: true).bytes(), .read)
    let whole = try session.playToEnd()
    var seek = SeekRequest(
      start: .at(400_000_002), stop: .at(800_000_000))
    let part = try play(&session, seek, after: whole)
    #expect(part.end == .endOfStream)
    #expect(part["video_0"].hasEnded)
    #expect((12...14).contains(part["video_0"].samples.count))
    seek.flags.insert(.endsWithSegmentDone)
    let segment = try play(&session, seek, after: whole)
    #expect(segment.end == .segmentDone(at: 800_000_000))
    #expect(segment.streams.allSatisfy { !$0.hasEnded })
    // Without a flush, running time continues.
    let next = SeekRequest(start: .at(0), stop: .at(6 * Self.frame))
    var looped = next
    looped.flags = [.endsWithSegmentDone]
    let loop = try play(&session, looped, after: segment)
    let base = try #require(loop["video_0"].segments.first?.base)
    #expect(base >= 11 * Self.frame && base <= 12 * Self.frame)
    looped.flags = [.reset]
    #expect(try play(&session, looped, after: segment)["video_0"].segments.first?.base == 0)
  }

  @Test("a seek that makes no sense is none")
  func refused() throws {
    var session = Session(try WovenMovie().bytes(), .read)
    #expect(session.player.plan(SeekRequest(to: 0)) == nil)
    _ = try session.playToEnd()
    for rate in [0, Double.nan, .infinity, -.infinity] {
      #expect(session.player.plan(SeekRequest(rate: rate, start: .at(0))) == nil)
    }
    #expect(session.player.plan(SeekRequest(start: .at(2), stop: .at(1))) == nil)
    var stream = Session(try WovenMovie().bytes(), .pushed(upTo: 1000))
    _ = try stream.playToEnd()
    #expect(stream.player.plan(SeekRequest(to: 0)) == nil)
    var movable = Session(try WovenMovie().bytes(), .movable(upTo: 1000))
    _ = try movable.playToEnd()
    #expect(movable.player.plan(SeekRequest(rate: -1, start: .at(0))) == nil)
    #expect(movable.player.plan(SeekRequest(to: 0)) != nil)
  }

  @Test("seeks to any position at any speed end")
  func storm() throws {
    let movie = try #require(SeedMovie(try WovenMovie(repetitions: 1, hasAudio: true).bytes()))
    let times =
      [0, 1, 100_000_000, 399_999_999, 400_000_000, 1_000_000_000_000, .max - 1, .max]
      as [ClockTime]
    let rates = [
      1, -1, 0.5, -2, 1000, -1e9, .leastNonzeroMagnitude, -.leastNonzeroMagnitude,
      .greatestFiniteMagnitude, -.greatestFiniteMagnitude,
    ]
    var dice = Dice(5)
    for bytes in [movie.bytes, movie.indexFirst, movie.fragmented()] {
      var session = Session(bytes, .read)
      let whole = try session.playToEnd()
      for _ in 0..<200 {
        var seek = SeekRequest(
          rate: rates[dice.next(below: rates.count)], start: .at(times[dice.next(below: 8)]))
        if dice.next(below: 2) == 0 { seek.stop = .at(times[dice.next(below: 8)]) }
        if dice.next(below: 3) == 0 {
          seek.start = .fromEnd(RunningTime(nanoseconds: -dice.next(below: 500_000_000)))
        }
        seek.flags = PlaybackSegment.Flags(rawValue: UInt32(dice.next(below: 64)))
        if dice.next(below: 2) == 0 { seek.precision = .keyUnit(.nearest) }
        guard session.seek(seek) else { continue }
        var recording = Recording(after: whole)
        if dice.next(below: 2) == 0 {
          try session.play(into: &recording)
          #expect(recording.disorder == [])
        } else {
          for _ in 0..<dice.next(below: 10) { _ = try session.next() }
        }
      }
    }
  }
}
