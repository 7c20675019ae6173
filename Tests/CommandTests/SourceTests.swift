// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// What every source file has.
struct SourceTests {
  @Test(
    "each file states its licence in its first lines",
    arguments: ["Sources", "Plugins", "Tests", "Fuzz", "Benchmarks", "Examples", "scripts"])
  func licences(folder: String) throws {
    let root = Repository.url.appending(path: folder)
    let files = try #require(FileManager.default.enumerator(atPath: root.path))
      .compactMap { $0 as? String }
      .filter { file in
        [".swift", ".h", ".c", ".py", ".modulemap"].contains { file.hasSuffix($0) }
          || folder == "scripts" && !file.contains(".")
      }
    try #require(!files.isEmpty)
    for file in files {
      let text = try String(contentsOf: root.appending(path: file), encoding: .utf8)
      #expect(
        text.split(separator: "\n").prefix(2).contains {
          $0.hasSuffix("SPDX-License-Identifier: MPL-2.0")
        }, "\(folder)/\(file)")
    }
  }
}
