// SPDX-License-Identifier: MPL-2.0

import Foundation
import Testing

/// FFmpeg's v360, as an independent witness.
enum Judge {
  private static let python: URL? = {
    let name = ProcessInfo.processInfo.environment["GST_SPATIAL_PYTHON"] ?? "python3"
    let check = Process()
    check.executableURL = URL(filePath: "/usr/bin/env")
    check.arguments = [name, "-c", "import av, numpy; av.filter.Filter('v360')"]
    check.standardError = Pipe()
    guard (try? check.run()) != nil else { return nil }
    check.waitUntilExit()
    return check.terminationStatus == 0 ? URL(filePath: name) : nil
  }()

  static let isThere = python != nil

  struct Coordinates {
    var x, y: [Float]
  }

  /// From where v360 takes the pixels of a picture, once for each list of its arguments.
  static func coordinates(
    of size: (width: Int, height: Int), from source: (width: Int, height: Int), _ filters: [String]
  ) throws -> [Coordinates] {
    let tool = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appending(path: "Tools/v360_coordinates.py")
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      [try #require(python?.relativePath), tool.path]
      + [source.width, source.height, size.width, size.height].map(String.init) + filters
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    let count = size.width * size.height
    try #require(process.terminationStatus == 0 && data.count == 8 * count * filters.count)
    let values = data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    return filters.indices.map { index in
      let start = 2 * count * index
      return Coordinates(
        x: Array(values[start..<start + count]),
        y: Array(values[start + count..<start + 2 * count]))
    }
  }
}
