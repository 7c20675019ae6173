// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// What files of megabytes that say nothing may cost: time in proportion to their size, and little
/// of it; and memory no more than a few times their size.
@Suite(.serialized) struct ResourceTests {
  /// The processor time that something takes, in seconds, and its memory, in bytes.
  private func cost(_ body: () throws -> Void) throws -> (seconds: Double, memory: Int) {
    var time = 0.0
    let memory = try peakMemory { time = try processorTime(of: body) }
    return (time, memory)
  }

  /// Expects little time, and memory of no more than twice as many bytes as there are.
  private func expectLittle(
    _ cost: (seconds: Double, memory: Int), for bytes: [UInt8],
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(cost.seconds < 0.5, sourceLocation: sourceLocation)
    #expect(cost.memory < 2 * bytes.count, sourceLocation: sourceLocation)
  }

  /// `count` boxes of eight bytes.
  private func emptyBoxes(_ count: Int, _ type: String = "abcd") -> [UInt8] {
    let box = box(type)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count * 8)
    for _ in 0..<count { bytes += box }
    return bytes
  }

  @Test("a sample description of a million entries is refused")
  func entries() throws {
    var fixture = MovieFixture()
    fixture.sampleEntries = [emptyBoxes(1_000_000, "hvc1")]
    // As many as the number says are read.
    fixture.entryCount = .max
    let content = fixture.content
    let cost = try cost {
      #expect { try Movie(content: content) } throws: {
        "\($0)".hasPrefix("moov/trak[0]/mdia/minf/stbl/stsd: 64 of its entries cannot be read")
      }
    }
    expectLittle(cost, for: content)
  }

  @Test("a million entries in total, over several tracks, are refused")
  func entriesOfTracks() throws {
    var fixture = MovieFixture()
    fixture.sampleEntries = [emptyBoxes(65_536, "hvc1")]
    fixture.entryCount = .max
    let track = fixture.track
    let content = fixture.header + (0..<16).flatMap { _ in track } + MovieFixture().track
    var movie: Movie?
    let cost = try cost { movie = try Movie(content: content) }
    #expect(movie?.tracks.count == 1)
    #expect(movie?.issues.count == 64)
    expectLittle(cost, for: content)
  }

  @Test("unused sample groups of 20 MB are not parsed")
  func sampleGroups() throws {
    var fixture = MovieFixture()
    let count = 20_000_000
    fixture.tables.append(
      fullBox(
        "sgpd", version: 1, Array("roll".utf8), numbers(1, UInt32(count)),
        [UInt8](repeating: 0, count: count)))
    let content = fixture.content
    let cost = try cost { _ = try Movie(content: content) }
    expectLittle(cost, for: content)
  }

  @Test("four million empty boxes are refused, wherever they are", .tags(.long))
  func emptyBoxesInside() throws {
    let boxes = emptyBoxes(4_000_000)
    var inTable = MovieFixture()
    inTable.tables.append(boxes)
    let contents = [
      boxes + MovieFixture().content, MovieFixture().content + box("udta", boxes), inTable.content,
    ]
    for content in contents {
      let cost = try cost { _ = try? Movie(content: content) }
      expectLittle(cost, for: content)
    }
    let spread =
      MovieFixture().content
      + (0..<61).flatMap { _ in
        box("udta", Array(boxes.prefix(8 * 65_536)))
      }
    var movie: Movie?
    let cost = try cost { movie = try Movie(content: spread) }
    #expect(movie?.userData.count == 61 * 65_536)
    #expect(cost.seconds < 1.5)
    // What says nothing is kept all the same, to be written again.
    #expect(cost.memory < 12 * spread.count)
  }

  @Test("consecutive empty boxes are skipped, up to hundreds of thousands")
  func emptyBoxesOutside() throws {
    func parse(_ count: Int) throws -> Movie? {
      let file = emptyBoxes(count, "free") + box("moov", MovieFixture().content)
      var parser = MovieParser(fileSize: UInt64(file.count))
      var movie: Movie?
      while true {
        switch try parser.next() {
        case .needBytes(let range):
          file.withUnsafeBytes {
            parser.supply(
              UnsafeRawBufferPointer(rebasing: $0[Int(range.lowerBound)..<Int(range.upperBound)]),
              at: range.lowerBound)
          }
        case .movie(let found): movie = found
        case .end: return movie
        default: break
        }
      }
    }
    #expect(try parse(100_000)?.tracks.count == 1)
    let cost = try cost {
      #expect {
        try parse(4_000_000)
      } throws: {
        "\($0)".contains("more than 262144 empty boxes")
      }
    }
    #expect(cost.seconds < 1.5)
    // The file itself is made in here.
    #expect(cost.memory < 4 * 8 * 4_000_000)
  }

  @Test(
    "damaged files of a megabyte take no longer than whole ones", .tags(.long),
    arguments: (0..<40 as Range<UInt64>).sampled(8)
  )
  func damaged(seed: UInt64) throws {
    var random = SplitMix(state: seed)
    var fixture = MovieFixture()
    let rows = 30_000
    fixture.tables = [
      fullBox("stts", numbers(UInt32(rows)), (0..<rows).flatMap { _ in numbers(1, 5) }),
      fullBox("ctts", numbers(UInt32(rows)), (0..<rows).flatMap { _ in numbers(1, 3) }),
      fullBox("stss", numbers(UInt32(rows)), (0..<rows).flatMap { number(UInt32($0 + 1)) }),
      fullBox("stsc", numbers(UInt32(rows)), (0..<rows).flatMap { numbers(UInt32($0 + 1), 1, 1) }),
      fullBox("stsz", numbers(0, UInt32(rows)), (0..<rows).flatMap { _ in numbers(10) }),
      fullBox("stco", numbers(UInt32(rows)), (0..<rows).flatMap { number(UInt32($0 * 10)) }),
    ]
    var content = fixture.content
    for _ in 0..<Int.random(in: 1...2000, using: &random) {
      content[Int.random(in: 0..<content.count, using: &random)] = UInt8.random(
        in: 0...255, using: &random)
    }
    let cost = try cost {
      guard let movie = try? Movie(content: content) else { return }
      for track in movie.tracks {
        let samples = track.samples
        for index in stride(from: 0, to: min(samples.count, rows), by: 1000) {
          _ = samples.sample(at: index)
          _ = samples.syncSample(atOrBefore: index)
          _ = samples.index(atPresentationTime: Int64(index))
        }
      }
    }
    #expect(cost.seconds < 1)
    #expect(cost.memory < 8 * content.count)
  }
}
