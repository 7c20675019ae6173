// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing
import TransportStream

import enum HEVC.AnnexB

/// Streams of one PID and of two, made of one H.264 MVC stream.
@Suite(
  "Transport streams of both views",
  .enabled(if: TransportMedia.isThere, "the folder ../shared/mvc-media is absent"))
struct MediaTests {
  /// The slices and their prefixes. Delimiters and repeated parameter sets are the muxer's.
  private func slices(_ bytes: [UInt8]) -> [[UInt8]] {
    AnnexB.nalUnits(in: bytes.span.bytes).map { Array(bytes[$0]) }
      .filter { [1, 5, 14, 20].contains($0[0] & 31) }
  }

  @Test("the video is that of the byte stream", arguments: TransportMedia.names)
  func video(name: String) throws {
    let stream = try TransportMedia.bytes(TransportMedia.byteStream)
    let demuxed = try demux(try TransportMedia.bytes(name))
    #expect(demuxed.units.count == 20)
    #expect(demuxed.notices.isEmpty)
    #expect(demuxed.failure == nil)
    #expect(demuxed.units.allSatisfy { $0.isPaired && !$0.isDamaged && !$0.isDiscontinuity })
    #expect(demuxed.units.map(\.isRandomAccess) == [true] + Array(repeating: false, count: 19))
    let isSame = slices(demuxed.bytes) == slices(stream)
    #expect(isSame)
    let hasSamePictures = try flatten(demuxed.units) == flatten(stream)
    #expect(hasSamePictures)
  }

  @Test("the streams of the program are listed", arguments: TransportMedia.names)
  func program(name: String) throws {
    let program = try #require(try demux(try TransportMedia.bytes(name)).programs.first)
    #expect(program.number == 1)
    #expect(program.base?.pid == 0x1011)
    #expect(program.base?.coding == .h264)
    #expect(program.dependent?.pid == (name.contains("two") ? 0x1012 : nil))
    #expect(program.baseEye == nil)
  }

  @Test(
    "chunks of any size, and packets of 188, 192 and 204 bytes", arguments: TransportMedia.names)
  func chunks(name: String) throws {
    let bytes = try TransportMedia.bytes(name)
    let packets = TransportWriter.packets(bytes)
    let whole = try demux(bytes)
    var dice = Dice(7)
    let forms = [
      (188, bytes), (192, TransportWriter.disc(packets)),
      (204, packets.flatMap { $0 + Array(repeating: 0x47, count: 16) }),
    ]
    for (size, form) in forms {
      for limit in [1, 30, 188, 1000, 50000] {
        let demuxed = try demux(form) { 1 + dice.next(below: limit) }
        let isSame = demuxed.bytes == whole.bytes
        #expect(isSame, "\(size), \(limit)")
        let hasSameTimes = demuxed.times == whole.times
        #expect(hasSameTimes)
        #expect(demuxed.notices.isEmpty)
        #expect(
          demuxed.units.map { $0.position / size } == whole.units.map { $0.position / 188 },
          "\(size), \(limit)")
      }
    }
  }

  @Test("times as ffprobe tells them", .tags(.judge), arguments: TransportMedia.names)
  func times(name: String) throws {
    let lines = try Program.run(
      [
        "ffprobe", "-v", "quiet", "-of", "csv=p=0", "-select_streams", "v:0", "-show_entries",
        "packet=pts,dts,pos", TransportMedia.path(name),
      ]
    ).output.split(separator: "\n")
    // Its parser splits access units of both views; the second part has no times.
    let told = lines.map { $0.split(separator: ",").prefix(3).map { Int64($0) } }
      .filter { $0.count == 3 && $0[2] != nil }
    try #require(told.count > 10)
    let units = try demux(try TransportMedia.bytes(name)).units
    for facts in told {
      let unit = try #require(units.first { Int64($0.position) == facts[2] })
      #expect([unit.presentationTime, unit.decodingTime] == Array(facts[0..<2]))
    }
  }
}
