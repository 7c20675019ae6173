// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import Testing

/// How `FragmentWriter` describes encrypted tracks. What it describes is encrypted by the caller.
struct TrackProtectionTests {
  private static let bytes = (0..<16).map { UInt8($0) }

  @Test(
    "subsamples cover a sample, with clear runs that fit into their fields",
    arguments: [
      ([10..<100], 100, [[10, 90]]),
      ([10..<50, 60..<90], 100, [[10, 40], [10, 30], [10, 0]]),
      ([70_000..<70_016], 70_016, [[65_535, 0], [4465, 16]]),
      ([], 7, [[7, 0]]),
      // Overlapping and empty ranges describe nothing.
      ([5..<9, 3..<4, 9..<9], 9, [[5, 4]]),
    ] as [([Range<Int>], Int, [[Int]])])
  func covering(ranges: [Range<Int>], size: Int, wanted: [[Int]]) {
    let subsamples = Subsample.covering(ranges, of: size)
    #expect(subsamples.map { [Int($0.clear), Int($0.encrypted)] } == wanted)
  }

  @Test("a key ID and a vector have 16 bytes")
  func lengths() {
    #expect(TrackProtection(keyID: Self.bytes, initializationVector: Self.bytes) != nil)
    #expect(TrackProtection(keyID: [], initializationVector: Self.bytes) == nil)
    #expect(TrackProtection(keyID: Self.bytes, initializationVector: Self.bytes + [0]) == nil)
  }

  private static var track: TrackDescription {
    let entry = VisualSampleEntry(width: 64, height: 32, hvcC: [1, 2, 3], lhvC: [4])
    var track = TrackDescription(.video(entry), timescale: 30_000)
    track.protection = TrackProtection(keyID: bytes, initializationVector: bytes.reversed())
    return track
  }

  @Test("a movie without fragments refuses an encrypted track")
  func unfragmented() {
    var writer = MovieWriter(container: .mp4)
    #expect(throws: MovieWriterError.encryptedTrack(TrackID(rawValue: 1))) {
      try writer.addTrack(Self.track)
    }
  }

  /// A writer with an encrypted video track.
  private static func writer() throws -> (FragmentWriter, TrackID) {
    var writer = FragmentWriter(format: .cmaf)
    let id = try writer.addTrack(track)
    return (writer, id)
  }

  @Test("the sample entry keeps its boxes, and says what it was")
  func entry() throws {
    var (writer, _) = try Self.writer()
    writer.protectionSystems = [OpaqueBox("pssh", payload: [9, 9])]
    let segment = try writer.initializationSegment()
    func place(_ text: String) -> Int? { segment.firstRange(of: Array(text.utf8))?.lowerBound }
    let places = ["encv", "hvcC", "lhvC", "sinf", "frma", "hvc1", "schm", "cbcs", "tenc", "pssh"]
      .map(place)
    #expect(!places.contains(nil) && places == places.sorted { ($0 ?? 0) < ($1 ?? 0) })
    let tenc = try #require(place("tenc"))
    let fields = [1, 0, 0, 0, 0, 0x19, 1, 0] + Self.bytes + [16] + Self.bytes.reversed()
    #expect(Array(segment[(tenc + 4)...].prefix(fields.count)) == fields)
  }

  @Test("an index says where the list of encrypted bytes is")
  func index() throws {
    var (writer, track) = try Self.writer()
    for number in 0..<3 {
      var sample = SampleDescription(size: 100, decodeTime: Int64(number) * 1000, duration: 1000)
      sample.subsamples = Subsample.covering([10 + number..<100], of: 100)
      try writer.append(sample, to: track)
    }
    var options = FragmentOptions()
    options.startsSegment = true
    let fragment = try #require(try writer.finishFragment(options))
    let moof = Array(fragment.header[Int(fragment.indexOffset - fragment.offset)...])
    func after(_ text: String) throws -> ArraySlice<UInt8> {
      moof[try #require(moof.firstRange(of: Array(text.utf8))).upperBound...]
    }
    #expect(try Array(after("saiz").prefix(12)) == [0, 0, 0, 0, 0, 0, 0, 0, 3, 8, 8, 8])
    let saio = try Array(after("saio").prefix(12))
    #expect(saio.prefix(8) == [0, 0, 0, 0, 0, 0, 0, 1])
    let offset = saio.suffix(4).reduce(0) { $0 << 8 | Int($1) }
    #expect(
      moof[offset...].prefix(24) == [
        0, 1, 0, 10, 0, 0, 0, 90, 0, 1, 0, 11, 0, 0, 0, 89, 0, 1, 0, 12, 0, 0, 0, 88,
      ])
  }

  @Test("a sample with more encrypted ranges than its index can hold is refused")
  func tooMany() throws {
    var (writer, track) = try Self.writer()
    var sample = SampleDescription(size: 430, decodeTime: 0, duration: 1000)
    sample.subsamples = Subsample.covering((0..<43).map { $0 * 10 + 1..<$0 * 10 + 9 }, of: 430)
    #expect(throws: MovieWriterError.tooManySubsamples(track, sample: 1, count: 44)) {
      try writer.append(sample, to: track)
    }
  }
}
