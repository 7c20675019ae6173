// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// Sample tables of a few bytes that ask for work without end. What is done is bounded by the size
/// of the file.
@Suite(.serialized)
struct SampleFloodTests {
  let movie: SeedMovie

  init() async throws {
    try BuiltPlugin.require()
    movie = try await SeedMovies.own()
  }

  private static let all = UInt32.max
  private static let once = BoxTree.full("stts", numbers(1, all, 1))

  /// From the end to the start, and to the end again.
  private static let seeks = [
    Upstream.SeekRequest(rate: -1, flags: GST_SEEK_FLAG_FLUSH, start: 0),
    Upstream.SeekRequest(rate: 1, flags: GST_SEEK_FLAG_FLUSH, start: 1 << 60),
  ]

  private func isRefused(
    _ outcomes: [DemuxOutcome], sourceLocation: SourceLocation = #_sourceLocation
  ) {
    for outcome in outcomes {
      #expect(
        outcome.errors.contains { $0.contains("refer to the same bytes repeatedly") },
        "\(outcome)", sourceLocation: sourceLocation)
    }
  }

  @Test("four billion samples of a byte each in one chunk", arguments: [1, 7, 1000] as [UInt32])
  func oneChunk(size: UInt32) {
    let outcomes = endure(
      movie.withTables(
        Self.once, .full("stsc", numbers(1, 1, Self.all, 1)),
        .full("stsz", numbers(size, Self.all)), .full("stco", numbers(1, 100))))
    // They run out of the file.
    for outcome in outcomes { #expect(outcome.bufferCount > 0, "\(outcome)") }
  }

  @Test("a hundred thousand chunks at the same byte", .tags(.long))
  func sameChunk() {
    let rows = (0..<100_000).flatMap { _ in numbers(100) }
    isRefused(
      endure(
        movie.withTables(
          Self.once, .full("stsc", numbers(1, 1, 40_000, 1)),
          .full("stsz", numbers(1, Self.all)), .full("stco", numbers(100_000), rows))))
  }

  @Test("chunks over each other with samples as large as the file")
  func largeSamples() {
    let size = UInt32(movie.bytes.count)
    let rows = (0..<100_000).flatMap { _ in numbers(0) }
    isRefused(
      endure(
        movie.withTables(
          Self.once, .full("stsc", numbers(1, 1, 1, 1)), .full("stsz", numbers(size, Self.all)),
          .full("stco", numbers(100_000), rows))))
  }

  @Test("two million samples without a byte, four bits each")
  func emptySamples() {
    isRefused(
      endure(
        movie.withTables(
          Self.once, .full("stsc", numbers(1, 1, 2_000_000, 1)),
          .full("stz2", numbers(4, 1_990_000), [UInt8](repeating: 0, count: 995_000)),
          .full("stco", numbers(1, 100)))))
  }

  @Test("PCM frames without end at the same bytes")
  func audio() {
    let rows = (0..<100_000).flatMap { _ in numbers(100) }
    let bytes = movie.with { moov in
      moov["trak"] = nil
      moov["trak"]?.remove("edts")
      moov.edit(SeedMovie.table) { stbl in
        stbl.children =
          stbl.children.filter { $0.type == "stsd" } + [
            Self.once, .full("stsc", numbers(1, 1, 5000, 1)), .full("stsz", numbers(2, Self.all)),
            .full("stco", numbers(100_000), rows),
          ]
      }
    }
    isRefused(endure(bytes))
  }

  @Test(
    "fragments whose runs have four billion samples each", .tags(.long),
    arguments: ([0, 1] as [UInt32]).sampled(1))
  func fragments(size: UInt32) {
    var boxes = BoxTree.read(movie.fragmented())
    guard let moov = boxes.firstIndex(where: { $0.type == "moov" }),
      let index = boxes.firstIndex(where: { $0.type == "moof" })
    else { return }
    boxes[moov]["trak"]?.remove("edts")
    boxes[index].edit("traf") { traf in
      let id = Array(traf["tfhd"]?.content.dropFirst(4).prefix(4) ?? [])
      traf.children = [
        .full("tfhd", flags: 0x2_0038, id, numbers(1, size, 0)), .full("tfdt", numbers(0)),
      ]
      traf.children += (0..<20_000).map { _ in .full("trun", flags: 1, numbers(Self.all, 8)) }
    }
    let outcomes = endure(boxes.flatMap(\.bytes))
    // Samples with bytes run out of the file.
    if size == 0 { isRefused(outcomes) }
  }

  @Test("samples that lie so that each read has to be a long one")
  func scattered() {
    // Two of three lie directly after the previous ones; the third is far away.
    let count = 90_000
    let rows = (0..<count).flatMap { index in
      numbers(index % 3 == 2 ? 700_000 : UInt32(index % 1024) * 256)
    }
    let bytes = movie.withTables(
      Self.once, .full("stsc", numbers(1, 1, 1, 1)), .full("stsz", numbers(1, UInt32(count))),
      .full("stco", numbers(UInt32(count)), rows))
    endure(bytes + [UInt8](repeating: 0, count: 1_000_000 - bytes.count), seeks: Self.seeks)
  }

  @Test("chunks from the end of the file to its start, so that upstream has to seek back")
  func backwards() {
    let count: UInt32 = 60_000
    let rows = (0..<count).flatMap { numbers((count - $0) * 10) }
    let bytes = movie.withTables(
      Self.once, .full("stsc", numbers(1, 1, 1, 1)), .full("stsz", numbers(10, count)),
      .full("stco", numbers(count), rows))
    endure(bytes + [UInt8](repeating: 0, count: 1_000_000 - bytes.count), seeks: Self.seeks)
  }

  @Test("samples that are years apart")
  func silence() {
    let bytes = movie.with { moov in
      moov["trak"]?.edit("mdia/mdhd") { $0.content.replaceSubrange(12..<16, with: numbers(1)) }
      moov.edit(SeedMovie.table) { stbl in
        stbl["ctts"] = nil
        stbl.put(.full("stts", numbers(1, 6, 0x7FFF_FFFF)))
      }
    }
    endure(bytes)
    let many = movie.withTables(
      .full("stts", numbers(1, 100_000, 0x7FFF_FFFF)),
      .full("stsc", numbers(1, 1, 100_000, 1)), .full("stsz", numbers(8, 100_000)),
      .full("stco", numbers(1, 40)), timescale: 1)
    endure(many + [UInt8](repeating: 0, count: 900_000), seeks: Self.seeks)
  }

  @Test("very many tracks with very many samples", .tags(.long))
  func tracks() {
    let bytes = movie.with { moov in
      moov.keepFirstTrack()
      moov.edit(SeedMovie.table) { stbl in
        stbl.children = [
          .full("stsd", numbers(1, 16), Array("abcd".utf8), numbers(0, 1)), Self.once,
          .full("stsc", numbers(1, 1, 1000, 1)), .full("stsz", numbers(1, 1000)),
          .full("stco", numbers(1, 100)),
        ]
      }
      moov["trak"]?.remove("tapt")
      moov["trak"]?.remove("edts")
      guard let track = moov["trak"] else { return }
      moov.children += (0..<1200).map { _ in track }
    }
    endure(
      bytes + [UInt8](repeating: 0, count: max(0, 1_000_000 - bytes.count)), seeks: Self.seeks)
  }

  @Test(
    "a million samples of a byte each, all of them random access points, backwards", .tags(.long))
  func backwardsByTheByte() {
    let bytes = movie.with { moov in
      moov.keepFirstTrack()
      moov["trak"]?.remove("edts")
      moov.edit(SeedMovie.table) { stbl in
        stbl.children = [
          .full("stsd", numbers(1, 16), Array("abcd".utf8), numbers(0, 1)), Self.once,
          .full("stsc", numbers(1, 1, 980_000, 1)), .full("stsz", numbers(1, 980_000)),
          .full("stco", numbers(1, 8)),
        ]
      }
      guard let track = moov["trak"] else { return }
      moov.children += (0..<30).map { _ in track }
    }
    endure(bytes + [UInt8](repeating: 0, count: 1_000_000 - bytes.count), seeks: Self.seeks)
  }

  @Test("a track in thousands of pieces")
  func edits() {
    let rows = (0..<80_000).flatMap { numbers(1, UInt32($0 % 6), 0x1_0000) }
    let bytes = movie.with { moov in
      moov.keepFirstTrack()
      moov["trak"]?.put(BoxTree("edts", [], [.full("elst", numbers(80_000), rows)]))
    }
    endure(bytes, seeks: Self.seeks)
    let empty = (0..<80_000).flatMap { numbers(1, $0 == 79_999 ? 0 : Self.all, 0x1_0000) }
    endure(
      movie.with { moov in
        moov.keepFirstTrack()
        moov["trak"]?.put(BoxTree("edts", [], [.full("elst", numbers(80_000), empty)]))
      })
  }

  @Test("thousands of fragments of thousands of tracks")
  func trackFragments() {
    let boxes = BoxTree.read(movie.fragmented())
    let part = BoxTree(
      "moof", [],
      (0..<20_000).map { id in
        BoxTree(
          "traf", [],
          [
            .full("tfhd", flags: 0x20000, numbers(UInt32(id))),
            .full("trun", flags: 1, numbers(1, 8)),
          ])
      })
    endure((boxes + [part]).flatMap(\.bytes))
    let small = (0..<12_000).map { _ in
      BoxTree(
        "moof", [],
        [
          BoxTree(
            "traf", [],
            [.full("tfhd", flags: 0x20038, numbers(1, 1, 1, 0)), .full("trun", numbers(1))])
        ])
    }
    var upstream = Upstream(byPulling: true)
    upstream.seeks = [
      .init(rate: -1, flags: GST_SEEK_FLAG_FLUSH, start: 0),
      .init(rate: 1, flags: GST_SEEK_FLAG_FLUSH, start: Int.max),
    ]
    endure((boxes + small).flatMap(\.bytes), upstream)
  }
}
