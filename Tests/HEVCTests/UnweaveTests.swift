// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

@Suite("Unweave") struct UnweaveTests {
  /// Both layers of a woven stream, taken out alone.
  static func layers(
    of woven: [AccessUnit]
  ) throws -> (base: [UInt8], dependent: [UInt8]) {
    var extractor = BaseLayerExtractor()
    var unweaver = Unweaver()
    var base: [UInt8] = []
    var dependent: [UInt8] = []
    for unit in woven {
      let span = unit.bytes.span.bytes
      base += bytes(
        of: try extractor.extract(span, nalUnits: unit.nalUnits).picture, source: unit.bytes)
      let picture = try #require(try unweaver.unweave(span, nalUnits: unit.nalUnits).picture)
      dependent += bytes(of: picture, source: unit.bytes)
    }
    return (base, dependent)
  }

  @Test(
    "the extracted layers of a woven stream are woven to the same bytes again",
    arguments: Stream.allCases, Eye.allCases)
  func inverse(stream: Stream, baseEye: Eye) throws {
    let woven = try weave(
      stream.accessUnits(.left), stream.accessUnits(.right), baseEye: baseEye)
    let (base, dependent) = try Self.layers(of: accessUnits(of: woven))
    let left = try accessUnits(of: baseEye == .left ? base : dependent)
    let right = try accessUnits(of: baseEye == .left ? dependent : base)
    #expect(try weave(left, right, baseEye: baseEye) == woven)
  }

  @Test(
    "the extracted layers of a woven stream decode as before", .tags(.judge),
    .enabled(if: Decoder.isAvailable, "needs Python with PyAV"), arguments: Stream.allCases)
  func exact(stream: Stream) throws {
    let woven = try weave(stream.accessUnits(.left), stream.accessUnits(.right))
    let (base, dependent) = try Self.layers(of: accessUnits(of: woven))
    let frames = try Decoder.frames(ofEach: [base, dependent], single: true)
    #expect(frames[0].map(\.md5) == (try stream.md5s(.left)))
    #expect(frames[1].map(\.md5) == (try stream.md5s(.right)))
  }

  @Test(
    "a dependent layer that refers to the base layer is not extracted alone", .tags(.judge),
    .enabled(if: ForeignMedia.arePresent && Decoder.isAvailable, "needs ../shared/media and PyAV"),
    arguments: ForeignMedia.allCases)
  func interLayer(media: ForeignMedia) throws {
    var unweaver = Unweaver()
    try unweaver.add(parameterSets: media.parameterSets())
    let sample = try #require(media.samples().first)
    let units = try LengthPrefixed.nalUnits(in: sample.span.bytes)
    #expect(throws: FlattenError.interLayerPrediction) {
      try unweaver.unweave(sample.span.bytes, nalUnits: units)
    }
  }
}
