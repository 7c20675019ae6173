// SPDX-License-Identifier: MPL-2.0

import GStreamer
import HEVC
import StereoVideo

/// Weaves the access units of two coded streams.
final class LayeredFrameWeaver: LayeredFrameMaker {
  private static let framing = NALUnitFraming.lengthPrefixed(lengthSize: 4)

  private let left: EyeStreamCaps.CodedVideo
  private let right: EyeStreamCaps.CodedVideo
  private var weaver: Weaver
  private(set) var configuration: LayeredConfiguration?

  init(left: EyeStreamCaps.CodedVideo, right: EyeStreamCaps.CodedVideo, baseEye: Eye) throws {
    self.left = left
    self.right = right
    weaver = Weaver(baseEye: baseEye)
    try weaver.add(parameterSets: left.parameterSets, of: .left)
    try weaver.add(parameterSets: right.parameterSets, of: .right)
  }

  func make(_ pair: FramePair) throws -> [LayeredFrame] {
    let (buffer, woven) = try pair.left.withBytes { left in
      try pair.right.withBytes { right in try weave(left.bytes, right.bytes) }
    }
    if woven.parameterSetsChanged { try setConfiguration(woven.parameterSets) }
    return [
      LayeredFrame(
        buffer: buffer, presentationTime: pair.presentationTime, decodeTime: pair.decodeTime,
        duration: pair.duration ?? 0, isSync: woven.isRandomAccess, isReference: woven.isReference)
    ]
  }

  func drain() throws -> [LayeredFrame]? { nil }

  private func weave(_ leftBytes: RawSpan, _ rightBytes: RawSpan) throws -> (
    Buffer, WovenAccessUnit
  ) {
    let woven = try weaver.weave(
      left: leftBytes, leftNALUnits: left.framing.nalUnits(in: leftBytes),
      right: rightBytes, rightNALUnits: right.framing.nalUnits(in: rightBytes))
    guard let buffer = Buffer(size: woven.byteCount(framing: Self.framing)) else {
      throw FlowReturn.error
    }
    try buffer.withMutableBytes {
      woven.write(framing: Self.framing, left: leftBytes, right: rightBytes, into: $0)
    }
    return (buffer, woven)
  }

  private func setConfiguration(_ sets: LayeredParameterSets) throws {
    let made = try LayeredConfiguration(sets)
    if let configuration, configuration != made {
      throw ElementError(
        .format, "The eyes' parameter sets changed in mid stream; a movie has one set of them.")
    }
    configuration = made
  }
}
