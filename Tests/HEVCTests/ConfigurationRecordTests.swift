// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

@Suite("Configuration records") struct ConfigurationRecordTests {
  /// The lhvC of a phone capture.
  static let phone: [UInt8] = [
    0x01, 0xF0, 0x00, 0xFC, 0xCB, 0x02,
    0xA1, 0x00, 0x01, 0x00, 0x0A, 0x42, 0x09, 0x0E, 0x82, 0x2E, 0x45, 0x8A, 0xA0, 0x05, 0x01,
    0xA2, 0x00, 0x01, 0x00, 0x09, 0x44, 0x09, 0x48, 0x02, 0xCB, 0xC1, 0x4D, 0xA8, 0x05,
  ]

  @Test("an lhvC of a phone is read, and written byte by byte")
  func phoneLHVC() throws {
    let record = try LHEVCDecoderConfigurationRecord(bytes: Self.phone)
    #expect(record.lengthSize == 4)
    #expect(record.temporalLayerCount == 1)
    #expect(record.arrays.map(\.type) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(record.arrays.allSatisfy { $0.isComplete })
    #expect(record.bytes == Self.phone)
  }

  @Test(
    "hvcC and lhvC of other makers are read and written byte by byte",
    .enabled(if: ForeignMedia.arePresent, "needs ../shared/media"), arguments: ForeignMedia.allCases
  )
  func roundTrip(media: ForeignMedia) throws {
    let hvcC = try media.box("hvcC")
    #expect(try HEVCDecoderConfigurationRecord(bytes: hvcC).bytes == hvcC)
    let lhvC = try media.box("lhvC")
    #expect(try LHEVCDecoderConfigurationRecord(bytes: lhvC).bytes == lhvC)
  }

  @Test(
    "records made from another maker's parameter sets equal that maker's records",
    .enabled(if: ForeignMedia.arePresent, "needs ../shared/media"), arguments: ForeignMedia.allCases
  )
  func remade(media: ForeignMedia) throws {
    let sets = try LayeredParameterSets(nalUnits: media.parameterSets())
    #expect(try HEVCDecoderConfigurationRecord(sets).bytes == media.box("hvcC"))
    #expect(try LHEVCDecoderConfigurationRecord(sets).bytes == media.box("lhvC"))
  }

  @Test("our records have the structure of AVFoundation's", arguments: Stream.allCases)
  func structure(stream: Stream) throws {
    var weaver = Weaver(baseEye: .left)
    let left = try #require(stream.accessUnits(.left).first)
    let right = try #require(stream.accessUnits(.right).first)
    let sets = try weaver.weave(
      left: left.bytes.span.bytes, right: right.bytes.span.bytes, framing: .annexB
    ).parameterSets
    let base = try HEVCDecoderConfigurationRecord(sets)
    #expect(
      base.arrays.map(\.type) == [
        .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .prefixSEI,
      ])
    #expect(base.arrays.allSatisfy { $0.isComplete })
    #expect(base.profileTierLevel.profile?.profileIDC == (stream == .main10 ? 2 : 1))
    #expect(base.bitDepthLuma == (stream == .main10 ? 10 : 8))
    #expect(base.temporalLayerCount == (stream == .weightp ? 2 : 1))
    #expect(base.arrays[3].nalUnits == [[0x4E, 0x01, 0xB0, 0x04, 0x04, 0x0D, 0x00, 0x20, 0x80]])
    #expect(try HEVCDecoderConfigurationRecord(bytes: base.bytes) == base)
    let layered = try LHEVCDecoderConfigurationRecord(sets)
    #expect(layered.arrays.map(\.type) == [.sequenceParameterSet, .pictureParameterSet])
    #expect(layered.nalUnits.allSatisfy { NALUnitHeader($0.span.bytes)?.layerID == 1 })
    #expect(layered.lengthSize == base.lengthSize)
    #expect(try LHEVCDecoderConfigurationRecord(bytes: layered.bytes) == layered)
  }

  @Test("a record cut short anywhere is refused, not trapped on")
  func truncated() {
    for count in 0..<Self.phone.count {
      #expect(throws: SyntaxError.self) {
        try LHEVCDecoderConfigurationRecord(bytes: Array(Self.phone.prefix(count)))
      }
    }
  }
}
