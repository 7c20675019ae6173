// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import Testing

@Suite("Layered stream information") struct LayeredStreamInformationTests {
  static func sets(baseEye: Eye) throws -> LayeredParameterSets {
    var weaver = Weaver(baseEye: baseEye)
    let left = try Stream.main8.accessUnits(.left)[0]
    let right = try Stream.main8.accessUnits(.right)[0]
    return try weaver.weave(
      left: left.bytes.span.bytes, right: right.bytes.span.bytes, framing: .annexB
    ).parameterSets
  }

  @Test("the base layer is the eye that the weaver put there", arguments: Eye.allCases)
  func eyes(baseEye: Eye) throws {
    let sets = try Self.sets(baseEye: baseEye)
    let information = LayeredStreamInformation(
      try VideoParameterSet(nalUnit: sets.videoParameterSet),
      displays: ThreeDReferenceDisplaysInformation(nalUnits: sets.nalUnits))
    #expect(information.isStereo)
    #expect(information.baseEye == baseEye)
    #expect(information.layers.map(\.eye) == [baseEye, baseEye.other])
    #expect(information.layers.map(\.nuhLayerID) == [0, 1])
    #expect(!information.isEyeOrderGuessed)
    #expect(information.interLayerPrediction == .perSlice)
    #expect(information.warning == nil)
  }

  @Test("without reference displays information the base layer is the left eye, as a guess")
  func guess() throws {
    let sets = try Self.sets(baseEye: .right)
    let information = LayeredStreamInformation(
      try VideoParameterSet(nalUnit: sets.videoParameterSet), displays: nil)
    #expect(information.isStereo)
    #expect(information.baseEye == .left)
    #expect(information.isEyeOrderGuessed)
    #expect(information.warning?.contains("left eye") == true)
  }

  @Test("auxiliary layers and further views leave the base layer, and a warning that says so")
  func others() throws {
    let sets = try Self.sets(baseEye: .left)
    var vps = try VideoParameterSet(nalUnit: sets.videoParameterSet)
    var alpha = vps
    alpha.multilayer?.layers[1].scalabilityIDs[3] = 1
    let withAlpha = LayeredStreamInformation(alpha, displays: nil)
    #expect(!withAlpha.isStereo)
    #expect(withAlpha.warning?.contains("left out: alpha") == true)
    #expect(withAlpha.baseEye == nil && withAlpha.viewCount == 1)
    vps.multilayer?.layers.append(
      .init(nuhLayerID: 2, viewOrderIndex: 2, viewID: 2, directReferenceLayers: 1))
    let threeViews = LayeredStreamInformation(vps, displays: nil)
    #expect(!threeViews.isStereo)
    #expect(threeViews.warning?.contains("3 layers") == true)
    #expect(threeViews.baseEye == .left && threeViews.isEyeOrderGuessed)
    #expect(threeViews.viewCount == 3)
    let display = ThreeDReferenceDisplaysInformation(nalUnits: sets.nalUnits)
    #expect(!LayeredStreamInformation(vps, displays: display).isEyeOrderGuessed)
  }

  @Test(
    "files of other makers have the eyes of golden.json",
    .enabled(if: ForeignMedia.arePresent, "needs ../shared/media"), arguments: ForeignMedia.allCases
  )
  func foreign(media: ForeignMedia) throws {
    let units = try media.parameterSets()
    let information = LayeredStreamInformation(
      try VideoParameterSet(nalUnit: units[0]),
      displays: ThreeDReferenceDisplaysInformation(nalUnits: units))
    #expect(information.isStereo)
    #expect(information.baseEye?.rawValue == (try media.golden().base_layer_eye))
    #expect(information.interLayerPrediction == .always)
    #expect(!information.isEyeOrderGuessed)
  }
}
