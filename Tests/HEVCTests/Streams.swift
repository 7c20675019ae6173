// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoVideo
import TestKit
import Testing

/// Small streams of stock libx265, one for each eye, committed beside the tests.
enum Stream: String, CaseIterable {
  /// 8 bit, B frames, closed GOPs, access unit delimiters.
  case main8
  /// 10 bit, HDR10 SEI, open GOPs, decoded picture hashes.
  case main10
  /// Several slices a picture, wavefronts, HRD.
  case slices
  /// Weighted prediction, scaling lists, temporal sub-layers.
  case weightp

  /// The byte stream of one eye.
  func bytes(_ eye: Eye) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: url(eye)))
  }

  func url(_ eye: Eye) -> URL { Self.url("\(rawValue)-\(eye.rawValue)") }

  /// The byte stream of a file of the folder.
  static func bytes(_ name: String) throws -> [UInt8] {
    try [UInt8](Data(contentsOf: url(name)))
  }

  private static func url(_ name: String) -> URL {
    URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Streams/\(name).hevc")
  }

  /// MD5s of the frames of one eye, decoded alone.
  func md5s(_ eye: Eye) throws -> [String] {
    try #require(try Self.decodedAlone.get()[url(eye)])
  }

  private static let decodedAlone = Result {
    let all = allCases.flatMap { stream in Eye.allCases.map { (stream, $0) } }
    let frames = try Decoder.frames(ofEach: all.map { try $0.bytes($1) }, single: true)
    let md5s = zip(all, frames).map { ($0.0.url($0.1), $1.map(\.md5)) }
    return Dictionary(uniqueKeysWithValues: md5s)
  }

  /// The access units of one eye.
  func accessUnits(_ eye: Eye) throws -> [AccessUnit] {
    try HEVCTests.accessUnits(of: bytes(eye))
  }
}

/// Single pictures of 64x48, which differ in one thing each.
enum Still: String {
  /// 8 bit 4:2:0.
  case plain
  /// `log2_max_pic_order_cnt_lsb` 6 instead of 8.
  case poclsb
  /// Two temporal sub-layers.
  case sublayers
  /// 4:2:2.
  case chroma422
  /// A conformance window: 60x48.
  case window
  /// An IDR picture and a P picture that refers to it, without temporal motion vectors.
  case pair
  /// The same with `slice_temporal_mvp_enabled_flag`.
  case temporal

  func accessUnit() throws -> AccessUnit { try accessUnits()[0] }

  func accessUnits() throws -> [AccessUnit] {
    try HEVCTests.accessUnits(of: Stream.bytes(rawValue))
  }
}

/// The access units of a byte stream.
func accessUnits(of stream: [UInt8]) throws -> [AccessUnit] {
  var assembler = AccessUnitAssembler()
  return try assembler.append(stream.span.bytes) + assembler.finish()
}

/// Weaves two streams and gives the byte stream.
func weave(
  _ left: [AccessUnit], _ right: [AccessUnit], baseEye: Eye = .left,
  framing: NALUnitFraming = .annexB
) throws -> [UInt8] {
  var weaver = Weaver(baseEye: baseEye)
  var stream: [UInt8] = []
  for (left, right) in zip(left, right) {
    let woven = try weaver.weave(
      left: left.bytes.span.bytes, leftNALUnits: left.nalUnits,
      right: right.bytes.span.bytes, rightNALUnits: right.nalUnits)
    stream += woven.bytes(left, right, framing: framing)
  }
  return stream
}
