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
    let file = FileManager.default.temporaryDirectory
      .appending(path: "hevc-\(UUID().uuidString).hevc")
    try Data(stream).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Tools/decode_views.py")
    let arguments = [script.path, "--format", "hevc"] + (single ? ["--single"] : []) + [file.path]
    return try run(arguments).split(separator: "\n").map { line in
      let parts = line.split(separator: " ")
      return Frame(view: String(parts[0]), md5: String(parts[1]))
    }
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
