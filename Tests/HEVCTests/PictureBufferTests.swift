// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

/// Eyes that name eight reference pictures each: with the current one, more than a picture buffer
/// of one layer holds.
@Suite("More pictures than a buffer holds", .enabled(if: Decoder.isAvailable, "needs PyAV"))
struct PictureBufferTests {
  private func eye(_ eye: Eye) throws -> [UInt8] {
    try Stream.bytes("references-\(eye.rawValue)")
  }

  @Test(
    "the dependent eye is given up until the next sequence, the base eye loses nothing",
    .tags(.judge))
  func givenUp() throws {
    let left = try accessUnits(of: eye(.left))
    let right = try accessUnits(of: eye(.right))
    var flattener = Flattener(output: .bothEyes)
    var stream: [UInt8] = []
    var sources = AccessUnitSources<[UInt8]>()
    var failed: [Int] = []
    func append(_ pictures: [SingleLayerAccessUnit]) throws {
      for picture in pictures {
        stream += bytes(of: picture, source: try #require(sources[picture.accessUnit]))
      }
    }
    for (number, unit) in try accessUnits(of: weave(left, right)).enumerated() {
      let flat = try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
      if let failure = flat.dependentFailure {
        #expect(failure == .tooManyReferencePictures(count: 16))
        failed.append(number)
      }
      #expect(flat.pictures.contains { $0.layerID == 0 && $0.accessUnit == number })
      sources.keep(unit.bytes, as: flat.number)
      try append(flat.pictures)
      sources.drop(before: flat.oldestNeeded)
    }
    try append(flattener.drain())
    // Twelve pictures per sequence; the first eight fit.
    #expect(failed == Array(8..<12) + Array(20..<24))
    #expect(try StrictDecoder(stream, ordersOutput: false).violations == [])
    let alone = try Decoder.frames(ofEach: [eye(.left), eye(.right)], single: true)
    let shown = alone[1].enumerated().filter { !failed.contains($0.offset) }.map(\.element)
    #expect(
      try Decoder.frames(of: stream, single: true).map(\.md5).sorted()
        == (alone[0] + shown).map(\.md5).sorted())
  }
}
