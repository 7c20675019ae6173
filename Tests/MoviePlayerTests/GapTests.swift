// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import ISOBMFF
import MoviePlayer
import StereoVideo
import TestKit
import Testing

/// Saying that nothing comes for a while: where that is so, and nowhere else.
struct GapTests {
  @Test("slow movies with B pictures have no gaps", arguments: [30_000, 90_000, 180_000])
  func slow(frameDuration: UInt32) throws {
    let movie = WovenMovie(frameDuration: frameDuration, hasAudio: true)
    let bytes = try movie.bytes()
    let fragmented = try #require(SeedMovie(bytes)).fragmented(length: 5)
    for (bytes, delivery) in [
      (bytes, Delivery.read), (bytes, .pushed(upTo: 700)), (fragmented, .read),
      (fragmented, .pushed(upTo: 700)),
    ] {
      let recording = try Session.play(bytes, delivery)
      for stream in recording.streams {
        #expect(stream.gaps.isEmpty, "\(stream.name), \(delivery): \(stream.gaps)")
      }
      #expect(recording["left"].shown.count == movie.frameCount)
      #expect(recording.disorder == [])
    }
  }

  /// A movie whose second track, audio, has only its first tenth.
  private func withShortAudio(_ repetitions: Int) throws -> [UInt8] {
    let movie = WovenMovie(repetitions: repetitions, hasAudio: true)
    return SeedMovie.editing(try movie.bytes()) { moov in
      moov.setEdits(
        [
          Edit(duration: 90_000 / 10, mediaTime: 0),
          Edit(duration: 90_000 * 5, mediaTime: nil),
          Edit(duration: 90_000 / 10, mediaTime: 1000),
        ], ofTrack: 1)
    }
  }

  @Test("an empty edit is a gap, whatever part of it is played")
  func emptyEdits() throws {
    for delivery in [Delivery.read, .pushed(upTo: 1000)] {
      var session = Session(try withShortAudio(20), delivery)
      let whole = try session.playToEnd()
      #expect(whole["audio_0"].gaps.map { $0.upperBound - $0.lowerBound } == [5 * .second])
      #expect(whole["audio_0"].segments.count == 3)
      #expect(whole.disorder == [])
    }
  }

  @Test(
    "muted audio gets gaps before other streams get there, and again after a flush")
  func muted() throws {
    var session = Session(
      try WovenMovie(repetitions: 20, hasAudio: true).bytes(), .movable(upTo: 999))
    var recording = try session.playToEnd()
    var seek = SeekRequest(to: 0)
    seek.flags.insert(.withoutAudio)
    guard session.seek(seek) else { throw Failure("the seek is refused") }
    recording = Recording(after: recording)
    // Up to somewhere in the midst, where all is dropped.
    while recording["video_0"].samples.count < 100 {
      if case .output(let output) = try session.next() { recording.add(output) }
    }
    let told = try #require(recording["audio_0"].gaps.last?.upperBound)
    let shown = try #require(recording["video_0"].streamTimes.last)
    #expect(told > shown && told <= shown + 2 * .second)
    session.player.flush()
    var rest = Recording(after: recording)
    session.player.continueSource(at: UInt64(session.place))
    try session.play(into: &rest)
    #expect(rest.disorder == [])
    #expect(rest["audio_0"].segments.count == 1 && rest["audio_0"].samples.isEmpty)
    #expect(rest["video_0"].segments.count == 1 && !rest["video_0"].samples.isEmpty)
  }
}
