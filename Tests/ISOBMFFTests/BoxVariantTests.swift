// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import Testing

/// The forms of boxes that the media files do not have.
struct BoxVariantTests {
  @Test("version 0 and version 1 of the headers say the same", arguments: [0, 1] as [UInt8])
  func versions(version: UInt8) throws {
    var fixture = MovieFixture()
    fixture.version = version
    fixture.edits = box(
      "edts",
      version == 0
        ? fullBox("elst", numbers(2, 7, 0xFFFF_FFFF, 0x1_0000, 15, 3, 0x1_0000))
        : fullBox(
          "elst", version: 1, numbers(2), number(UInt64(7)), number(Int64(-1)), numbers(0x1_0000),
          number(UInt64(15)), number(Int64(3)), numbers(0x1_0000)))
    let movie = try fixture.movie()
    #expect(movie.timescale == 600)
    #expect(movie.duration == 15)
    #expect(movie.creationTime == 1)
    let track = try #require(movie.tracks.first)
    #expect(track.duration == 15)
    #expect(track.mediaDuration == 15)
    #expect(track.size == FixedPointSize(width: 64 << 16, height: 32 << 16))
    #expect(track.handlerName == "name")
    #expect(
      track.edits == [Edit(duration: 7, mediaTime: nil), Edit(duration: 15, mediaTime: 3)])
  }

  @Test("stz2 with fields of 4, 8 and 16 bits")
  func compactSizes() throws {
    let forms: [(UInt32, [UInt8])] = [
      (4, [0x12, 0x30]), (8, [1, 2, 3]), (16, [0, 1, 0, 2, 0, 3]),
    ]
    for (bits, fields) in forms {
      var fixture = MovieFixture()
      fixture.tables[2] = fullBox("stz2", numbers(bits, 3), fields)
      let samples = try #require(try fixture.movie().tracks.first).samples
      #expect(samples.all.map(\.size) == [1, 2, 3])
      #expect(samples.all.map(\.offset) == [1000, 1001, 1003])
    }
  }

  @Test("co64, several runs of chunks, and several sample entries")
  func chunks() throws {
    var fixture = MovieFixture()
    fixture.sampleEntries.append(MovieFixture.videoEntry)
    fixture.tables[1] = fullBox("stsc", numbers(2, 1, 2, 1, 2, 1, 2))
    fixture.tables[3] = fullBox("co64", numbers(2), number(UInt64(5)), number(UInt64(1) << 40))
    let track = try #require(try fixture.movie().tracks.first)
    #expect(track.sampleEntries.count == 2)
    #expect(track.samples.all.map(\.offset) == [5, 15, 1 << 40])
    #expect(track.samples.all.map(\.sampleEntryIndex) == [0, 0, 1])
  }

  @Test("ctts of either version is signed")
  func compositionOffsets() throws {
    for version in [0, 1] as [UInt8] {
      var fixture = MovieFixture()
      fixture.tables.append(
        fullBox("ctts", version: version, numbers(3, 1, 0, 1, 5, 1, 0xFFFF_FFFB)))
      let samples = try #require(try fixture.movie().tracks.first).samples
      #expect(samples.all.map(\.presentationTime) == [0, 10, 5])
      #expect(samples.index(atPresentationTime: 9) == 2)
      #expect(samples.minimumCompositionOffset == -5)
    }
  }

  @Test("QuickTime's PCM with a sample size of 1 has frames of their real size")
  func legacySizes() throws {
    var fixture = MovieFixture()
    fixture.handler = "soun"
    fixture.sampleEntries = [
      box(
        "twos", [UInt8](repeating: 0, count: 16), number(UInt16(2)), number(UInt16(16)),
        numbers(0, 48_000 << 16))
    ]
    fixture.tables[2] = fullBox("stsz", numbers(1, 3))
    let samples = try #require(try fixture.movie().tracks.first).samples
    #expect(samples.all.map(\.offset) == [1000, 1004, 1008])
  }

  @Test("unknown boxes are kept byte for byte, at every level")
  func unknownBoxes() throws {
    var fixture = MovieFixture()
    fixture.extras = box("zzzz", [1, 2, 3])
    fixture.tables.append(box("yyyy", [4]))
    fixture.sampleEntries = [
      box("hvc1", MovieFixture.videoEntry.suffix(78), box("xxxx", [5, 6]))
    ]
    let movie = try fixture.movie()
    #expect(movie.otherBoxes == [OpaqueBox("zzzz", payload: [1, 2, 3])])
    let track = try #require(movie.tracks.first)
    #expect(track.otherBoxes == [OpaqueBox("yyyy", payload: [4])])
    guard case .video(let entry) = track.sampleEntries.first else {
      Issue.record("not a video track")
      return
    }
    #expect(entry.otherBoxes == [OpaqueBox("xxxx", payload: [5, 6])])
  }

  @Test("QuickTime user data and iTunes-style items")
  func userData() throws {
    var fixture = MovieFixture()
    let item = box("data", numbers(1, 0), Array("Tides".utf8))
    let meta = fullBox(
      "meta", fullBox("hdlr", numbers(0, 0x6D64_6972, 0, 0, 0), [0]),
      box(
        "ilst", box("©nam", item),
        box(
          "----", fullBox("mean", Array("org.example".utf8)), fullBox("name", Array("key".utf8)),
          item)))
    let text = number(UInt16(3)) + number(UInt16(0)) + Array("Ann".utf8)
    fixture.extras = box("udta", meta, box("©ART", text), numbers(0))
    let movie = try fixture.movie()
    #expect(movie.issues.isEmpty)
    #expect(movie.userData.map(\.type) == ["meta", "©ART"])
    #expect(
      movie.metadata == [
        MetadataItem(keySpace: "mdir", key: "©nam", value: .utf8("Tides")),
        MetadataItem(keySpace: "mdir", key: "----:org.example:key", value: .utf8("Tides")),
        MetadataItem(keySpace: "udta", key: "©ART", value: .utf8("Ann")),
      ])
  }

  @Test("a fragment's data continues where the previous track ended, unless it says otherwise")
  func fragmentOffsets() throws {
    var fixture = MovieFixture()
    fixture.tables = [fullBox("stsz", numbers(0, 0))]
    fixture.extras = box("mvex", fullBox("trex", numbers(1, 1, 5, 10, 0x1_0000)))
    let moof = box(
      "moof", fullBox("mfhd", numbers(1)),
      box(
        "traf", fullBox("tfhd", numbers(1)), fullBox("tfdt", version: 1, number(UInt64(100))),
        fullBox("trun", flags: 0x5, numbers(2, 500, 0)),
        fullBox("trun", flags: 0x200, numbers(2, 7, 8))),
      box("traf", fullBox("tfhd", numbers(1)), fullBox("trun", numbers(1))))
    let moov = box("moov", fixture.content)
    let file = try ParsedFile(pulling: moov + moof + box("mdat"))
    #expect(file.fragments.count == 1)
    let start = UInt64(moov.count)
    let samples = try #require(file.movie?.tracks.first).samples.all
    #expect(
      samples.map(\.offset) == [start + 500, start + 510, start + 520, start + 527, start + 535])
    #expect(samples.map(\.decodeTime) == [100, 105, 110, 115, 120])
    #expect(samples.map(\.isSync) == [true, false, false, false, false])
  }

  @Test("an mdat and a moov may extend to the end of the file")
  func openEnds() throws {
    let moov = box("moov", MovieFixture().content)
    let openMdat = numbers(0, 0x6D64_6174) + [1, 2, 3]
    let first = try ParsedFile(pulling: moov + openMdat)
    #expect(first.mediaData == [UInt64(moov.count + 8)..<UInt64(moov.count + 11)])
    let last = try ParsedFile(
      pulling: box("mdat", [1, 2, 3]) + numbers(0) + moov.dropFirst(4))
    #expect(last.movie?.tracks.count == 1)
    let wide = numbers(1, 0x6D6F_6F76) + number(UInt64(moov.count + 8)) + moov.dropFirst(8)
    #expect(try ParsedFile(pulling: wide).movie?.tracks.count == 1)
  }

  @Test("a second moov is not read, junk after the movie is reported as a box")
  func duplicates() throws {
    let moov = box("moov", MovieFixture().content)
    let file = try ParsedFile(pulling: moov + moov + box("free", [0]))
    #expect(file.movie?.tracks.count == 1)
    #expect(file.otherBoxes == ["moov", "free"])
  }
}
