// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

/// Keyframes of the dependent eye that are predicted from the base eye's.
struct PredictedKeyframeTests {
  /// Weaves a still picture in both eyes, with a keyframe in the place of the right one.
  private func weave(keyframe: AccessUnit, sets: [[UInt8]]? = nil) throws -> WovenAccessUnit {
    var weaver = Weaver(baseEye: .left)
    try weaver.add(keyframeParameterSets: sets ?? self.sets(keyframe))
    let still = try Still.plain.accessUnit()
    return try weaver.weave(
      left: still.bytes.span.bytes, leftNALUnits: still.nalUnits, right: still.bytes.span.bytes,
      rightNALUnits: still.nalUnits, predicted: keyframe.bytes.span.bytes,
      predictedNALUnits: keyframe.nalUnits)
  }

  private func sets(_ unit: AccessUnit) -> [[UInt8]] {
    unit.nalUnits.map { Array(unit.bytes[$0]) }.filter {
      NALUnitHeader($0.span.bytes)?.type.isParameterSet == true
    }
  }

  @Test("keyframes encoded with other tools or another size are refused, naming the field")
  func disagreement() throws {
    let cases = [
      (try Still.chroma422.accessUnits().first, "chroma_format_idc"),
      (try Stream.main10.accessUnits(.right).first, "pic_width_in_luma_samples"),
    ]
    for (keyframe, field) in cases {
      let first = try #require(keyframe)
      let error = #expect(throws: WeaveError.self) {
        try weave(keyframe: first)
      }
      #expect(error == .differentKeyframeCoding(field: field), "\(String(describing: error))")
    }
  }

  @Test("a keyframe that is no P picture with one reference is refused")
  func noPrediction() throws {
    let still = try Still.plain.accessUnit()
    #expect(throws: WeaveError.misplacedKeyframe) { try weave(keyframe: still) }
  }

  @Test("a keyframe that may use motion vectors of a discarded picture is refused")
  func temporalPrediction() throws {
    let units = try Still.temporal.accessUnits()
    try #require(units.count == 2)
    #expect(throws: WeaveError.differentKeyframeCoding(field: "slice_temporal_mvp_enabled_flag")) {
      try weave(keyframe: units[1], sets: sets(units[0]))
    }
  }

  @Test(
    "a P picture decodes the same in its reference's access unit as after it",
    .tags(.judge),
    .enabled(if: Decoder.isAvailable, "needs Python with PyAV"), arguments: Eye.allCases)
  func exact(baseEye: Eye) throws {
    let units = try Still.pair.accessUnits()
    try #require(units.count == 2)
    var weaver = Weaver(baseEye: baseEye)
    try weaver.add(keyframeParameterSets: sets(units[0]))
    let (base, dependent) = (units[0], try Still.plain.accessUnit())
    let predicted = units[1]
    let (left, right) = baseEye == .left ? (base, dependent) : (dependent, base)
    let woven = try weaver.weave(
      left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
      right: right.bytes.span.bytes, rightNALUnits: right.nalUnits,
      predicted: predicted.bytes.span.bytes, predictedNALUnits: predicted.nalUnits)
    #expect(woven.type.isIDR && woven.pictureOrderCount == 0)
    let stream =
      baseEye == .left
      ? woven.bytes(base, predicted)
      : woven.bytes(predicted, base)
    let frames = try Decoder.frames(of: stream)
    let alone = try Decoder.frames(
      of: units.flatMap { unit in
        unit.nalUnits.flatMap { [0, 0, 0, 1] + unit.bytes[$0] }
      }, single: true
    ).map(\.md5)
    try #require(alone.count == 2)
    #expect(frames.filter { $0.view == "0" }.map(\.md5) == [alone[0]])
    #expect(frames.filter { $0.view == "1" }.map(\.md5) == [alone[1]])
  }
}
