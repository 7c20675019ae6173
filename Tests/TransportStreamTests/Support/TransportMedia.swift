// SPDX-License-Identifier: MPL-2.0

import AVC
import Foundation
import TestKit
import TransportStream

import enum HEVC.NALUnitFraming

/// The transport streams of `../shared/mvc-media`, which are not part of the repository, and the
/// byte stream that they were made of.
enum TransportMedia {
  static let folder = Repository.url.deletingLastPathComponent().appending(path: "shared/mvc-media")
  static let isThere = FileManager.default.fileExists(
    atPath: folder.appending(path: "b2-cabac-two.ts").path)
  /// The streams with one PID for both views, and with one for each.
  static let names = ["b2-cabac-one.ts", "b2-cabac-two.ts"]
  static let byteStream = "b2-cabac.264"

  static func path(_ name: String) -> String { folder.appending(path: name).path }

  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: folder.appending(path: name)))
  }
}

/// Everything that a demuxer gave.
struct Demuxed: Sendable {
  var programs: [TransportProgram] = []
  var units: [StereoAccessUnit] = []
  var audio: [ElementaryPacket] = []
  var notices: [TransportNotice] = []
  var failure: TransportStreamError?

  /// The video as one byte stream.
  var bytes: [UInt8] { units.flatMap(\.bytes) }
  var kinds: [TransportNotice.Kind] { notices.map(\.kind) }
  /// The times of each access unit.
  var times: [[Int64?]] { units.map { [$0.presentationTime, $0.decodingTime] } }

  mutating func add(_ events: [MVCTransportDemuxer.Event]) {
    for event in events {
      switch event {
      case .program(let program): programs.append(program)
      case .accessUnit(let unit): units.append(unit)
      case .audio(let packet): audio.append(packet)
      case .notice(let notice): notices.append(notice)
      }
    }
  }
}

/// Demuxes a stream that comes in chunks of at most the size that `size` returns.
func demux(
  _ bytes: [UInt8], _ demuxer: MVCTransportDemuxer = .init(), chunk size: () -> Int = { 1 << 20 }
) throws -> Demuxed {
  var demuxer = demuxer
  var result = Demuxed()
  try forEachChunk(bytes, size) { result.add(try demuxer.push($0)) }
  result.add(try demuxer.end())
  result.failure = demuxer.failure
  return result
}

/// Everything that a reader gave.
struct Read: Sendable {
  var programs: [TransportProgram] = []
  var packets: [ElementaryPacket] = []
  var notices: [TransportNotice] = []
  var failure: TransportStreamError?

  var kinds: [TransportNotice.Kind] { notices.map(\.kind) }

  /// The payloads of a stream, joined.
  func bytes(_ identity: ElementaryStream.Identity) -> [UInt8] {
    packets.filter { $0.identity == identity }.flatMap(\.bytes)
  }

  mutating func add(_ events: [TransportEvent]) {
    for event in events {
      switch event {
      case .program(let program): programs.append(program)
      case .packet(let packet): packets.append(packet)
      case .notice(let notice): notices.append(notice)
      }
    }
  }
}

/// Reads a stream that comes in chunks of at most the size that `size` returns.
func read(
  _ bytes: [UInt8], _ reader: TransportStreamReader = .init(), chunk size: () -> Int = { 1 << 20 }
) throws -> Read {
  var reader = reader
  var result = Read()
  try forEachChunk(bytes, size) { result.add(try reader.push($0)) }
  result.add(try reader.end())
  result.failure = reader.failure
  return result
}

private func forEachChunk(
  _ bytes: [UInt8], _ size: () -> Int, _ body: (RawSpan) throws -> Void
) rethrows {
  var offset = 0
  while offset < bytes.count {
    let end = min(offset + max(size(), 1), bytes.count)
    try body(bytes.span.bytes.extracting(offset..<end))
    offset = end
  }
}

/// The pictures of both views, flattened to one byte stream, from whole access units.
func flatten(_ units: [StereoAccessUnit]) throws -> [UInt8] {
  var flattener = MVCFlattener<Int>(framing: .annexB)
  var bytes: [UInt8] = []
  for (index, unit) in units.enumerated() {
    let output = try flattener.push(
      unit.bytes.span.bytes, alignment: .accessUnit, stamp: index)
    bytes += output.pictures.flatMap(\.bytes)
  }
  return bytes + flattener.end().pictures.flatMap(\.bytes)
}

/// The pictures of both views from a byte stream.
func flatten(_ stream: [UInt8]) throws -> [UInt8] {
  var flattener = MVCFlattener<Int>(framing: .annexB)
  let output = try flattener.push(stream.span.bytes, alignment: .none, stamp: 0)
  return output.pictures.flatMap(\.bytes) + flattener.end().pictures.flatMap(\.bytes)
}
