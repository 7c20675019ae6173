// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import StereoVideo

/// Small streams of two layers with inter-layer prediction, of synthetic pictures, committed beside
/// the tests. Layer 0 is the left eye.
enum LayeredClip: String, CaseIterable {
  /// By x265 4.1: inter-layer prediction in every dependent picture, B pictures, one IDR picture.
  case everywhere = "interlayer-128x96"
  /// By the reference encoder: open GOPs, hierarchical B pictures, temporal sub-layers. Anchors are
  /// kept for 16 pictures, longer than 16 picture buffers allow to wait.
  case openGOPs = "interlayer-cra-320x192"
  /// By the reference encoder: inter-layer prediction at random access points only.
  case randomAccessOnly = "interlayer-irap-only-320x192"

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "Streams")

  func bytes() throws -> [UInt8] {
    try [UInt8](Data(contentsOf: Self.folder.appending(path: "\(rawValue).hevc")))
  }

  func accessUnits() throws -> [AccessUnit] { try HEVCTests.accessUnits(of: bytes()) }

  struct MD5s: Decodable {
    var left: [String]
    var right: [String]
  }

  /// What the reference decoder makes of the frames of each eye.
  func md5s() throws -> MD5s {
    let data = try Data(contentsOf: Self.folder.appending(path: "interlayer.json"))
    return try JSONDecoder().decode([String: MD5s].self, from: data)[rawValue]
      ?? MD5s(left: [], right: [])
  }
}
