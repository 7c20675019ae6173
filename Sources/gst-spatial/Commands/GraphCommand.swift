internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import PipelineHost

struct GraphCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "graph", abstract: "Draw a pipeline file.",
    discussion: """
      A drawing in text, DOT for Graphviz, or SVG where Graphviz is installed.

      EXAMPLES
        gst-spatial graph sbs-to-mvhevc
        gst-spatial graph mine.yaml --dot > mine.dot
        gst-spatial graph mine.yaml --svg > mine.svg
      """)

  @Argument(help: "A pipeline file, or the name of a ready one.")
  var file: String

  @Argument(help: "Values of the file's parameters: name=value.")
  var values: [String] = []

  @Flag(help: "Print DOT.")
  var dot = false

  @Flag(help: "Print SVG, made by Graphviz.")
  var svg = false

  func run() throws {
    let path = Installation.path(ofPipeline: file)
    let (file, found) = PipelineFile.read(path: path, loading: LocalFiles.bytes)
    guard let file else {
      found.print()
      throw ExitCode.mistakes
    }
    let (graph, more) = file.resolve(
      arguments: values, environment: HostedPipeline.environment, purpose: .check)
    (found + more).print()
    guard let graph else { throw ExitCode.mistakes }
    let drawing = GraphDrawing(graph)
    if svg { return try printSVG(drawing.dot) }
    Terminal.output.write(dot ? drawing.dot : drawing.text)
  }

  private func printSVG(_ dot: String) throws {
    fflush(nil)
    guard let graphviz = popen("dot -Tsvg", "w") else { throw ExitCode.failure }
    fputs(dot, graphviz)
    guard pclose(graphviz) == 0 else {
      Terminal.error.line(
        "error: SVG is made by Graphviz, which is not there; the Debian package graphviz has it")
      throw ExitCode.failure
    }
  }
}
