// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoVideo
import TestKit

/// FFmpeg by way of PyAV: an independent decoder of layered and plain streams.
enum Judge {
  /// Whether Python has PyAV.
  static let isAvailable = Python.hasAV

  /// The MD5 of each decoded picture of a byte stream, in output order, by view id; `-` stands for
  /// the only view of a plain stream.
  static func pictures(of stream: [UInt8]) throws -> [String: [String]] {
    var pictures: [String: [String]] = [:]
    for line in try decode(stream, in: TemporaryFolder()) {
      let parts = line.split(separator: " ").map(String.init)
      pictures[parts[0], default: []].append(parts[1])
    }
    return pictures
  }

  /// How many pictures of each view there are in each byte stream, in which the decoder finds
  /// nothing wrong.
  static func pictureCounts(of streams: [[UInt8]]) throws -> [[String: Int]] {
    let folder = try TemporaryFolder()
    let files = (0..<streams.count).map { folder.path("\($0).hevc") }
    for (file, stream) in zip(files, streams) { try Data(stream).write(to: URL(filePath: file)) }
    var counts: [[String: Int]] = files.count == 1 ? [[:]] : []
    for line in try Python.lines([script, "--strict", "--format", "hevc"] + files) {
      if line.hasPrefix("=") {
        counts.append([:])
      } else {
        counts[counts.endIndex - 1][String(line.prefix(1)), default: 0] += 1
      }
    }
    return counts
  }

  /// The samples of each decoded picture, luma before Cb before Cr, as `pictures`.
  ///
  /// - Parameter pictureSize: in bytes.
  static func samples(of stream: [UInt8], pictureSize: Int) throws -> [String: [[UInt8]]] {
    let folder = try TemporaryFolder()
    _ = try decode(stream, in: folder, ["--write", folder.url.path])
    var views: [String: [[UInt8]]] = [:]
    for view in ["0", "1", "-"] {
      guard let data = try? Data(contentsOf: folder.url.appending(path: "\(view).yuv")) else {
        continue
      }
      views[view] = stride(from: 0, to: data.count, by: pictureSize).map {
        [UInt8](data[$0..<min($0 + pictureSize, data.count)])
      }
    }
    return views
  }

  private static let script = Repository.url.appending(path: "Tests/Tools/decode_views.py").path

  /// What the decoder prints of a byte stream, line by line.
  private static func decode(
    _ stream: [UInt8], in folder: TemporaryFolder, _ options: [String] = []
  ) throws -> [String] {
    let file = folder.path("stream.hevc")
    try Data(stream).write(to: URL(filePath: file))
    return try Python.lines([script, "--format", "hevc"] + options + [file])
  }
}
