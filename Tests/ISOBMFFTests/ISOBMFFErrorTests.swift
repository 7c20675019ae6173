// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

/// A broken file is answered by what is wrong, and where.
struct ISOBMFFErrorTests {
  private func error(_ change: (inout MovieFixture) -> Void) -> String? {
    var fixture = MovieFixture()
    change(&fixture)
    do {
      let movie = try fixture.movie()
      return movie.issues.first?.description
    } catch {
      return "\(error)"
    }
  }

  private let stbl = "moov/trak[0]/mdia/minf/stbl"

  @Test("a table that is shorter than its count")
  func shortTable() {
    let text = error { $0.tables[2] = fullBox("stsz", numbers(0, 90_000), [1, 2, 3]) }
    #expect(
      text?.hasPrefix("\(stbl)/stsz: sample count 90000 needs 360020 bytes, box has 23 (at byte ")
        == true)
  }

  @Test("a box that is larger than its container, or smaller than its header")
  func sizes() {
    let large = error { $0.tables[3] = numbers(500, 0x7374_636F) }
    #expect(
      large?.hasPrefix("\(stbl)/stco: its size is 500 bytes, but only 8 are left in \(stbl)")
        == true)
    let small = error { $0.tables[3] = numbers(5, 0x7374_636F) }
    #expect(
      small?.hasPrefix("\(stbl)/stco: its size 5 is smaller than its own header of 8 bytes")
        == true)
  }

  @Test("a timescale of 0")
  func timescale() {
    #expect(
      error { $0.timescale = 0 }?.contains("no mdhd box with a timescale above 0") == true)
  }

  @Test("chunk numbers that do not increase")
  func chunkOrder() {
    let text = error { $0.tables[1] = fullBox("stsc", numbers(2, 1, 3, 1, 1, 3, 1)) }
    #expect(text?.contains("stsc: row 1 begins at chunk 1") == true)
  }

  @Test("durations beyond 2^61")
  func durations() {
    let text = error { $0.tables[0] = fullBox("stts", numbers(1, 0xFFFF_FFFF, 0xFFFF_FFFF)) }
    #expect(text?.contains("stts: the durations add up to more than 2^61") == true)
  }

  @Test("samples in another file")
  func externalData() throws {
    let here = fullBox("url ", flags: 1)
    let there = fullBox("url ", Array("file:///etc/passwd\0".utf8))
    func error(_ references: [UInt8]...) -> String? {
      let count = UInt32(references.count)
      return self.error {
        $0.dataInformation = box(
          "dinf", fullBox("dref", number(count), references.flatMap { $0 }))
        // The entry's reference is the first one.
        $0.sampleEntries = [
          box("hvc1", [0, 0, 0, 0, 0, 0, 0, 1], Array(MovieFixture.videoEntry.dropFirst(16)))
        ]
      }
    }
    #expect(error(here) == nil)
    #expect(error(fullBox("alis", flags: 1)) == nil)
    // As writers have it that know no flags.
    #expect(error(fullBox("url ")) == nil)
    #expect(error(here, there) == nil)
    #expect(error(there, here)?.contains("samples are in another file") == true)
    #expect(error(there)?.hasPrefix("\(stbl)/stsd/hvc1[0]: ") == true)
  }

  @Test("a missing table, sample entry or header")
  func missing() {
    #expect(error { $0.tables.removeFirst() }?.contains("but no stts, stsc") == true)
    #expect(error { $0.sampleEntries = [] }?.contains("no stsd box with a sample entry") == true)
  }

  @Test("tables of different lengths: the readable part, and an issue")
  func differentLengths() throws {
    var fixture = MovieFixture()
    fixture.tables[0] = fullBox("stts", numbers(1, 2, 5))
    fixture.tables[1] = fullBox("stsc", numbers(1, 1, 2, 1))
    let movie = try fixture.movie()
    #expect(movie.tracks.first?.samples.count == 2)
    #expect(movie.issues.map(\.reason) == ["the chunks have room for 2 samples, but 3 have a size"])
  }

  @Test("one broken track of two is left out, and noted")
  func brokenTrack() throws {
    var broken = MovieFixture()
    broken.tables = [fullBox("stsz", numbers(0, 9))]
    let content = broken.content + MovieFixture().track
    let movie = try Movie(content: content)
    #expect(movie.tracks.count == 1)
    #expect(movie.issues.first?.path == "moov/trak[0]/mdia/minf/stbl/stsz")
  }

  @Test("no movie, a truncated movie, another file type")
  func noMovie() {
    func failure(_ bytes: [UInt8]) -> String? {
      do {
        _ = try ParsedFile(pulling: bytes)
        return nil
      } catch {
        return "\(error)"
      }
    }
    #expect(
      failure(box("ftyp", Array("qt  ".utf8), numbers(0)) + box("mdat", [1]))
        == "file: the file ends without a moov box: it is not a movie or is truncated (at byte 25)")
    #expect(failure([]) != nil)
    let moov = box("moov", MovieFixture().content)
    #expect(
      failure(Array(moov.dropLast(9)))
        == "moov: it is \(moov.count) bytes long, but the file ends after \(moov.count - 9) of them"
        + " (at byte 0)")
    let noise = failure(Array(repeating: 0xFF, count: 40))
    #expect(noise?.contains("not a QuickTime or MP4 file (at byte 0)") == true)
    let matroska = failure([0x1A, 0x45, 0xDF, 0xA3] + Array(repeating: 0x80, count: 40))
    #expect(matroska?.contains("not a QuickTime or MP4 file, but Matroska or WebM") == true)
    #expect(failure(box("moof", box("mfhd")))?.contains("before the moov box") == true)
  }

  @Test("a fragment outside of any file, or with times beyond 2^61")
  func fragments() throws {
    func failure(_ parts: [UInt8]...) -> String? {
      let moof = box("moof", box("traf", parts.flatMap { $0 }))
      do {
        _ = try ParsedFile(pulling: box("moov", MovieFixture().content) + moof)
        return nil
      } catch {
        return "\(error)"
      }
    }
    let tfhd = fullBox("tfhd", numbers(1))
    #expect(
      failure(tfhd, fullBox("trun", flags: 1, numbers(1, 0x8000_0000)))?
        .contains("moof/traf[0]/trun[0]: data_offset -2147483648") == true)
    #expect(
      failure(tfhd, fullBox("tfdt", version: 1, number(UInt64.max)))?.contains("2^61") == true)
    #expect(failure()?.contains("no tfhd") == true)
    #expect(
      failure(tfhd, fullBox("trun", flags: 0x200, numbers(0xFFFF_FFFF)))?
        .contains("sample count 4294967295 needs") == true)
  }
}
