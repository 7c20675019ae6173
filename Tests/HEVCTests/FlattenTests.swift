// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoVideo
import TestKit
import Testing

/// The byte stream of a flattened picture.
func bytes(of picture: SingleLayerAccessUnit, source: [UInt8]) -> [UInt8] {
  let count = picture.byteCount(framing: .annexB)
  return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
    picture.write(
      framing: .annexB, source: source.span.bytes, into: UnsafeMutableRawBufferPointer(buffer))
    initialized = count
  }
}

/// A flattened stream.
struct FlattenedStream {
  var bytes: [UInt8] = []
  /// Maximum delay of dependent pictures, in access units.
  var delay = 0
  var isStrict = true
  var pictureCount = 0
  var warnings: [FlattenWarning] = []
}

/// Flattens access units and gives the byte stream, which a strict decoder takes.
func flatten(
  _ units: [AccessUnit], parameterSets: [[UInt8]] = [], output: Flattener.Output
) throws -> [UInt8] {
  let stream = try flattened(units, parameterSets: parameterSets, output: output)
  #expect(stream.isStrict)
  return stream.bytes
}

/// Flattens access units. Where that is strict, a strict decoder finds nothing wrong with it.
func flattened(
  _ units: [AccessUnit], parameterSets: [[UInt8]] = [], output: Flattener.Output
) throws -> FlattenedStream {
  var flattener = Flattener(output: output)
  try flattener.add(parameterSets: parameterSets)
  var stream = FlattenedStream()
  var sources = AccessUnitSources<[UInt8]>()
  func append(_ pictures: [SingleLayerAccessUnit]) throws {
    for picture in pictures {
      stream.bytes += bytes(of: picture, source: try #require(sources[picture.accessUnit]))
    }
    stream.pictureCount += pictures.count { $0.isOutput }
  }
  for unit in units {
    let flat = try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
    if let failure = flat.dependentFailure { throw failure }
    if let warning = flat.warning { stream.warnings.append(warning) }
    sources.keep(unit.bytes, as: flat.number)
    try append(flat.pictures)
    sources.drop(before: flat.oldestNeeded)
  }
  try append(flattener.drain())
  stream.delay = flattener.delay
  stream.isStrict = flattener.isStrict
  if stream.isStrict {
    let decoder = try StrictDecoder(stream.bytes, ordersOutput: output == .dependentEye)
    #expect(decoder.violations == [])
    #expect(decoder.outputs.count + decoder.discardedCount == stream.pictureCount)
  }
  return stream
}

@Suite("Flatten", .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
struct FlattenTests {
  @Test(
    "the dependent eye of a woven stream, flattened, decodes as it does alone",
    .tags(.judge),
    arguments: Stream.allCases, Eye.allCases)
  func woven(stream: Stream, baseEye: Eye) throws {
    let woven = try weave(
      stream.accessUnits(.left), stream.accessUnits(.right), baseEye: baseEye)
    let flat = try flatten(accessUnits(of: woven), output: .dependentEye)
    #expect(
      try Decoder.frames(of: flat, single: true).map(\.md5) == stream.md5s(baseEye.other))
  }

  @Test(
    "both eyes of a woven stream, flattened, decode as they do alone", .tags(.judge),
    arguments: Stream.allCases)
  func wovenBoth(stream: Stream) throws {
    let woven = try weave(stream.accessUnits(.left), stream.accessUnits(.right))
    let flat = try flatten(accessUnits(of: woven), output: .bothEyes)
    let alone = try Eye.allCases.flatMap { try stream.md5s($0) }
    #expect(try Decoder.frames(of: flat, single: true).map(\.md5).sorted() == alone.sorted())
  }

  @Test(
    "the dependent eye of a file of another maker, flattened, is exact", .tags(.judge),
    .enabled(if: ForeignMedia.arePresent, "needs ../shared/media"), arguments: ForeignMedia.allCases
  )
  func foreign(media: ForeignMedia) throws {
    let units = try media.samples().map {
      AccessUnit(bytes: $0, nalUnits: try LengthPrefixed.nalUnits(in: $0.span.bytes))
    }
    let golden = try media.golden()
    let md5s = golden.frame_md5_i420_presentation_order
    let isLeftBase = golden.base_layer_eye == "left"
    let flat = try flatten(units, parameterSets: media.parameterSets(), output: .dependentEye)
    #expect(
      try Decoder.frames(of: flat, single: true).map(\.md5) == (isLeftBase ? md5s.right : md5s.left)
    )
    let both = try flatten(units, parameterSets: media.parameterSets(), output: .bothEyes)
    #expect(
      try Decoder.frames(of: both, single: true).map(\.md5).sorted()
        == (md5s.left + md5s.right).sorted())
  }
}
