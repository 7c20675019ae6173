// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// FFmpeg by way of PyAV, as an independent decoder of layered streams.
enum Decoder {
  /// A decoded picture.
  struct Frame: Hashable {
    var view: String
    var md5: String
  }

  /// Whether Python has PyAV.
  static let isAvailable = Python.hasAV

  /// The frames of `stream` in output order; of the base layer only where `single`.
  static func frames(of stream: [UInt8], single: Bool = false) throws -> [Frame] {
    try frames(ofEach: [stream], single: single)[0]
  }

  /// The frames of each of `streams`.
  static func frames(ofEach streams: [[UInt8]], single: Bool = false) throws -> [[Frame]] {
    let folder = try TemporaryFolder()
    let files = try streams.enumerated().map { index, stream in
      let path = folder.path("\(index).hevc")
      try Data(stream).write(to: URL(filePath: path))
      return path
    }
    let script = Repository.url.appending(path: "Tests/Tools/decode_views.py")
    let options = [script.path, "--format", "hevc"] + (single ? ["--single"] : [])
    var frames: [[Frame]] = streams.count > 1 ? [] : [[]]
    for line in try Python.lines(options + files) {
      let parts = line.split(separator: " ")
      if parts[0] == "=" {
        frames.append([])
      } else {
        frames[frames.count - 1].append(Frame(view: String(parts[0]), md5: String(parts[1])))
      }
    }
    return frames
  }
}
