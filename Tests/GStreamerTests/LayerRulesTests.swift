// SPDX-License-Identifier: MPL-2.0

import Foundation
import Testing

/// What may import what.
struct LayerRulesTests {
  private static let sources = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  @Test(
    "GStreamer's C interface is imported by the Swift layer alone",
    arguments: [
      "SpatialElements", "PipelineHost", "StereoMedia", "gst-spatial", "MoviePlayer", "HEVC",
      "ISOBMFF",
    ])
  func imports(target: String) throws {
    let folder = Self.sources.appending(path: target)
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    try #require(!files.isEmpty)
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      let imports = text.split(separator: "\n").filter { $0.contains("import CGStreamer") }
      #expect(imports.isEmpty, "\(target)/\(file)")
    }
  }

  @Test("the public names of the Swift layer have no C types")
  func publicNames() throws {
    let folder = Self.sources.appending(path: "GStreamer")
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    try #require(!files.isEmpty)
    for file in files {
      // The compiler holds public declarations to what is imported publicly.
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      #expect(!text.contains("public import CGStreamer"), "\(file)")
    }
  }

  /// What a module imports for itself alone, the compiler keeps out of its public declarations.
  @Test("the library StereoMedia shows nobody else's types but those of the stereo model")
  func publicImports() throws {
    let folder = Self.sources.appending(path: "StereoMedia")
    let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    var shown: Set<Substring> = []
    for file in files {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for line in text.split(separator: "\n") where line.contains("public import") {
        shown.insert(line.split(separator: " ").last ?? "")
      }
    }
    #expect(shown == ["StereoVideo"])
    let package = try String(
      contentsOf: Self.sources.appending(path: "../Package.swift"), encoding: .utf8)
    #expect(package.contains(".enableUpcomingFeature(\"InternalImportsByDefault\")"))
  }
}
