// SPDX-License-Identifier: MPL-2.0

import Foundation
import Testing

/// FFmpeg by way of PyAV, as an independent decoder of layered streams.
enum Decoder {
  /// A decoded picture.
  struct Frame: Hashable {
    var view: String
    var md5: String
  }

  static let python =
    ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"

  /// Whether Python has PyAV.
  static let isAvailable: Bool = (try? run(["-c", "import av"])) != nil

  /// The frames of `stream` in output order; of the base layer only where `single`.
  static func frames(of stream: [UInt8], single: Bool = false) throws -> [Frame] {
    try frames(ofEach: [stream], single: single)[0]
  }

  /// The frames of each of `streams`.
  static func frames(ofEach streams: [[UInt8]], single: Bool = false) throws -> [[Frame]] {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try streams.enumerated().map { index, stream in
      let file = folder.appending(path: "\(index).hevc")
      try Data(stream).write(to: file)
      return file.path
    }
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Tools/decode_views.py")
    let options = [script.path, "--format", "hevc"] + (single ? ["--single"] : [])
    var frames: [[Frame]] = streams.count > 1 ? [] : [[]]
    for line in try run(options + files).split(separator: "\n") {
      let parts = line.split(separator: " ")
      if parts[0] == "=" {
        frames.append([])
      } else {
        frames[frames.count - 1].append(Frame(view: String(parts[0]), md5: String(parts[1])))
      }
    }
    return frames
  }

  struct Failure: Error {
    var status: Int32
    var message: String
  }

  static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [python] + arguments
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(status: process.terminationStatus, message: message)
    }
    return text
  }
}
