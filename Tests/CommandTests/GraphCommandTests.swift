// SPDX-License-Identifier: MPL-2.0

import Foundation
import TestKit
import Testing

/// `gst-spatial graph`.
@Suite(.tags(.process))
struct GraphCommandTests {
  private let folder: TemporaryFolder
  private static let hasGraphviz = ["/usr/bin/dot", "/usr/local/bin/dot"]
    .contains(where: FileManager.default.isExecutableFile)

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("branches are side by side, with arrows that split and join at the named pads")
  func boxes() throws {
    let file = try folder.write(
      """
      elements:
        scene: { type: stereotestsrc }
        split: { type: sbssplit }
        pack: { type: stereopack }
      links:
        - scene -> split
        - split.left -> queue -> pack.left
        - split.right -> videoconvert -> queue -> pack.right
        - pack -> fakesink
      """, to: "a.yaml")
    let drawing = try Command.run(["graph", file], in: folder)
    #expect(drawing.status == 0 && drawing.errors.isEmpty)
    #expect(
      drawing.output == """
          ┌───────────────────────┐
          │ scene [stereotestsrc] │
          └───────────┬───────────┘
                      ▼
             ┌──────────────────┐
             │ split [sbssplit] │
             │  left    right   │
             └───┬────────┬─────┘
             ┌───┘        └──┐
             ▼               ▼
        ┌─────────┐  ┌────────────────┐
        │ [queue] │  │ [videoconvert] │
        └────┬────┘  └───────┬────────┘
             └───┐        ┌──┘
                 │        ▼
                 │   ┌─────────┐
                 │   │ [queue] │
                 │   └────┬────┘
                 ▼        ▼
            ┌───────────────────┐
            │  left     right   │
            │ pack [stereopack] │
            └─────────┬─────────┘
                      ▼
                ┌────────────┐
                │ [fakesink] │
                └────────────┘

        """)
  }

  @Test("an optional branch has a question mark")
  func optionalLinks() throws {
    let file = try folder.write(
      """
      elements:
        decode: { type: decodebin }
        sound: { type: tee }
      links:
        - filesrc(location=a) -> decode
        - decode[audio/x-raw]? -> sound
        - sound -> fakesink
      """, to: "a.yaml")
    let drawing = try Command.run(["graph", file], in: folder)
    #expect(drawing.output.contains("? (audio/x-raw) "), "\(drawing.output)")
    #expect(drawing.output.filter { $0 == "?" }.count == 1)
  }

  @Test("a graph too large for boxes has a line for each branch")
  func wide() throws {
    let links = (0..<40).map { _ in "  - t -> queue -> fakesink" }.joined(separator: "\n")
    let file = try folder.write(
      "elements: { t: { type: tee } }\nlinks:\n  - videotestsrc -> t\n\(links)", to: "a.yaml")
    let drawing = try Command.run(["graph", file], in: folder)
    #expect(drawing.output.hasPrefix("[videotestsrc] ─▶ t [tee]\n├─▶ [queue] ─▶ [fakesink]\n"))
    #expect(drawing.output.split(separator: "\n").count == 41)
  }

  @Test("Graphviz makes SVG of it", .enabled(if: hasGraphviz, "Graphviz is not installed"))
  func svg() throws {
    let drawing = try Command.run(["graph", "sbs-to-mvhevc", "--svg"], in: folder)
    #expect(drawing.status == 0 && drawing.errors.isEmpty, "\(drawing.errors)")
    for text in ["<svg", "split [sbssplit]", "mux [mvhevcmux]", "audio_%u", "</svg>"] {
      #expect(drawing.output.contains(text), "\(text)")
    }
  }

  @Test("without Graphviz, SVG is refused with the package that would help; DOT needs none")
  func noGraphviz() throws {
    let without = "PATH=/nowhere; export PATH; "
    let svg = try Command.run(["graph", "sbs-to-mvhevc", "--svg"], in: folder, shell: without)
    #expect(svg.status == 1 && svg.output.isEmpty)
    #expect(svg.errors.contains("install the Debian package graphviz"))
    let dot = try Command.run(["graph", "sbs-to-mvhevc", "--dot"], in: folder, shell: without)
    #expect(dot.status == 0 && dot.output.hasPrefix("digraph pipeline {\n"))
    #expect(dot.output.components(separatedBy: " -> ").count > 15)
  }
}
