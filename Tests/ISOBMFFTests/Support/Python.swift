// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit

extension Python {
  /// What a program prints.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    try text(["-c", program] + arguments)
  }

  /// Runs a program on a file that holds the bytes, with the file's path as its argument.
  static func run(_ program: String, on bytes: [UInt8], extension: String) throws -> String {
    let folder = try TemporaryFolder()
    let path = folder.path("file." + `extension`)
    try Data(bytes).write(to: URL(filePath: path))
    return try run(program, [path])
  }

  /// What a program does with files: it is given the path of the folder they are in.
  static func run(_ program: String, files: [String: [UInt8]]) throws -> String {
    let folder = try TemporaryFolder()
    for (name, bytes) in files {
      try Data(bytes).write(to: folder.url.appending(path: name))
    }
    return try run(program, [folder.url.path])
  }

  /// The files that a program writes into the folder that it is given the path of.
  static func files(by program: String) throws -> [String: [UInt8]] {
    let folder = try TemporaryFolder()
    _ = try run(program, [folder.url.path])
    var files: [String: [UInt8]] = [:]
    for name in folder.names {
      files[name] = [UInt8](try Data(contentsOf: folder.url.appending(path: name)))
    }
    return files
  }
}
