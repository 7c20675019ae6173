// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoVideo
import TestKit

/// A layered stream of small pictures, made of streams that are committed.
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

  /// In streams whose eyes are coded by themselves.
  static let keyInterval = 6

  /// 12 frames, woven of two streams: two closed groups of six pictures each, with B pictures.
  init(baseEye: Eye = .left) throws {
    let left = try Self.accessUnits("main8-left")
    let right = try Self.accessUnits("main8-right")
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
    (records, size) = try Self.description(sets ?? LayeredParameterSets())
  }

  /// 24 frames, whose right eye is predicted from the left one.
  static func predicted() throws -> WovenStream { try WovenStream(layered: "interlayer-128x96") }

  private init(layered name: String) throws {
    let stream = try Self.accessUnits(name)
    var clock = OutputOrderCounter()
    var sets: [[UInt8]] = []
    units = try stream.map { unit in
      guard let frame = clock.frame(unit.bytes.span.bytes, nalUnits: unit.nalUnits) else {
        throw Failure("a picture cannot be read")
      }
      var (sample, isSync): ([UInt8], Bool) = ([], false)
      for range in unit.nalUnits {
        let nalUnit = Array(unit.bytes[range])
        guard let header = NALUnitHeader(nalUnit.span.bytes) else { continue }
        switch header.type {
        case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet: sets.append(nalUnit)
        default:
          if header.type == .prefixSEI { sets.append(nalUnit) }
          isSync = isSync || header.layerID == 0 && header.type.isIRAP
          sample += withUnsafeBytes(of: UInt32(nalUnit.count).bigEndian) { Array($0) } + nalUnit
        }
      }
      return Unit(
        bytes: sample, byteStream: unit.bytes, displayOrder: frame.number, isSync: isSync)
    }
    (records, size) = try Self.description(LayeredParameterSets(nalUnits: sets))
  }

  private static func description(
    _ sets: LayeredParameterSets
  ) throws -> (records: (base: [UInt8], layered: [UInt8]), size: (width: Int, height: Int)) {
    guard let first = sets.baseSequenceParameterSets.first else {
      throw Failure("the stream has no parameter sets")
    }
    let records = (
      base: try HEVCDecoderConfigurationRecord(sets).bytes,
      layered: try LHEVCDecoderConfigurationRecord(sets).bytes
    )
    return (records, try SequenceParameterSet(nalUnit: first).visibleSize)
  }

  private static func accessUnits(_ name: String) throws -> [AccessUnit] {
    let url = Repository.url.appending(path: "Tests/HEVCTests/Streams/\(name).hevc")
    let bytes = try [UInt8](Data(contentsOf: url))
    var assembler = AccessUnitAssembler()
    return try assembler.append(bytes.span.bytes) + assembler.finish()
  }
}
