// SPDX-License-Identifier: MPL-2.0

import Foundation
import PipelineFile
import Testing

/// Each `Broken/*.yaml` gets exactly the diagnostics of the `.txt` beside it. To write down what
/// a new file gets, run the tests with GST_SPATIAL_RECORD=1, and read it before committing it.
struct BrokenFileTests {
  static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Broken")

  static let names: [String] = {
    let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
    // Files in folders are those that others include.
    return (files ?? []).filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted()
  }()

  @Test("there are at least 80 broken files")
  func corpusIsThere() {
    #expect(Self.names.count >= 80)
  }

  @Test("a broken file gets all diagnostics of a stage at once", arguments: names)
  func diagnostics(name: String) throws {
    let expected = Self.folder.appending(path: name + ".txt")
    let text = try report(on: name + ".yaml")
    if ProcessInfo.processInfo.environment["GST_SPATIAL_RECORD"] != nil {
      try text.write(to: expected, atomically: true, encoding: .utf8)
    }
    #expect(try text == String(contentsOf: expected, encoding: .utf8))
    #expect(!text.isEmpty)
  }

  /// What a command would print. A first line `# arguments: …` gives values to parameters.
  private func report(on path: String) throws -> String {
    let load = { (path: String) throws -> [UInt8] in
      guard let data = try? Data(contentsOf: Self.folder.appending(path: path)) else {
        throw Missing()
      }
      return [UInt8](data)
    }
    let (file, diagnostics) = PipelineFile.read(path: path, loading: load)
    guard let file else { return diagnostics.text() }
    let first = String(decoding: try load(path), as: UTF8.self).prefix { $0 != "\n" }
    let arguments =
      first.hasPrefix("# arguments:")
      ? first.dropFirst(12).split(separator: " ").map(String.init) : nil
    let (graph, more) = file.resolve(
      arguments: arguments ?? [], environment: { ["HOME": "/home/user", "FOV": "wide"][$0] },
      purpose: arguments == nil ? .check : .run)
    guard let graph else { return (diagnostics + more).text() }
    return (diagnostics + more + graph.check(against: FakeRegistry(), files: FakeFiles())).text()
  }

  private struct Missing: Error, CustomStringConvertible {
    let description = "no such file"
  }
}
