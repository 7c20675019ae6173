// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import PipelineHost
internal import StereoMedia

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draw a pipeline file.",
    discussion: """
      Boxes and arrows in text, DOT for Graphviz, or SVG where Graphviz is installed. '?' stands \
      at links that are made only if their pad appears.

      EXAMPLES
        gst-spatial graph sbs-to-mvhevc
        gst-spatial graph mine.yaml --dot --output mine.dot
        gst-spatial graph mine.yaml --svg > mine.svg
      """)

  @OptionGroup var pipeline: PipelineArguments

  @Flag(help: "Print DOT.")
  var dot = false

  @Flag(help: "Print SVG, made by Graphviz.")
  var svg = false

  @OptionGroup var output: OutputOption

  func run() throws {
    let drawing = GraphDrawing(try pipeline.graph())
    if svg { return try output.write(try Self.svg(drawing.dot)) }
    try output.write(dot ? drawing.dot : drawing.text(columns: columns))
  }

  /// What is no terminal can be scrolled.
  private var columns: Int { Terminal.output.isInteractive ? Terminal.output.columns : 200 }

  /// Graphviz reads from a file: what it writes comes back through the pipe.
  private static func svg(_ dot: String) throws -> String {
    guard let program = programs("dot").first(where: { access($0, X_OK) == 0 }) else {
      Terminal.error.line(
        "error: SVG is made by Graphviz, which is not there; the Debian package graphviz has it")
      throw ExitCode.failure
    }
    let folder = try ScratchFolder()
    defer { folder.remove() }
    let path = "\(folder.path)/graph.dot"
    try PictureFile.write(Array(dot.utf8), to: path)
    guard let graphviz = popen("\(ShellWord.quoted(program)) -Tsvg \(ShellWord.quoted(path))", "r")
    else {
      throw ExitCode.failure
    }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = fread(&chunk, 1, chunk.count, graphviz)
      guard count > 0 else { break }
      bytes += chunk[..<count]
    }
    guard pclose(graphviz) == 0 else {
      Terminal.error.line("error: Graphviz failed ('\(program)')")
      throw ExitCode.failure
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Where a program of this name may be.
  private static func programs(_ name: String) -> [String] {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }
  }
}
