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
      Draws boxes and arrows as text, DOT for Graphviz, or SVG if Graphviz is installed. A '?' \
      marks links that are made only if their pad appears.

      EXAMPLES
        gst-spatial graph sbs-to-mvhevc
        gst-spatial graph mine.yaml --dot --output mine.dot
        gst-spatial graph mine.yaml --svg > mine.svg
      """)

  @OptionGroup var pipeline: PipelineArguments

  @Flag(help: "Print DOT.")
  var dot = false

  @Flag(help: "Print SVG (requires Graphviz).")
  var svg = false

  @OptionGroup var output: OutputOption

  func run() throws {
    let drawing = GraphDrawing(try pipeline.graph())
    if svg { return try output.write(try Self.svg(drawing.dot)) }
    try output.write(dot ? drawing.dot : drawing.text(columns: columns))
  }

  /// Number of columns; wide if the output is not a terminal.
  private var columns: Int { Terminal.output.isInteractive ? Terminal.output.columns : 200 }

  /// Renders DOT as SVG with Graphviz, which reads a temporary file and writes to a pipe.
  private static func svg(_ dot: String) throws -> String {
    guard let program = programs("dot").first(where: { access($0, X_OK) == 0 }) else {
      Terminal.error.line(
        "error: SVG requires Graphviz, which is not installed; install the Debian package graphviz")
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

  /// Returns the possible paths of a program.
  private static func programs(_ name: String) -> [String] {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }
  }
}
