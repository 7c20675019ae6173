// SPDX-License-Identifier: MPL-2.0

import ISOBMFF
import StereoVideo
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// Broken files are refused or read in part, at once, and never trap.
struct CorruptionTests {
  /// A movie with every box that the writer writes.
  private static func written(_ container: MovieContainer) throws -> [UInt8] {
    var entry = VisualSampleEntry(width: 64, height: 32, hvcC: [1, 2, 3], lhvC: [4, 5])
    entry.colour = ColourInformation(
      primaries: 1, transferCharacteristics: 1, matrixCoefficients: 1)
    entry.extendedUsage = VideoExtendedUsage(
      SpatialMetadata(
        heroEye: .left, baseline: Baseline(micrometres: 1),
        disparityAdjustment: DisparityAdjustment(tenThousandths: 0), projection: .fisheye),
      packing: PackingLayout(.topBottom))
    entry.sphericalVideo = SphericalVideo(.equirectangular, metadataSource: "test")
    entry.cleanAperture = CleanAperture(widthNumerator: 60, heightNumerator: 30)
    let aac = AudioSampleEntry(
      coding: .aac(audioSpecificConfig: [0x11, 0x90]), channelCount: 2, sampleRate: 48_000)
    var movie = MovieWriter(
      container: container, metadata: MovieMetadata(items: MovieMetadata.spatialItems))
    let video = try movie.addTrack(TrackDescription(.video(entry), timescale: 30))
    let audio = try movie.addTrack(TrackDescription(.audio(aac), timescale: 48_000))
    var file = movie.header
    for index in 0..<8 as Range<Int64> {
      try movie.append(
        SampleDescription(
          size: UInt32(1 + index), decodeTime: 3 + 2 * index + index % 3, duration: 1,
          compositionOffset: Int32(index % 4), isSync: index % 5 == 0, dependency: .dependent),
        Array(repeating: 0, count: Int(1 + index)), to: video, file: &file)
      try movie.append(
        SampleDescription(size: 1, decodeTime: index * 1024, duration: 1024), [0], to: audio,
        file: &file)
    }
    return try movie.complete(file)
  }

  /// A fragmented movie with every form of `trun`.
  private static var fragmented: [UInt8] {
    var fixture = MovieFixture()
    fixture.extras = box(
      "mvex", fullBox("mehd", numbers(9)), fullBox("trex", numbers(1, 1, 5, 10, 0)))
    let sidx = fullBox("sidx", numbers(1, 600, 0, 0, 1, 100, 20, 0x9000_0000))
    let moof = box(
      "moof", fullBox("mfhd", numbers(1)),
      box(
        "traf", fullBox("tfhd", flags: 0x3B, number(UInt64(9)), numbers(1, 1, 5, 10, 0)),
        fullBox("tfdt", version: 1, number(UInt64(100))),
        fullBox("trun", flags: 0x5, numbers(2, 500, 0)),
        fullBox("trun", flags: 0xF00, numbers(2, 7, 8, 9, 10, 11, 12, 13, 14)),
        fullBox("sgpd", version: 1, Array("roll".utf8), numbers(2, 1), number(UInt16(3))),
        fullBox("sbgp", Array("roll".utf8), numbers(1, 4, 1))))
    let mfra = box("mfra", fullBox("tfra", numbers(1, 0, 1, 3, 4), [1, 1, 1]))
    return box("moov", fixture.content) + sidx + moof + box("mdat", [1]) + mfra
  }

  private static let seeds = ["fragmented", "quickTime", "mp4"]

  private func bytes(ofSeed name: String) throws -> [UInt8] {
    switch name {
    case "fragmented": Self.fragmented
    case "quickTime": try Self.written(.quickTime)
    case "mp4": try Self.written(.mp4)
    default: try Media.bytes(name)
    }
  }

  /// Reads a file and asks for what a player would, with the extremes; whether it could be read.
  @discardableResult
  private func exercise(_ bytes: [UInt8]) -> Bool {
    _ = try? ParsedFile(pushing: bytes) { bytes.count / 7 + 1 }
    guard let file = try? ParsedFile(pulling: bytes), let movie = file.movie else { return false }
    for track in movie.tracks {
      let samples = track.samples
      let count = samples.count
      for index in [Int.min, -1, 0, 1, count / 2, count - 1, count, Int.max] {
        _ = samples.run(at: index, maximumCount: .max)
        _ = samples.syncSample(atOrBefore: index)
        _ = samples.syncSample(after: index)
      }
      for index in 0..<min(count, 20) {
        _ = samples.sample(at: index)
      }
      for time in [Int64.min, -1, 0, 1, samples.endDecodeTime, Int64.max] {
        _ = samples.index(atDecodeTime: time)
        _ = samples.index(atPresentationTime: time)
      }
      for case .video(let entry) in track.sampleEntries {
        _ = (entry.packing, entry.spatialMetadata)
      }
    }
    return true
  }

  /// The bytes of a file that are not those of samples.
  private func indexOffsets(_ bytes: [UInt8]) throws -> [Int] {
    let data = try ParsedFile(pulling: bytes).mediaData
    return bytes.indices.filter { offset in !data.contains { $0.contains(UInt64(offset)) } }
  }

  @Test("truncated anywhere in its index", arguments: seeds)
  func truncation(seed: String) throws {
    let bytes = try bytes(ofSeed: seed)
    for offset in try indexOffsets(bytes) {
      exercise(Array(bytes.prefix(offset)))
    }
    #expect(exercise(bytes))
  }

  @Test("one byte changed, 1500 times", arguments: seeds)
  func corruption(seed: String) throws {
    let bytes = try bytes(ofSeed: seed)
    let offsets = try indexOffsets(bytes)
    var generator = SplitMix(state: 11)
    let extremes: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
    for _ in 0..<1500 {
      var broken = bytes
      let offset = try #require(offsets.randomElement(using: &generator))
      broken[offset] =
        Bool.random(using: &generator)
        ? UInt8.random(in: 0...255, using: &generator)
        : try #require(extremes.randomElement(using: &generator))
      exercise(broken)
    }
  }

  @Test(
    "foreign movies, truncated and changed",
    .enabled(if: Media.isPresent, "the folder ../shared/media is absent"), arguments: Media.all)
  func foreign(name: String) throws {
    try truncation(seed: name)
    try corruption(seed: name)
  }

  @Test("tables that claim four billion samples cost neither time nor memory")
  func hugeCounts() throws {
    let all = UInt32.max
    var fixture = MovieFixture()
    fixture.tables = [
      fullBox("stts", numbers(2, all, 1, all, 0)), fullBox("ctts", numbers(2, all, 1, all, 7)),
      fullBox("stsc", numbers(1, 1, all, 1)), fullBox("stsz", numbers(7, all)),
      fullBox("stco", numbers(1, 1000)),
    ]
    fixture.extras = box("mvex", fullBox("trex", numbers(1, 1, 5, 10, 0)))
    let moof = box(
      "moof",
      box("traf", fullBox("tfhd", numbers(1)), fullBox("trun", numbers(all))))
    let file = box("moov", fixture.content) + moof + moof
    let seconds = processorTime { #expect(exercise(file)) }
    #expect(seconds < 1)
    let movie = try #require(try ParsedFile(pulling: file).movie)
    let samples = try #require(movie.tracks.first).samples
    #expect(samples.count == 3 * Int(all))
    #expect(samples.sample(at: Int(all) - 1)?.offset == 1000 + 7 * (UInt64(all) - 1))
    #expect(samples.sample(at: 3 * Int(all) - 1)?.size == 10)
  }

  @Test("many tiny boxes, tracks and runs are read in linear time")
  func manyBoxes() throws {
    let tiny = (0..<60_000).flatMap { _ in box("free") }
    let tracks = (0..<800).flatMap { _ in MovieFixture().track }
    let runs = (0..<20_000).flatMap { _ in fullBox("trun", numbers(1)) }
    let seconds = processorTime {
      exercise(box("moov", MovieFixture().content + tiny))
      exercise(box("moov", MovieFixture().header + tracks))
      exercise(
        box("moov", MovieFixture().content)
          + box("moof", box("traf", fullBox("tfhd", numbers(1)), runs)))
      exercise(tiny)
    }
    #expect(seconds < 10)
  }
}
