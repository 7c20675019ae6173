// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

@Suite("Parameter sets and SEI") struct ParameterSetTests {
  static func sets(_ stream: Stream, baseEye: Eye = .left) throws -> LayeredParameterSets {
    var weaver = Weaver(baseEye: baseEye)
    let left = try stream.accessUnits(.left)[0]
    let right = try stream.accessUnits(.right)[0]
    return try weaver.weave(
      left: left.bytes.span.bytes, right: right.bytes.span.bytes, framing: .annexB
    ).parameterSets
  }

  @Test("a woven VPS has the fields of AVFoundation's", arguments: Stream.allCases)
  func stereoVPS(stream: Stream) throws {
    let sets = try Self.sets(stream)
    let vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
    #expect(vps.maxLayersMinus1 == 1)
    #expect(vps.maxLayerID == 1)
    #expect(vps.layerSets == [0b11])
    let multilayer = try #require(vps.multilayer)
    #expect(multilayer.scalabilityMask == 0b10)
    #expect(multilayer.layers.map(\.viewID) == [0, 1])
    #expect(multilayer.layers[1].directReferenceLayers == 1)
    let pair = try #require(multilayer.pair)
    #expect(!pair.defaultReferenceLayersActive)
    #expect(pair.profileTierLevelIndexes == [1, 2])
    let profile = try #require(pair.profileTierLevels.first?.profile)
    #expect(profile.profileIDC == (stream == .main10 ? 13 : 6))
    #expect(profile.compatibilityFlags == 1 << UInt32(31 - profile.profileIDC))
    // As AVFoundation's 0xBF80...: source flags are x265's, with the frame-only flag.
    #expect(
      profile.constraintFlags & 0x0F80_0000_0000 == (stream == .main10 ? 0x0D80 : 0x0F80) << 32)
    #expect(pair.representationFormats.count == 1)
    #expect(vps.nalUnit() == sets.videoParameterSet)
  }

  @Test("a dependent SPS and PPS have the fields of the eye's own", arguments: Stream.allCases)
  func dependentSets(stream: Stream) throws {
    let sets = try Self.sets(stream)
    let vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
    let base = try SequenceParameterSet(nalUnit: sets.baseSequenceParameterSets[0])
    let dependent = try SequenceParameterSet(
      nalUnit: sets.dependentSequenceParameterSets[0], videoParameterSet: vps)
    #expect(dependent.isMultilayerForm)
    #expect(dependent.id == 1)
    #expect(dependent.format == base.format)
    #expect(dependent.tools == base.tools)
    #expect(dependent.shortTermSets == base.shortTermSets)
    #expect(dependent.interViewMVVerticalConstraint == false)
    #expect(dependent.vui?.timing?.hrd == nil)
    // The base layer says what the colours are.
    #expect(dependent.vui?.signalType == nil)
    let pps = try PictureParameterSet(nalUnit: sets.dependentPictureParameterSets[0])
    #expect(pps.id == 1)
    #expect(pps.sequenceParameterSetID == 1)
    #expect(pps.header.layerID == 1)
  }

  @Test(
    "the VPS of a file of another maker is read as formats.md has it",
    .enabled(if: ForeignMedia.arePresent, "needs ../shared/media"), arguments: ForeignMedia.allCases
  )
  func foreignVPS(media: ForeignMedia) throws {
    let vps = try VideoParameterSet(nalUnit: media.parameterSets()[0])
    let multilayer = try #require(vps.multilayer)
    #expect(vps.multilayerError == nil)
    #expect(multilayer.scalabilityMask == 0b10)
    #expect(multilayer.layers.map(\.viewID) == [0, 1])
    #expect(multilayer.layers.map(\.nuhLayerID) == [0, 1])
    let pair = try #require(multilayer.pair)
    #expect(pair.defaultReferenceLayersActive)
    #expect(pair.profileTierLevels.first?.profile?.profileIDC == 6)
    #expect(pair.profileTierLevels.first?.profile?.constraintFlags == 0xBF80_0000_0000)
    #expect(pair.dpbSize.first?.maxDecPicBufferingMinus1 == [4, 4])
    #expect(pair.dpbSize.first?.maxNumReorderPics == 2)
    #expect(pair.directDependencyType == 2)
  }

  @Test("an SPS with HRD, tiles of syntax and sub-layers is read")
  func sequenceParameterSet() throws {
    let hrd = try SequenceParameterSet(
      nalUnit: Self.sets(.slices).baseSequenceParameterSets[0])
    #expect(hrd.vui?.timing?.hrd?.subLayers.first?.buffers.isEmpty == false)
    #expect(hrd.tools.ctbLog2Size == 4)
    #expect((hrd.widthInCTBs, hrd.heightInCTBs) == (10, 6))
    let layers = try SequenceParameterSet(
      nalUnit: Self.sets(.weightp).baseSequenceParameterSets[0])
    #expect(layers.maxSubLayersMinus1 == 1)
    #expect(layers.tools.scalingList == .standard)
    let window = try Still.window.accessUnit()
    let unit = try #require(
      window.nalUnits.first {
        NALUnitHeader(window.bytes.span.bytes.extracting($0))?.type
          == .sequenceParameterSet
      })
    let sps = try SequenceParameterSet(nalUnit: Array(window.bytes[unit]))
    #expect(sps.visibleSize == (60, 48))
    #expect(sps.format.width == 64)
  }

  @Test("reference displays information is Apple's, byte by byte", arguments: Eye.allCases)
  func referenceDisplays(baseEye: Eye) throws {
    let apple: [UInt8] =
      baseEye == .left
      ? [0x4E, 0x01, 0xB0, 0x04, 0x04, 0x0D, 0x00, 0x20, 0x80]
      : [0x4E, 0x01, 0xB0, 0x04, 0x04, 0x0A, 0x80, 0x20, 0x80]
    #expect(try Self.sets(.main8, baseEye: baseEye).threeDReferenceDisplays == apple)
    let read = try #require(ThreeDReferenceDisplaysInformation(nalUnits: [apple]))
    #expect(read.displays.first?.leftViewID == (baseEye == .left ? 0 : 1))
    #expect(read.displays.first?.rightViewID == (baseEye == .left ? 1 : 0))
    #expect(read.nalUnit == apple)
  }

  @Test("HDR10 SEI of x265 is read")
  func highDynamicRange() throws {
    let unit = try Stream.main10.accessUnits(.left)[0]
    let messages = try unit.nalUnits.flatMap { range in
      let nalUnit = unit.bytes.span.bytes.extracting(range)
      return NALUnitHeader(nalUnit)?.type == .prefixSEI
        ? try SEIMessage.messages(in: nalUnit) : []
    }
    let display = try #require(messages.first { $0.type == .masteringDisplayColourVolume })
    let volume = try MasteringDisplayColourVolume(payload: display.payload)
    #expect(volume.green == .init(x: 13250, y: 34500))
    #expect(volume.whitePoint == .init(x: 15635, y: 16450))
    #expect(volume.maximumLuminance == 10_000_000)
    #expect(volume.minimumLuminance == 1)
    let light = try #require(messages.first { $0.type == .contentLightLevel })
    let level = try ContentLightLevel(payload: light.payload)
    #expect((level.maximum, level.maximumFrameAverage) == (1000, 400))
  }

  @Test(
    "samples of a woven track have four-byte lengths and no parameter sets",
    arguments: Stream.allCases)
  func lengthPrefixed(stream: Stream) throws {
    let bytes = try weave(
      stream.accessUnits(.left), stream.accessUnits(.right),
      framing: .lengthPrefixed(lengthSize: 4))
    let types = try LengthPrefixed.nalUnits(in: bytes.span.bytes).map {
      NALUnitHeader(bytes.span.bytes.extracting($0))?.type
    }
    #expect(!types.isEmpty)
    #expect(types.allSatisfy { $0?.isParameterSet == false && $0 != .accessUnitDelimiter })
  }

  @Test("a change of parameter sets is reported once, and they precede each random access point")
  func changes() throws {
    var weaver = Weaver(baseEye: .left)
    let pairs = try zip(Stream.main8.accessUnits(.left), Stream.main8.accessUnits(.right))
    var changes: [Bool] = []
    var inBand: [Bool] = []
    for (left, right) in pairs {
      let woven = try weaver.weave(
        left: left.bytes.span.bytes, right: right.bytes.span.bytes, framing: .annexB)
      changes.append(woven.parameterSetsChanged)
      let stream = woven.bytes(left, right)
      inBand.append(
        AnnexB.nalUnits(in: stream.span.bytes).contains {
          NALUnitHeader(stream.span.bytes.extracting($0))?.type == .videoParameterSet
        })
      #expect(inBand.last == woven.isRandomAccess)
    }
    #expect(changes == [true] + Array(repeating: false, count: 11))
    #expect(inBand.count { $0 } == 2)
  }
}
