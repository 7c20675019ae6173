// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoVideo
import TestKit

/// A layered stream of 12 frames, woven of two small streams that are committed: two closed groups
/// of six pictures each, with B pictures.
struct WovenStream {
  struct Unit {
    /// With length prefixes and without parameter sets.
    let bytes: [UInt8]
    /// The same in start codes, with parameter sets.
    let byteStream: [UInt8]
    /// Its place in output order.
    let displayOrder: Int
    let isSync: Bool
  }

  let units: [Unit]
  /// The content of `hvcC` and `lhvC`.
  let records: (base: [UInt8], layered: [UInt8])
  let size: (width: Int, height: Int)

  static let keyInterval = 6

  init(baseEye: Eye = .left) throws {
    let left = try Self.accessUnits(.left)
    let right = try Self.accessUnits(.right)
    var weaver = Weaver(baseEye: baseEye)
    var clock = OutputOrderCounter()
    var sets: LayeredParameterSets?
    units = try zip(left, right).map { left, right in
      let woven = try weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
      if sets == nil { sets = woven.parameterSets }
      let stream = woven.bytes(left, right)
      let frame = clock.frame(
        stream.span.bytes, nalUnits: AnnexB.nalUnits(in: stream.span.bytes))
      guard let frame else { throw Failure("a picture cannot be read") }
      return Unit(
        bytes: woven.bytes(left, right, framing: .lengthPrefixed(lengthSize: 4)),
        byteStream: stream,
        displayOrder: frame.number, isSync: woven.isRandomAccess)
    }
    guard let sets, let first = sets.baseSequenceParameterSets.first else {
      throw Failure("the stream has no parameter sets")
    }
    records = (
      try HEVCDecoderConfigurationRecord(sets).bytes,
      try LHEVCDecoderConfigurationRecord(sets).bytes
    )
    size = try SequenceParameterSet(nalUnit: first).visibleSize
  }

  private static func accessUnits(_ eye: Eye) throws -> [AccessUnit] {
    let url = Repository.url.appending(path: "Tests/HEVCTests/Streams/main8-\(eye).hevc")
    let bytes = try [UInt8](Data(contentsOf: url))
    var assembler = AccessUnitAssembler()
    return try assembler.append(bytes.span.bytes) + assembler.finish()
  }
}
