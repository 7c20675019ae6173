// SPDX-License-Identifier: MPL-2.0

import Foundation
import Testing

/// What may import what, and that the list of targets in docs/architecture.md is complete.
struct LayerRulesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The folders of `Sources`, from the lowest up.
  private static let floors = [
    "Model", "Formats", "Machines", "GStreamer", "Elements", "Host", "Apps",
  ]

  private struct SourceFile {
    let floor: String
    let target: String
    let name: String
    let text: String

    /// The modules that the file imports, with what stands before `import`.
    var imports: [(module: Substring, access: Substring)] {
      text.matches(of: /(?m)^(?:@\w+ )*((?:public|package|internal)? ?)import (\w+)/)
        .map { ($0.output.2, $0.output.1) }
    }
  }

  private static func entries(_ folder: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(
      atPath: root.appending(path: "Sources").appending(path: folder).path
    ).sorted()
  }

  private static let files: Result<[SourceFile], any Error> = Result {
    try floors.flatMap { floor in
      try entries(floor).flatMap { target in
        let folder = root.appending(path: "Sources/\(floor)/\(target)")
        let names =
          FileManager.default.enumerator(atPath: folder.path)?
          .compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") } ?? []
        return try names.map {
          SourceFile(
            floor: floor, target: target, name: $0,
            text: try String(contentsOf: folder.appending(path: $0), encoding: .utf8))
        }
      }
    }
  }

  private func files(of target: String) throws -> [SourceFile] {
    let files = try Self.files.get().filter { $0.target == target }
    try #require(!files.isEmpty)
    return files
  }

  @Test("the folders of Sources are the floors")
  func folders() throws {
    #expect(try Self.entries("") == Self.floors.sorted())
    #expect(try Self.files.get().count > 300)
  }

  @Test("a target imports what is on its floor or below, and Foundation nowhere")
  func imports() throws {
    var floorOf: [Substring: Int] = [:]
    for (index, floor) in Self.floors.enumerated() {
      for target in try Self.entries(floor) { floorOf[target[...]] = index }
    }
    for file in try Self.files.get() {
      let own = try #require(Self.floors.firstIndex(of: file.floor))
      for (module, _) in file.imports {
        let place: Comment = "\(file.target)/\(file.name) imports \(module)"
        if let floor = floorOf[module] { #expect(floor <= own, place) }
        // The drivers of elements for tests need threads.
        #expect(module != "Foundation" || file.target == "GStreamerCheck", place)
      }
    }
  }

  @Test("GStreamer's C interface is imported by the Swift layer alone")
  func importsOfC() throws {
    for file in try Self.files.get() where file.floor != "GStreamer" {
      let names = file.imports.map(\.module)
      #expect(!names.contains("CGStreamer"), "\(file.target)/\(file.name)")
    }
  }

  @Test("the public names of the Swift layer have no C types")
  func publicNames() throws {
    // The compiler holds public declarations to what is imported publicly.
    for file in try files(of: "GStreamer") {
      let shown = file.imports.filter { $0.access == "public " }.map(\.module)
      #expect(!shown.contains("CGStreamer"), "\(file.name)")
    }
  }

  /// What a module imports for itself alone, the compiler keeps out of its public declarations.
  @Test("the library StereoMedia shows no other library's types but those of the stereo model")
  func publicImports() throws {
    let shown = try files(of: "StereoMedia").flatMap(\.imports)
      .filter { $0.access == "public " }.map(\.module)
    #expect(Set(shown) == ["StereoVideo"])
    let package = try String(
      contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    #expect(package.contains(".enableUpcomingFeature(\"InternalImportsByDefault\")"))
  }

  @Test("docs/architecture.md lists each target, in the order of the floors")
  func table() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/architecture.md"), encoding: .utf8)
    let rows = page.matches(of: /(?m)^\| `(\w+)` \| `([\w-]+)` \|/)
      .map { (floor: String($0.output.1), target: String($0.output.2)) }
    let targets = try Self.floors.flatMap { floor in
      try Self.entries(floor).map { "\(floor)/\($0)" }
    }
    #expect(Set(rows.map { "\($0.floor)/\($0.target)" }) == Set(targets))
    #expect(rows.count == targets.count)
    let order = rows.compactMap { Self.floors.firstIndex(of: $0.floor) }
    #expect(order == order.sorted())
  }

  @Test("the documents name files that exist")
  func namedFiles() throws {
    let sources = try #require(FileManager.default.enumerator(atPath: Self.root.path))
    var names: Set<String> = []
    while let path = sources.nextObject() as? String {
      if path == ".build" || path == ".git" { sources.skipDescendants() }
      if path.hasSuffix(".swift") { names.insert("/" + path) }
    }
    let pages = try FileManager.default.subpathsOfDirectory(
      atPath: Self.root.appending(path: "docs").path
    ).filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
    try #require(pages.count > 20)
    for page in pages + ["README.md", "CONTRIBUTING.md"] {
      let text = try String(contentsOf: Self.root.appending(path: page), encoding: .utf8)
      for found in text.matches(of: #/`([\w+\-/.]+\.swift)`/#) {
        let name = found.output.1
        // The example that CONTRIBUTING adds.
        if name.contains("MyElement") { continue }
        #expect(names.contains { $0.hasSuffix("/\(name)") }, "\(page): \(name)")
      }
    }
  }
}
