// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

@Suite("Split into eyes", .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
struct EyeSplitterTests {
  /// What comes of a stream for each eye.
  struct Eyes {
    var base: [UInt8] = []
    var dependent: [UInt8] = []
    /// Access units whose dependent picture is missing.
    var failures: [Int] = []
    var isFlattening = false
  }

  static func split(_ units: [AccessUnit]) throws -> Eyes {
    var splitter = EyeSplitter()
    var sources = AccessUnitSources<[UInt8]>()
    var eyes = Eyes()
    func append(_ pictures: [SingleLayerAccessUnit]) throws {
      for picture in pictures {
        eyes.dependent += bytes(of: picture, source: try #require(sources[picture.accessUnit]))
      }
    }
    for (index, unit) in units.enumerated() {
      let span = unit.bytes.span.bytes
      let base = try splitter.baseEye(span, nalUnits: unit.nalUnits)
      for picture in base.pictures { eyes.base += bytes(of: picture, source: unit.bytes) }
      let dependent = try splitter.dependentEye(span, nalUnits: unit.nalUnits)
      if dependent.failure != nil { eyes.failures.append(index) }
      sources.keep(unit.bytes, as: dependent.number)
      try append(dependent.pictures)
      sources.drop(before: dependent.oldestNeeded)
    }
    try append(splitter.drain())
    eyes.isFlattening = splitter.isFlattening
    return eyes
  }

  static func woven() throws -> [AccessUnit] {
    try accessUnits(of: weave(Stream.main8.accessUnits(.left), Stream.main8.accessUnits(.right)))
  }

  @Test("a woven stream is split without base pictures in the dependent eye", .tags(.judge))
  func unweaves() throws {
    let eyes = try Self.split(Self.woven())
    #expect(!eyes.isFlattening)
    #expect(try Decoder.frames(of: eyes.dependent).map(\.md5) == Stream.main8.md5s(.right))
    #expect(try Decoder.frames(of: eyes.base).map(\.md5) == Stream.main8.md5s(.left))
  }

  @Test(
    "a stream with inter-layer prediction is flattened", .tags(.judge),
    arguments: LayeredClip.allCases)
  func flattens(clip: LayeredClip) throws {
    let eyes = try Self.split(clip.accessUnits())
    #expect(eyes.isFlattening)
    #expect(try Decoder.frames(of: eyes.dependent).map(\.md5) == clip.md5s().right)
    #expect(try Decoder.frames(of: eyes.base).map(\.md5) == clip.md5s().left)
  }

  @Test(
    "inter-layer prediction that begins at a later random access point loses no picture",
    .tags(.judge))
  func switchAtRandomAccess() throws {
    let eyes = try Self.split(Self.woven() + LayeredClip.everywhere.accessUnits())
    #expect(eyes.failures == [])
    let md5s = try LayeredClip.everywhere.md5s()
    #expect(
      try Decoder.frames(of: eyes.dependent, single: true).map(\.md5)
        == Stream.main8.md5s(.right) + md5s.right)
    #expect(
      try Decoder.frames(of: eyes.base, single: true).map(\.md5)
        == Stream.main8.md5s(.left) + md5s.left)
  }

  @Test(
    "inter-layer prediction that begins in mid-sequence loses pictures up to the next one",
    .tags(.judge))
  func switchInMidSequence() throws {
    let clip = try LayeredClip.everywhere.accessUnits()
    var first = clip[0]
    let bytes = first.bytes
    first.nalUnits.removeAll {
      bytes[$0.lowerBound + 1] >> 3 == 1 && bytes[$0.lowerBound] >> 1 < 32
    }
    let eyes = try Self.split([first] + clip.dropFirst() + clip)
    #expect(eyes.failures == Array(1..<clip.count))
    let md5s = try LayeredClip.everywhere.md5s()
    #expect(try Decoder.frames(of: eyes.dependent, single: true).map(\.md5) == md5s.right)
    #expect(
      try Decoder.frames(of: eyes.base, single: true).map(\.md5) == md5s.left + md5s.left)
  }

  @Test("after a jump, decoding starts again at the random access point", .tags(.judge))
  func reset() throws {
    let clip = try LayeredClip.everywhere.accessUnits()
    var splitter = EyeSplitter()
    for unit in clip.prefix(5) {
      _ = try splitter.dependentEye(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
    }
    splitter.reset()
    var sources = AccessUnitSources<[UInt8]>()
    var stream: [UInt8] = []
    func append(_ pictures: [SingleLayerAccessUnit]) throws {
      for picture in pictures {
        stream += bytes(of: picture, source: try #require(sources[picture.accessUnit]))
      }
    }
    for unit in clip {
      let output = try splitter.dependentEye(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
      sources.keep(unit.bytes, as: output.number)
      try append(output.pictures)
    }
    try append(splitter.drain())
    #expect(
      try Decoder.frames(of: stream, single: true).map(\.md5) == LayeredClip.everywhere.md5s().right
    )
  }
}
