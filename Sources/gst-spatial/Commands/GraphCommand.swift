internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import PipelineHost

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draw a pipeline file.",
    discussion: """
      Boxes and arrows in text, DOT for Graphviz, or SVG where Graphviz is installed. '?' stands \
      at links that are made only if their pad appears.

      EXAMPLES
        gst-spatial graph sbs-to-mvhevc
        gst-spatial graph mine.yaml --dot > mine.dot
        gst-spatial graph mine.yaml --svg > mine.svg
      """)

  @OptionGroup var pipeline: PipelineArguments

  @Flag(help: "Print DOT.")
  var dot = false

  @Flag(help: "Print SVG, made by Graphviz.")
  var svg = false

  func run() throws {
    let drawing = GraphDrawing(try pipeline.graph())
    if svg { return try printSVG(drawing.dot) }
    Terminal.output.write(dot ? drawing.dot : drawing.text(columns: columns))
  }

  /// What is no terminal can be scrolled.
  private var columns: Int { Terminal.output.isInteractive ? Terminal.output.columns : 200 }

  private func printSVG(_ dot: String) throws {
    guard let program = Self.programs("dot").first(where: { access($0, X_OK) == 0 }) else {
      Terminal.error.line(
        "error: SVG is made by Graphviz, which is not there; the Debian package graphviz has it")
      throw ExitCode.failure
    }
    fflush(nil)
    // A program that ends early is an error to tell, not one to die of.
    signal(SIGPIPE, SIG_IGN)
    guard let graphviz = popen("'\(program.replacing("'", with: "'\\''"))' -Tsvg", "w") else {
      throw ExitCode.failure
    }
    fputs(dot, graphviz)
    guard pclose(graphviz) == 0 else {
      Terminal.error.line("error: Graphviz failed ('\(program)')")
      throw ExitCode.failure
    }
  }

  /// Where a program of this name may be.
  private static func programs(_ name: String) -> [String] {
    let path = getenv("PATH").map { String(cString: $0) } ?? ""
    return path.split(separator: ":").map { "\($0)/\(name)" }
  }
}
