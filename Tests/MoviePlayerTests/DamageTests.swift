// SPDX-License-Identifier: MPL-2.0

import FuzzTargets
import HEVC
import ISOBMFF
import MoviePlayer
import TestKit
import Testing

/// Movies with wrong bytes. `make fuzz` and FuzzTests have more.
struct DamageTests {
  enum Kind: String, CaseIterable, Sendable {
    case plain, edits, layers, predicted
  }

  @Test("a movie with a wrong byte is played to an end, or refused", arguments: Kind.allCases)
  func wrongByte(kind: Kind) throws {
    var movie = WovenMovie(repetitions: 1, hasAudio: true)
    movie.isPredicted = kind == .predicted
    if kind == .layers {
      movie.changeEntry = { entry in
        try entry.changeVPS { vps in
          vps.multilayer?.scalabilityMask = 1 << 3
          vps.multilayer?.layers[1].scalabilityIDs[3] = 1
        }
      }
    }
    var bytes = try movie.bytes()
    if kind == .edits {
      let pieces: [(UInt64, Int64?)] = [(90_000, nil), (9_000, 0), (9_000, 12_000), (6_000, 3_000)]
      bytes = SeedMovie.editing(bytes) { moov in
        moov.setEdits(pieces.map { Edit(duration: $0.0, mediaTime: $0.1) }, ofTrack: 0)
      }
    }
    let last = try #require(BoxTree.read(bytes).last)
    #expect(last.type == "moov")
    let index = bytes.count - last.bytes.count + 4
    var dice = Dice(11)
    var playedCount = 0
    for round in 0..<300 {
      var broken = bytes
      let place =
        round % 3 == 0
        ? dice.next(below: bytes.count) : index + dice.next(below: bytes.count - index)
      broken[place] = UInt8(dice.next(below: 256))
      for delivery in [Delivery.read, .pushed(upTo: 500)] {
        do {
          let recording = try Session.play(broken, delivery)
          #expect(recording.disorder == [], "byte \(place), \(delivery)")
          #expect(recording.streams.allSatisfy { $0.hasEnded }, "byte \(place), \(delivery)")
          playedCount += 1
        } catch is MoviePlayerError {}
      }
    }
    // Most bytes are of pictures or say little.
    #expect(playedCount > 300)
  }
}
