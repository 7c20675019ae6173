// SPDX-License-Identifier: MPL-2.0

import Glibc
import PipelineFile
import TestKit
import Testing

/// Nothing that a file holds may end or stall the program that reads it.
struct RobustnessTests {
  /// All stages, whatever they say.
  @discardableResult
  private func run(_ bytes: [UInt8]) -> String {
    let (file, diagnostics) = PipelineFile.read(path: "test.yaml") { path in
      if path == "test.yaml" { bytes } else { throw NoSuchFile() }
    }
    guard let file else { return diagnostics.text(color: true) }
    let (graph, more) = file.resolve(
      arguments: ["input=movie.mp4", "x"], environment: { _ in nil }, purpose: .check)
    _ = file.resolve(arguments: [], environment: { $0 }, purpose: .run)
    guard let graph else { return more.text() }
    return graph.check(against: FakeRegistry(), files: FakeFiles()).text() + graph.explanation()
  }

  private struct Random: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var bits = state
      bits ^= bits >> 33
      bits = bits &* 0xFF51_AFD7_ED55_8CCD
      return bits ^ (bits >> 33)
    }
  }

  @Test("changed files never trap or hang", arguments: 1...8)
  func mutations(seed: Int) {
    var random = Random(state: UInt64(seed))
    let pieces = [
      "${", "}", "$${", "->", "->->", "!", "?", "(", ")", "{", "}", "[", "]", ": ", "- ", "\n",
      "\n  ", "\t", "\"", "'", "\\", "|\n", ">\n", "&a ", "*a", "<<: ", "!!int ", "---\n", "...\n",
      "%YAML 1.2\n", "? ", "#", ",", "=", ".", "~", "\u{2028}", "\u{FEFF}", "é", "\u{301}", "\r",
      "\r\n", "\0", "eye(", "source", "video/x-raw", "0x", "-1", "99999999999999999999", "1e999",
      "name=", "\u{E000}", "templates:\n", "links:\n", "chain: [eye]", "9223372036854775807h",
    ]
    let original = Array(ResolveTests.example.utf8)
    for _ in 0..<150 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0...bytes.count, using: &random)
        let end = min(bytes.count, place + Int.random(in: 0...12, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: bytes.removeSubrange(place..<end)
        case 1: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: place)
        default:
          bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "").utf8, at: place)
        }
      }
      run(bytes)
    }
  }

  @Test("random bytes are refused")
  func randomBytes() {
    var random = Random(state: 99)
    for length in [0, 1, 2, 3, 16, 1000, 100_000] {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
      #expect(run(bytes).contains("error"))
    }
  }

  enum SlowFile: String, CaseIterable {
    case lists, items, keys, mappings, indentation, references, reference, steps, brackets, links,
      elements, duplicates, missingTypes, unknownNames, defaults, templates, includes, word, lines,
      notASCII, quote, block

    private func repeated(_ text: String, _ count: Int) -> String {
      String(repeating: text, count: count)
    }

    private func numbered(_ count: Int, _ text: (Int) -> String) -> String {
      (0..<count).map(text).joined()
    }

    var text: String {
      switch self {
      case .lists: repeated("[", 1_000_000)
      case .items: repeated("- ", 500_000) + "a"
      case .keys: repeated("? ", 500_000) + "a"
      case .mappings: repeated("a: {", 250_000)
      case .indentation: numbered(1500) { repeated(" ", $0) + "a:\n" }
      case .references: "description: \"" + repeated("${a}", 500_000) + "\""
      case .reference:
        "elements: { a: { type: x, p: \"" + repeated("${b}", 500_000) + "\" } }"
      case .steps: "links: [\"" + repeated("a -> ", 3000) + "b\"]"
      case .brackets: "links: [\"" + repeated("(", 16000) + "b\"]"
      case .links: "links: [" + repeated("a -> b, ", 40_000) + "a -> a]"
      case .elements: "elements: {" + numbered(50_000) { "e\($0): q, " } + "}"
      case .duplicates: "elements: {" + repeated("same: q, ", 30_000) + "}"
      case .missingTypes: "elements:\n" + numbered(20_000) { "  e\($0): { typ: q }\n" }
      case .unknownNames:
        "links:\n" + numbered(20_000) { "  - unknown\($0).pad -> other\($0).pad\n" }
      case .defaults:
        "parameters:\n"
          + numbered(20_000) { "  p\($0): { type: string, default: \"${p\($0 + 1)}\" }\n" }
      case .templates:
        "templates:\n" + numbered(20_000) { "  t\($0): { chain: [t\($0 + 1)] }\n" }
      case .includes: "include: [" + repeated("test.yaml, ", 10_000) + "]"
      case .word: repeated("x", 5 << 20)
      case .lines: repeated("a\n", 1 << 20)
      case .notASCII: "é: " + repeated("é", 1_000_000)
      case .quote: "a: 'b\n" + repeated("  c\n", 300_000)
      case .block: "a: |\n" + repeated("  ? - & *\n", 300_000)
      }
    }
  }

  @Test("maliciously slow files are checked in time", .tags(.long), arguments: SlowFile.allCases)
  func slowFiles(file: SlowFile) {
    let bytes = Array(file.text.utf8)
    #expect(processorTime { run(bytes) } < 20)
  }

  /// Reads, resolves and checks a chain of queues; returns the processor time in seconds.
  private func check(chainOf count: Int) throws -> Double {
    var text = "parameters: { n: { type: integer, default: 3 } }\nelements:\n"
    for index in 0..<count {
      text += "  e\(index): { type: queue, max-size-buffers: \"${n}\", leaky: no }\n"
    }
    text += "links:\n  - videotestsrc -> e0\n  - e\(count - 1) -> fakesink\n"
    for index in 0..<count - 1 { text += "  - e\(index) -> e\(index + 1)\n" }
    let bytes = Array(text.utf8)
    return try processorTime {
      let (file, diagnostics) = PipelineFile.read(path: "large.yaml") { _ in bytes }
      let (graph, more) = try #require(file).resolve(
        arguments: [], environment: { _ in nil }, purpose: .run)
      let checked = try #require(graph).check(against: FakeRegistry(), files: nil)
      #expect((diagnostics + more + checked).all.isEmpty)
      #expect(graph?.elements.count == count + 2)
    }
  }

  /// Ten times as many take about ten times as long; a hundred times would be the square.
  @Test("ten thousand elements are checked in a time that grows with their number")
  func largeFile() throws {
    let small = try check(chainOf: 1000)
    let large = try check(chainOf: 10_000)
    #expect(large < small * 40, "\(small), \(large)")
  }

  @Test("ten thousand mistakes are reported without delay, up to a limit")
  func manyMistakes() {
    let lines = (0..<10_000).map { "  e\($0): { type: queue, lekay: no, x\($0): 1 }\n" }
    let text = "elements:\n" + lines.joined() + "links: [videotestsrc -> fakesink]\n"
    var errors: [Diagnostic] = []
    let seconds = processorTime {
      let file = read(text).file
      let graph = file?.resolve(arguments: [], environment: { _ in nil }, purpose: .check).graph
      errors = graph?.check(against: FakeRegistry(), files: nil).errors ?? []
    }
    #expect(seconds < 20)
    #expect(errors.count == 1001)
    #expect(errors.last?.message == "19000 more are not shown")
    #expect(errors.first?.help == "did you mean 'leaky'?")
  }

  @Test("terminal control sequences are not printed")
  func controlCharacters() {
    let output = read("elements: { \"a\\e[31m\\u202E\": x }").diagnostics.text()
    #expect(!output.contains("\u{1B}"))
    #expect(!output.contains("\u{202E}"))
    #expect(output.contains("cannot be the name of an element"))
  }

  @Test("colours are only added on request")
  func colors() {
    let diagnostics = read("lnks: []").diagnostics
    #expect(diagnostics.text(color: true).contains("\u{1B}[1;31merror:\u{1B}[0m"))
    #expect(!diagnostics.text().contains("\u{1B}"))
  }
}
