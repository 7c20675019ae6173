// SPDX-License-Identifier: MPL-2.0

import Foundation

/// An independent reader: PyAV, that is, FFmpeg's libavformat.
enum Python {
  private static let interpreter =
    ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"

  static let hasAV = (try? run("import av", [])) != nil

  struct Failure: Error {
    let status: Int32
  }

  /// What the program prints.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [interpreter, "-c", program] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(status: process.terminationStatus)
    }
    return text
  }

  /// Runs a program on a file that holds the bytes, with the file's path as its argument.
  static func run(_ program: String, on bytes: [UInt8], extension: String) throws -> String {
    let file = FileManager.default.temporaryDirectory
      .appending(path: UUID().uuidString + "." + `extension`)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try run(program, [file.path])
  }
}
