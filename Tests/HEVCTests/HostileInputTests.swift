// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

import struct FuzzTargets.SplitMix

/// Damaged streams end in a thrown error or in a result, never in a trap: a trap would end the
/// process, and with it this test.
@Suite("Hostile input") struct HostileInputTests {
  /// Gives access units to everything that reads layered ones; counts what was not refused.
  static func readLayered(_ units: [AccessUnit]) -> Int {
    var flattener = Flattener(output: .bothEyes)
    var sources = AccessUnitSources<[UInt8]>()
    var unweaver = Unweaver()
    var extractor = BaseLayerExtractor()
    var accepted = 0
    defer {
      for picture in flattener.drain() {
        if let source = sources[picture.accessUnit] { _ = bytes(of: picture, source: source) }
      }
    }
    for unit in units {
      let span = unit.bytes.span.bytes
      if let flat = try? flattener.flatten(span, nalUnits: unit.nalUnits) {
        accepted += 1
        sources.keep(unit.bytes, as: flat.number)
        for picture in flat.pictures {
          if let source = sources[picture.accessUnit] { _ = bytes(of: picture, source: source) }
        }
        sources.drop(before: flat.oldestNeeded)
        _ = try? HEVCDecoderConfigurationRecord(flat.parameterSets).bytes
      }
      if let alone = try? unweaver.unweave(span, nalUnits: unit.nalUnits).picture {
        accepted += 1
        _ = bytes(of: alone, source: unit.bytes)
      }
      if (try? extractor.extract(span, nalUnits: unit.nalUnits)) != nil { accepted += 1 }
      for range in unit.nalUnits {
        let nalUnit = Array(unit.bytes[range])
        if let vps = try? VideoParameterSet(nalUnit: nalUnit) {
          _ = vps.nalUnit()
          _ = LayeredStreamInformation(vps, displays: .init(nalUnits: [nalUnit]))
        }
        _ = try? SEIMessage.messages(in: nalUnit.span.bytes)
      }
    }
    return accepted
  }

  /// Weaves a damaged left eye with an intact right one.
  static func weaveDamaged(_ left: [AccessUnit], _ right: [AccessUnit]) -> Int {
    var weaver = Weaver(baseEye: .right)
    var accepted = 0
    for (left, right) in zip(left, right) {
      if let woven = try? weaver.weave(
        left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
        right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
      {
        accepted += 1
        _ = woven.bytes(left, right)
        _ = try? LHEVCDecoderConfigurationRecord(woven.parameterSets).bytes
      }
    }
    return accepted
  }

  static func reframed(_ bytes: [UInt8]) -> AccessUnit {
    AccessUnit(bytes: bytes, nalUnits: AnnexB.nalUnits(in: bytes.span.bytes))
  }

  @Test("a stream cut short at any byte", .tags(.long), arguments: Stream.allCases.sampled(2))
  func truncated(stream: Stream) throws {
    let left = try stream.accessUnits(.left)
    let right = try stream.accessUnits(.right)
    let woven = try accessUnits(of: weave(left, right))
    let whole = Self.readLayered(Array(woven.prefix(3)))
    #expect(whole == 9)
    var (most, mostWoven) = (0, 0)
    for index in 0..<3 {
      for count in 0..<woven[index].bytes.count {
        var cut = Array(woven.prefix(3))
        cut[index] = Self.reframed(Array(cut[index].bytes.prefix(count)))
        most = max(most, Self.readLayered(cut))
      }
      for count in 0..<left[index].bytes.count {
        var cut = Array(left.prefix(3))
        cut[index] = Self.reframed(Array(cut[index].bytes.prefix(count)))
        mostWoven = max(mostWoven, Self.weaveDamaged(cut, right))
      }
    }
    #expect(most <= whole)
    #expect(mostWoven <= 3)
  }

  @Test(
    "a stream with any one bit of a header wrong", .tags(.long),
    arguments: Stream.allCases.sampled(2))
  func corrupted(stream: Stream) throws {
    let left = try stream.accessUnits(.left)
    let right = try stream.accessUnits(.right)
    let woven = try accessUnits(of: weave(left, right))
    var (most, mostWoven) = (0, 0)
    for index in 0..<2 {
      for range in woven[index].nalUnits {
        for byte in range.prefix(32) {
          for bit in 0..<8 {
            var damaged = Array(woven.prefix(3))
            damaged[index].bytes[byte] ^= 1 << bit
            most = max(most, Self.readLayered(damaged))
          }
        }
      }
      for range in left[index].nalUnits {
        for byte in range.prefix(32) {
          for bit in 0..<8 {
            var damaged = Array(left.prefix(3))
            damaged[index].bytes[byte] ^= 1 << bit
            mostWoven = max(mostWoven, Self.weaveDamaged(damaged, right))
          }
        }
      }
    }
    #expect((1...9).contains(most))
    #expect((1...3).contains(mostWoven))
  }

  @Test("random parameter sets, slices and records")
  func random() throws {
    var generator = SplitMix(state: 20_261_121)
    let intact = try accessUnits(
      of: weave(Stream.slices.accessUnits(.left), Stream.slices.accessUnits(.right)))
    var most = 0
    for _ in 0..<5_000 {
      let types: [UInt8] = [0, 1, 8, 19, 20, 21, 32, 33, 34, 36, 39, 40]
      var units: [UInt8] = []
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let layer = UInt8.random(in: 0...1, using: &generator)
        let type = types[Int.random(in: 0..<types.count, using: &generator)]
        let zeros = Bool.random(using: &generator)
        units += [0, 0, 1, type << 1, layer << 3 | 1]
        for _ in 0..<Int.random(in: 0...60, using: &generator) {
          let byte = UInt8.random(in: 0...255, using: &generator)
          units.append(zeros ? byte & UInt8.random(in: 0...255, using: &generator) : byte)
        }
      }
      most = max(most, Self.readLayered([intact[0], Self.reframed(units), intact[1]]))
      _ = try? HEVCDecoderConfigurationRecord(bytes: [1] + units).bytes
      _ = try? LHEVCDecoderConfigurationRecord(bytes: [1] + units).bytes
      _ = try? ThreeDReferenceDisplaysInformation(payload: units).nalUnit
    }
    #expect((1...9).contains(most))
  }

  @Test("random bytes to the assembler, which loses none that belongs to a NAL unit")
  func assembler() throws {
    var generator = SplitMix(state: 42)
    for _ in 0..<300 {
      let bytes = (0..<2000).map { _ in
        UInt8.random(in: 0...255, using: &generator) & UInt8.random(in: 0...3, using: &generator)
      }
      let whole = try accessUnits(of: bytes)
      var assembler = AccessUnitAssembler()
      var assembled: [AccessUnit] = []
      var offset = 0
      while offset < bytes.count {
        let end = min(offset + Int.random(in: 1...50, using: &generator), bytes.count)
        assembled += try assembler.append(bytes.span.bytes.extracting(offset..<end))
        offset = end
      }
      assembled += assembler.finish()
      func content(_ units: [AccessUnit]) -> [[[UInt8]]] {
        units.map { unit in unit.nalUnits.map { Array(unit.bytes[$0]) } }
      }
      #expect(content(assembled) == content(whole))
    }
  }
}
