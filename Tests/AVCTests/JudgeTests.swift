// SPDX-License-Identifier: MPL-2.0

import AVC
import Foundation
import TestKit
import Testing

/// FFmpeg's decoder, through PyAV, decodes flattened streams to the pictures of an MVC decoder.
@Suite(
  "MVC judged by FFmpeg", .tags(.judge),
  .enabled(if: MVCMedia.isThere, "the folder ../shared/mvc-media is absent"),
  .enabled(if: Python.hasAV, "needs PyAV"))
struct JudgeTests {
  /// A verdict: right pictures of each view, and whether that is all.
  struct Verdict: Equatable {
    var right: [Int]
    var isExact: Bool
  }

  static func verdicts(
    _ streams: [(name: String, bytes: [UInt8])], threads: Int
  ) throws -> [String: Verdict] {
    let folder = try TemporaryFolder()
    for (name, bytes) in streams {
      try Data(bytes).write(to: folder.url.appending(path: name))
    }
    let program = Repository.url.appending(path: "Tests/Tools/golden_views.py").path
    let lines = try Python.lines(
      [program, MVCMedia.golden.path, String(threads)] + streams.map { folder.path($0.name) })
    var result: [String: Verdict] = [:]
    for line in lines {
      let words = line.split(separator: " ").map(String.init)
      try #require(words.count == 4, "\(line)")
      result[words[0]] = Verdict(
        right: words[1...2].compactMap { Int($0) }, isExact: words[3] == "exact")
    }
    return result
  }

  @Test("every picture of both views, with one thread and with four", arguments: [1, 4])
  func pictures(threads: Int) throws {
    let streams = try MVCMedia.names.map {
      (name: $0, bytes: try flatten(try MVCMedia.bytes($0)).bytes)
    }
    let verdicts = try Self.verdicts(streams, threads: threads)
    for (name, facts) in MVCMedia.all {
      let verdict = try #require(verdicts[name])
      // These are the ones about which there is a warning.
      let isExact = FlattenTests.warnings[name] == nil
      #expect(verdict.isExact == isExact, "\(name)")
      #expect(
        zip(verdict.right, facts.exactInPrototype).allSatisfy { $0 >= $1 },
        "\(name): \(verdict.right)")
    }
  }

  @Test("doubled numbers change no picture of streams that could be shifted")
  func doubled() throws {
    let names = ["b2-cabac.264", "h7-cavlc.264", "p-longterm.264", "p-weighted-cavlc.264"]
    let streams = try names.map {
      (name: $0, bytes: try flatten(try MVCMedia.bytes($0), numbering: .double).bytes)
    }
    #expect(try Self.verdicts(streams, threads: 1).values.allSatisfy { $0.isExact })
  }
}
