// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// The files that docs/pipeline-files.md shows.
@Suite(.tags(.process))
struct DocumentTests {
  /// The text of each block of YAML; the path of those that begin with one, which others include.
  private static let files: [(path: String?, text: String)] = {
    let page = Repository.url.appending(path: "docs/pipeline-files.md")
    let text = (try? String(contentsOf: page, encoding: .utf8)) ?? ""
    return text.components(separatedBy: "```yaml\n").dropFirst().map { part in
      let block = String(part.components(separatedBy: "```")[0])
      let path = block.prefixMatch(of: /# (\S+\.yaml)\n/).map { String($0.1) }
      return (path, block)
    }
  }()

  @Test("every file of the reference is without mistakes, and runs")
  func examples() async throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(
      atPath: folder.path("parts"), withIntermediateDirectories: false)
    try await TestMovie.sideBySide(folder.path("movie.mp4"), frames: 8)
    #expect(Self.files.count >= 7)
    for (path, text) in Self.files where path != nil { _ = try folder.write(text, to: path ?? "") }
    for (number, file) in Self.files.enumerated() where file.path == nil {
      let name = try folder.write(file.text, to: "\(number).yaml")
      let check = try Command.run(["check", name], in: folder)
      #expect(check.status == 0 && check.errors.isEmpty, "\(file.text)\n\(check.errors)")
      let input = file.text.contains("  input:") ? ["input=movie.mp4"] : []
      let result = try Command.run(["run", name, "--force"] + input, in: folder)
      #expect(result.status == 0, "\(file.text)\n\(result.errors)")
    }
    for name in ["scene.mov", "copy.mp4", "movie_copy.mov"] {
      #expect(try MovieFile(folder.path(name)).track("vide").samples.count >= 8)
    }
  }

  @Test(
    "a validator finds the ready pipelines and the files of the reference right by the schema",
    .tags(.judge), .enabled("no jsonschema") { Python.hasJSONSchema })
  func schema() throws {
    let folder = try TemporaryFolder()
    let schema = try folder.write(
      try Command.run(["schema"], in: folder).output, to: "schema.json")
    let pipelines = Repository.url.appending(path: "pipelines")
    let names = try #require(FileManager.default.subpaths(atPath: pipelines.path()))
    var files = names.filter { $0.hasSuffix(".yaml") }.map { pipelines.appending(path: $0).path() }
    #expect(files.count > 20)
    for (number, file) in Self.files.enumerated() {
      files.append(try folder.write(file.text, to: "\(number).yaml"))
    }
    let tool = Repository.url.appending(path: "Tests/Tools/validate_schema.py").path()
    #expect(try Python.lines([tool, schema] + files) == [])
    let broken = try folder.write("version: 2\nelements: { a: { typ: queue } }\n", to: "b.yaml")
    let mistakes = try Python.lines([tool, schema, broken])
    #expect(mistakes.count == 2, "\(mistakes)")
  }

  @Test(
    "with the installed elements, the schema checks their types and properties, too",
    .tags(.judge, .exhaustive), .enabled("no jsonschema") { Python.hasJSONSchema })
  func schemaOfElements() throws {
    let folder = try TemporaryFolder()
    let tool = Repository.url.appending(path: "Tests/Tools/validate_schema.py").path()
    let pipelines = Repository.url.appending(path: "pipelines")
    let names = try #require(FileManager.default.subpaths(atPath: pipelines.path()))
    let files = names.map {
      pipelines.appending(path: $0).path()
    }
    let full = try folder.write(
      try Command.run(["schema", "--elements"], in: folder).output, to: "full.json")
    // The validator reads it slowly.
    let ready = files.filter { $0.hasSuffix("/retag.yaml") || $0.hasSuffix("/movie.yaml") }
    #expect(ready.count == 2)
    let trials = [
      ("{ a: queue, b: { type: queue, leaky: upstream, max-size-time: 10s } }", 0),
      ("{ a: { type: mvhevcmux, container: \"${c}\" } }", 0), ("{ a: queu }", 1),
      ("{ a: { type: queue, max-size: 3 } }", 1), ("{ a: { type: queue, leaky: sideways } }", 1),
    ]
    let written = try trials.enumerated().map { number, trial in
      try folder.write("elements: \(trial.0)\n", to: "trial-\(number).yaml")
    }
    let found = try Python.lines([tool, full] + ready + written)
    for (trial, file) in zip(trials, written) {
      let lines = found.filter { $0.hasPrefix(file + " ") }
      #expect(lines.count == trial.1, "\(trial.0): \(lines)")
    }
    #expect(found.count == 3, "\(found)")
  }

  @Test("every key of the format is in the reference")
  func keys() throws {
    let page = try String(
      contentsOf: Repository.url.appending(path: "docs/pipeline-files.md"), encoding: .utf8)
    let schema = try Command.run(["schema"], in: try TemporaryFolder()).output
    let json = try JSONSerialization.jsonObject(with: Data(schema.utf8))
    var names: Set<String> = []
    func collect(_ value: Any) {
      guard let object = value as? [String: Any] else { return }
      names.formUnion((object["properties"] as? [String: Any] ?? [:]).keys)
      for (_, value) in object { collect(value) }
      for item in object["anyOf"] as? [Any] ?? [] { collect(item) }
    }
    collect(json)
    #expect(names.count > 20)
    for name in names {
      #expect(page.contains("`\(name)`") || page.contains("\(name):"), "\(name)")
    }
  }
}
