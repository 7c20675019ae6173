// SPDX-License-Identifier: MPL-2.0

import Foundation
import ISOBMFF
import TestKit
import Testing

/// `docs/elements`: a page for each element.
@Suite(.tags(.process), .checkedStreams)
struct ElementPageTests {
  private static let folder = Repository.url.appending(path: "docs/elements")

  private static let names = PluginTests.elements.sorted()

  /// Frames of what a page's lines write, where they are not 60.
  private static let frameCounts = ["mvhevcdemux": 30, "mvhevcautodemux": 30, "mvcflatten": 120]

  @Test("every element of the plugin has its page, and there is no other")
  func pages() throws {
    let pages = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path).sorted()
    #expect(pages == Self.names.map { $0 + ".md" })
    let elements = try Program.run([
      "bash", "-c", "gst-inspect-1.0 spatial | sed -nE 's/^  ([a-z0-9]+): .*/\\1/p'",
    ])
    .output.split(separator: "\n").map(String.init).sorted()
    #expect(elements == Self.names)
  }

  @Test("a page names all pads", arguments: names)
  func pads(_ name: String) throws {
    let page = try DocumentedLines(Self.folder.appending(path: name + ".md"))
    let inspected = try Program.run(["gst-inspect-1.0", name]).output
    for match in inspected.matches(of: /(?:SRC|SINK) template: '([^']+)'/) {
      #expect(page.text.contains("`\(match.output.1)`"), "\(match.output.1)")
    }
  }

  @Test("every line of a page runs", arguments: names)
  func lines(_ name: String) async throws {
    let page = try DocumentedLines(Self.folder.appending(path: name + ".md"))
    let folder = try await ReadmeTests.folderWithMovies(
      hasDisc: page.commands.contains { $0.contains("disc.") })
    #expect(!page.commands.isEmpty)
    for command in page.commands.map(DocumentedLines.sized) {
      let result = try Program.run(["bash", "-c", "cd '\(folder.url.path)' && \(command)"])
      #expect(result.status == 0 && !result.output.contains("ERROR"), "\(result.output)")
      guard !command.contains("mvhevchlssink name=") else {
        let playlist = try String(contentsOfFile: folder.path("main.m3u8"), encoding: .utf8)
        #expect(playlist.contains("REQ-VIDEO-LAYOUT=\"CH-STEREO\""))
        continue
      }
      let output = try #require(
        command.firstMatch(of: /filesink location=(\S+)/)?.output.1, "no filesink")
      #expect(
        try MovieFile(folder.path(String(output))).video().samples.count
          == Self.frameCounts[name] ?? 60)
    }
  }
}
