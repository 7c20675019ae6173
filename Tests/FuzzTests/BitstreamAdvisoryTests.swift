// SPDX-License-Identifier: MPL-2.0

import Foundation
import FuzzTargets
import GStreamer
import TestElements
import TestKit
import Testing

/// What GStreamer's H.265 parser was once broken by, in a movie's `hvcC` and in a byte stream.
@Suite(.serialized)
struct BitstreamAdvisoryTests {
  let movie: SeedMovie

  init() async throws {
    try BuiltPlugin.require()
    movie = try await SeedMovies.own()
  }

  /// Plays the movie with a NAL unit instead of those of its type in `hvcC`, and its byte stream
  /// with the NAL unit at the start, after the first parameter sets, and at the end.
  private func play(_ unit: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) {
    let type = unit[0] >> 1
    let record = movie.withVideo { entry in
      entry.edit("hvcC") { box in
        guard box.content.count > 23 else { return }
        var arrays = HVCCArrays(box.content)
        arrays.units.removeAll { $0[0] >> 1 == type }
        arrays.units.append(unit)
        box.content = arrays.bytes
      }
    }
    for outcome in endure(record, sourceLocation: sourceLocation) {
      #expect(outcome.buffers["audio_0"] ?? 0 > 0, "\(outcome)", sourceLocation: sourceLocation)
      #expect(outcome.buffers["video_0"] == 6, "\(outcome)", sourceLocation: sourceLocation)
    }
    let stream = movie.byteStream
    let escaped = [0, 0, 0, 1] + unit
    endure(escaped + stream, sourceLocation: sourceLocation)
    let starts = stream.indices.filter { stream[$0...].starts(with: [0, 0, 0, 1]) }
    for place in [starts[3], starts[7], starts[starts.count / 2]] {
      endure(
        Array(stream[..<place]) + escaped + Array(stream[place...]),
        sourceLocation: sourceLocation)
    }
    endure(stream + escaped, sourceLocation: sourceLocation)
  }

  @Test("CVE-2023-40476: more sub-layers than there can be")
  func subLayers() {
    for fill in [0, 0xFF, 0xAA] as [UInt8] {
      let rest = [UInt8](repeating: fill, count: 200)
      // vps_max_sub_layers_minus1 and sps_max_sub_layers_minus1 are 7.
      play([0x40, 0x01, 0x0C, 0x0F, 0xFF, 0xFF] + rest)
      play([0x42, 0x01, 0x0F] + rest)
    }
  }

  @Test("CVE-2025-3887: picture buffers and long-term pictures without number")
  func pictureBuffers() {
    for value in [16, 17, 1 << 20, Int(UInt32.max) - 1] {
      var start = SPSBits()
      start.ue(value)
      play(start.nalUnit)
      var longTerm = SPSBits()
      longTerm.untilReferencePictureSets()
      longTerm.ue(0)
      longTerm.u(1, 1)
      longTerm.ue(value)
      play(longTerm.nalUnit)
    }
  }

  @Test("5f3811c112: reference picture sets beyond their arrays")
  func referencePictureSets() {
    for count in [1, 2, 64, 65, 1 << 30] {
      for value in [0, 16, 17, 1 << 31 - 1] {
        var bits = SPSBits()
        bits.untilReferencePictureSets()
        bits.ue(count)
        bits.ue(value)
        bits.ue(value)
        for _ in 0..<40 { bits.ue(value) }
        play(bits.nalUnit)
        // The second predicted from the first.
        var predicted = SPSBits()
        predicted.untilReferencePictureSets()
        predicted.ue(count)
        for number in [16, 0] { predicted.ue(number) }
        for _ in 0..<16 {
          predicted.ue(0x7FFE)
          predicted.u(1, 1)
        }
        for _ in 0..<8 {
          predicted.u(3, 2)
          predicted.ue(value)
          for _ in 0..<17 { predicted.u(3, 2) }
        }
        play(predicted.nalUnit)
      }
    }
  }

  @Test(
    "SA-2026-0012, CVE-2026-53702: SEI that count decoding units and displays without end",
    .tags(.long))
  func supplementalInformation() {
    // Buffering period, picture timing, decoding unit, reference displays, depth, nesting.
    for type in [0, 1, 130, 176, 177, 133] as [UInt8] {
      for fill in [0, 0x01, 0x55, 0xFF] as [UInt8] {
        for size in [[0], [1], [200], [255, 255, 255, 255, 3]] as [[UInt8]] {
          let payload = [UInt8](repeating: fill, count: 220)
          play([0x4E, 0x01, type] + size + payload + [0x80])
        }
      }
    }
  }

  @Test("layers beyond 63, and parameter sets of layers that are not there", .tags(.long))
  func layers() {
    for type in [32, 33, 34, 39, 1, 19, 63] as [UInt8] {
      for layer in [1, 2, 62, 63] as [UInt8] {
        let header = [type << 1 | layer >> 5, (layer & 31) << 3 | 1]
        play(header + [0xFF, 0xFF, 0xFF, 0x80])
        play(header + [UInt8](repeating: 0, count: 40))
      }
    }
    play([0x40])
    play([0x40, 0x01])
  }

  @Test("NAL units with endless start codes and emulation prevention bytes", .tags(.exhaustive))
  func zeros() {
    let stream = movie.byteStream
    endure(stream + [UInt8](repeating: 0, count: 900_000))
    endure(stream + (0..<300_000).flatMap { _ in [0, 0, 1] as [UInt8] })
    endure(stream + (0..<200_000).flatMap { _ in [0, 0, 1, 0x4E] as [UInt8] })
    endure(stream + (0..<150_000).flatMap { _ in [0, 0, 1, 0x46, 0x01, 0x50] as [UInt8] })
    endure([0, 0, 0, 1] + (0..<225_000).flatMap { _ in [0, 0, 3, 0] as [UInt8] })
    endure((0..<130_000).flatMap { _ in [0, 0, 1, 0x26, 0x01, 0xAF, 0xFF] as [UInt8] })
    // Each of these is an error, of which Swift Testing records the call stack.
    endure(stream + (0..<40_000).flatMap { _ in [0, 0, 1, 0x02, 0x01, 0xAF, 0xFF] as [UInt8] })
  }
}

/// The NAL units of a decoder configuration record, each in an array of its own.
private struct HVCCArrays {
  let head: [UInt8]
  var units: [[UInt8]] = []

  init(_ record: [UInt8]) {
    head = Array(record.prefix(22))
    var place = 23
    for _ in 0..<record[22] where place + 3 <= record.count {
      let count = Int(record[place + 1]) << 8 | Int(record[place + 2])
      place += 3
      for _ in 0..<count where place + 2 <= record.count {
        let size = Int(record[place]) << 8 | Int(record[place + 1])
        units.append(Array(record[place + 2..<min(place + 2 + size, record.count)]))
        place += 2 + size
      }
    }
  }

  var bytes: [UInt8] {
    head + [UInt8(clamping: units.count)]
      + units.flatMap { [$0[0] >> 1, 0, 1] + big(UInt16(clamping: $0.count)) + $0 }
  }
}

/// The bits of a sequence parameter set up to where it is to go wrong: 7.3.2.2 of H.265.
private struct SPSBits {
  private var bits: [Bool] = []

  /// Up to `sps_max_dec_pic_buffering_minus1`.
  init() {
    u(0, 4)
    u(0, 3)
    u(1, 1)
    // general_profile_space to general_level_idc: Main, level 3.
    u(1, 8)
    u(0x6000_0000, 32)
    u(0x9, 4)
    u(0, 44)
    u(90, 8)
    ue(0)
    ue(1)
    ue(128)
    ue(64)
    u(0, 1)
    ue(0)
    ue(0)
    ue(4)
    u(1, 1)
  }

  mutating func u(_ value: UInt64, _ count: Int) {
    for bit in (0..<count).reversed() { bits.append(value >> UInt64(bit) & 1 == 1) }
  }

  mutating func ue(_ value: Int) {
    let number = UInt64(value) + 1
    let length = 64 - number.leadingZeroBitCount
    u(0, length - 1)
    u(number, length)
  }

  /// From there up to `num_short_term_ref_pic_sets`.
  mutating func untilReferencePictureSets() {
    for value in [4, 0, 0, 0, 3, 0, 3, 0, 0] { ue(value) }
    u(0, 4)
  }

  /// With the prevention bytes of 7.4.2.
  var nalUnit: [UInt8] {
    var payload: [UInt8] = []
    for start in stride(from: 0, to: bits.count, by: 8) {
      let byte = (0..<8).reduce(UInt8(0)) { byte, bit in
        byte << 1 | (start + bit < bits.count && bits[start + bit] ? 1 : 0)
      }
      if byte <= 3, payload.suffix(2).elementsEqual([0, 0]), payload.count >= 2 {
        payload.append(3)
      }
      payload.append(byte)
    }
    return [0x42, 0x01] + payload + [0x80]
  }
}
