// SPDX-License-Identifier: MPL-2.0

public import Foundation

/// Programs in Python, which judge independently: PyAV is FFmpeg's libraries.
public enum Python {
  private static let interpreter =
    ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"

  public static let hasAV = (try? data(["-c", "import av"])) != nil
  public static let hasAVAndNumPy = (try? data(["-c", "import av, numpy"])) != nil

  /// What a program prints. Where it fails, what it says of that is in the error.
  public static func data(_ arguments: [String]) throws -> Data {
    let folder = try TemporaryFolder()
    let errors = URL(filePath: try folder.write("", to: "errors"))
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [interpreter] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let watchdog = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 300, execute: watchdog)
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    watchdog.cancel()
    guard process.terminationStatus == 0 else {
      let said = String(decoding: try Data(contentsOf: errors), as: UTF8.self)
      throw Failure("Python ended with \(process.terminationStatus): \(said)")
    }
    return data
  }

  /// What a program prints, as text.
  public static func text(_ arguments: [String]) throws -> String {
    String(decoding: try data(arguments), as: UTF8.self)
  }

  /// The lines that a program prints.
  public static func lines(_ arguments: [String]) throws -> [String] {
    try text(arguments).split(separator: "\n").map(String.init)
  }
}
