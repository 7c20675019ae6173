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
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Tools/decode_views.py")
    var pictures: [String: [String]] = [:]
    for line in try run([script.path, "--format", "hevc", file.path]).split(separator: "\n") {
      let parts = line.split(separator: " ").map(String.init)
      pictures[parts[0], default: []].append(parts[1])
    }
    return pictures
  }

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
