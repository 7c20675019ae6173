// SPDX-License-Identifier: MPL-2.0

import Foundation

extension Python {
  /// What a program does with files: it is given the path of the folder they are in.
  static func run(_ program: String, files: [String: [UInt8]]) throws -> String {
    try inFolder { folder in
      for (name, bytes) in files {
        try Data(bytes).write(to: folder.appending(path: name))
      }
      return try run(program, [folder.path])
    }
  }

  /// The files that a program writes into the folder that it is given the path of.
  static func files(by program: String) throws -> [String: [UInt8]] {
    try inFolder { folder in
      _ = try run(program, [folder.path])
      var files: [String: [UInt8]] = [:]
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        files[name] = [UInt8](try Data(contentsOf: folder.appending(path: name)))
      }
      return files
    }
  }

  private static func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder)
  }
}
