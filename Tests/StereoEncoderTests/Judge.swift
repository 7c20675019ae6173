// SPDX-License-Identifier: MPL-2.0

import Foundation
import StereoVideo

/// FFmpeg by way of PyAV: an independent decoder of layered and plain streams.
enum Judge {
  struct Failure: Error {
    let message: String
  }

  private static let python =
    ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"

  /// Whether Python has PyAV.
  static let isAvailable = (try? run(["-c", "import av"])) != nil

  /// The MD5 of each decoded picture of a byte stream, in output order, by view id; `-` stands for
  /// the only view of a plain stream.
  static func pictures(of stream: [UInt8]) throws -> [String: [String]] {
    let file = FileManager.default.temporaryDirectory
      .appending(path: "stereo-\(UUID().uuidString).hevc")
    try Data(stream).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var pictures: [String: [String]] = [:]
    for line in try run([script, "--format", "hevc", file.path]).split(separator: "\n") {
      let parts = line.split(separator: " ").map(String.init)
      pictures[parts[0], default: []].append(parts[1])
    }
    return pictures
  }

  /// The samples of each decoded picture, luma before Cb before Cr, as `pictures`.
  ///
  /// - Parameter pictureSize: in bytes.
  static func samples(of stream: [UInt8], pictureSize: Int) throws -> [String: [[UInt8]]] {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "views-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "stream.hevc")
    try Data(stream).write(to: file)
    _ = try run([script, "--format", "hevc", "--write", folder.path, file.path])
    var views: [String: [[UInt8]]] = [:]
    for view in ["0", "1", "-"] {
      guard let data = try? Data(contentsOf: folder.appending(path: "\(view).yuv")) else {
        continue
      }
      views[view] = stride(from: 0, to: data.count, by: pictureSize).map {
        [UInt8](data[$0..<min($0 + pictureSize, data.count)])
      }
    }
    return views
  }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Tools/decode_views.py").path

  private static func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [python] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(message: "\(python) \(arguments) ended with \(process.terminationStatus)")
    }
    return String(decoding: data, as: UTF8.self)
  }
}
