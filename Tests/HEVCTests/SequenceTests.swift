// SPDX-License-Identifier: MPL-2.0

import HEVC
import StereoVideo
import TestKit
import Testing

@Suite("Coded video sequences", .enabled(if: Decoder.isAvailable, "needs Python with PyAV"))
struct SequenceTests {
  /// The access units of `streams` one after the other, with `between` at the end of each.
  static func joined(_ streams: [Stream], _ eye: Eye, between: [UInt8]) throws -> [AccessUnit] {
    try accessUnits(of: streams.flatMap { try $0.bytes(eye) + between })
  }

  /// MD5s that a woven stream of both eyes must have, and has woven and flattened.
  static func check(_ left: [AccessUnit], _ right: [AccessUnit]) throws {
    let woven = try weave(left, right)
    let flat = try flatten(accessUnits(of: woven), output: .dependentEye)
    let alone = try Decoder.frames(
      ofEach: [left.flatMap(\.bytes), right.flatMap(\.bytes), flat], single: true
    ).map { $0.map(\.md5) }
    #expect(!alone[0].isEmpty)
    #expect(alone[2] == alone[1])
    let frames = try Decoder.frames(of: woven)
    for (view, md5s) in [("0", alone[0]), ("1", alone[1])] {
      #expect(frames.filter { $0.view == view }.map(\.md5) == md5s)
    }
  }

  @Test("size and parameter sets may change at an IDR picture", .tags(.judge))
  func change() throws {
    let streams: [Stream] = [.main8, .slices, .weightp]
    try Self.check(
      Self.joined(streams, .left, between: []), Self.joined(streams, .right, between: []))
  }

  @Test("an end of sequence NAL unit ends it for both layers", .tags(.judge))
  func endOfSequence() throws {
    let end: [UInt8] = [0, 0, 0, 1, 0x48, 0x01]
    var streams: [[AccessUnit]] = []
    for eye in Eye.allCases {
      // main10's second random access point is a CRA picture followed by a leading picture.
      var units = try Stream.main10.accessUnits(eye)
      units[3].bytes += end
      streams.append(try accessUnits(of: units.flatMap(\.bytes)))
    }
    try Self.check(streams[0], streams[1])
  }

  @Test(
    "a sequence may have more pictures than flattening has between its two numberings",
    .tags(.judge, .exhaustive))
  func long() throws {
    let pair = try Still.pair.accessUnits()
    let slice = try #require(pair[1].nalUnits.last)
    let rbsp = RBSP(Array(pair[1].bytes[slice])).bytes
    var units = [pair[0]]
    for poc in 1...16_500 {
      // first_slice_segment_in_pic_flag, PPS 0 and slice type P are five bits; then eight of POC.
      var writer = BitWriter()
      writer.copy(16..<21, of: rbsp)
      writer.u(poc, 8)
      writer.copy(29..<rbsp.count * 8, of: rbsp)
      let unit = [0, 0, 0, 1] + writer.nalUnit(NALUnitHeader(type: .trailR))
      units.append(AccessUnit(bytes: unit, nalUnits: [4..<unit.count]))
    }
    let alone = try Decoder.frames(of: units.flatMap(\.bytes), single: true)
    #expect(alone.count == units.count)
    let flat = try flatten(accessUnits(of: weave(units, units)), output: .dependentEye)
    #expect(try Decoder.frames(of: flat, single: true) == alone)
  }

  @Test("a lost or damaged dependent picture leaves the base eye as it is", .tags(.judge))
  func lostPicture() throws {
    var units = try accessUnits(
      of: weave(Stream.main8.accessUnits(.left), Stream.main8.accessUnits(.right)))
    // Lost: the last slice of an access unit is the dependent layer's.
    units[1].nalUnits.removeLast()
    let slice = try #require(units[2].nalUnits.last)
    // Damaged: a PPS that there is not.
    units[2].bytes[slice.lowerBound + 2] = 0x80
    var flattener = Flattener(output: .bothEyes)
    var stream: [UInt8] = []
    var failures: [Bool] = []
    for unit in units {
      let flat = try flattener.flatten(unit.bytes.span.bytes, nalUnits: unit.nalUnits)
      failures.append(flat.dependentFailure != nil)
      for picture in flat.pictures { stream += bytes(of: picture, source: unit.bytes) }
    }
    #expect(failures == (0..<12).map { $0 == 2 })
    let md5s = try Set(Decoder.frames(of: stream, single: true).map(\.md5))
    #expect(try md5s.isSuperset(of: Stream.main8.md5s(.left)))
  }

  @Test("decoding may begin at a CRA picture", .tags(.judge))
  func randomAccess() throws {
    let streams = try Eye.allCases.map { Array(try Stream.main10.accessUnits($0).dropFirst(4)) }
    #expect(streams[0][0].nalUnits.count > 3)
    try Self.check(streams[0], streams[1])
  }
}
