// SPDX-License-Identifier: MPL-2.0

import Foundation
import HEVC
import TestKit

/// The files of other makers in `../shared/media`, which are not part of the project.
enum ForeignMedia: String, CaseIterable {
  case gradients = "gradients-160x120-left-base.mp4"
  case waterRightBase = "water-1934x2160-right-base.mov"
  case waterFragmented = "water-1934x2160-left-base-fragmented.mp4"

  static let folder = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "shared/media")

  static let arePresent = FileManager.default.fileExists(
    atPath: folder.appending(path: "golden.json").path)

  func bytes() throws -> [UInt8] {
    try [UInt8](Data(contentsOf: Self.folder.appending(path: rawValue)))
  }

  /// The content of the first box of this type, found by its four characters: the box reader
  /// belongs to another target.
  func box(_ type: String) throws -> [UInt8] {
    let data = try bytes()
    let code = Array(type.utf8)
    for index in 4..<data.count - 4 where Array(data[index..<index + 4]) == code {
      let size = data[index - 4..<index].reduce(0) { $0 << 8 | Int($1) }
      if size >= 8, index - 4 + size <= data.count {
        return Array(data[index + 4..<index - 4 + size])
      }
    }
    throw CocoaError(.fileReadCorruptFile)
  }
}

extension ForeignMedia {
  /// The samples, as PyAV hands them on.
  func samples() throws -> [[UInt8]] {
    let program = """
      import av, sys
      with av.open(sys.argv[1]) as movie:
          for packet in movie.demux(video=0):
              if packet.size: print(bytes(packet).hex())
      """
    let path = Self.folder.appending(path: rawValue).path
    return try Python.lines(["-c", program, path]).map { line in
      let digits = Array(line.utf8).map { UInt8($0 < 58 ? $0 - 48 : $0 - 87) }
      return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
  }

  /// The parameter sets of the sample entry.
  func parameterSets() throws -> [[UInt8]] {
    try HEVCDecoderConfigurationRecord(bytes: box("hvcC")).nalUnits
      + LHEVCDecoderConfigurationRecord(bytes: box("lhvC")).nalUnits
  }

  // The names are those of the JSON file.
  // swift-format-ignore: AlwaysUseLowerCamelCase
  struct Golden: Decodable {
    struct MD5s: Decodable {
      var left: [String]
      var right: [String]
    }

    var base_layer_eye: String
    var frame_md5_i420_presentation_order: MD5s
  }

  func golden() throws -> Golden {
    let data = try Data(contentsOf: Self.folder.appending(path: "golden.json"))
    return try JSONDecoder().decode([String: Golden].self, from: data)[rawValue]!
  }
}
