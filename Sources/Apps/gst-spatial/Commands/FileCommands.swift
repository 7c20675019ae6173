// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import PipelineFile
internal import PipelineHost

struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Find all errors in pipeline files.",
    discussion: """
      Checks the syntax, references and values, and every element, property, pad and link against \
      the installed elements. Required parameters may be omitted.

      EXAMPLES
        gst-spatial check mine.yaml
        gst-spatial check --json *.yaml
        gst-spatial check mine.yaml input=movie.mp4
      """)

  @Argument(
    help: "Pipeline files, or names of ready ones; parameter values as name=value.",
    completion: PipelineCompletion.file)
  var arguments: [String]

  @Option(name: .customLong("with"), help: "A parameter's value, as name=value.")
  var with: [String] = []

  private var values: [String] { arguments.filter(PipelineArguments.isValue) + with }
  private var files: [String] { arguments.filter { !PipelineArguments.isValue($0) } }

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("Specify a pipeline file to check.") }
  }

  @Flag(help: "Print the errors as JSON.")
  var json = false

  func run() throws {
    let registry = Installation.prepare()
    var all: [Diagnostic] = []
    for file in files {
      do {
        all += mistakes(in: try Installation.path(ofPipeline: file), registry)
      } catch {
        all += error.diagnostics.all
      }
    }
    let diagnostics = Diagnostics(all)
    if json {
      Terminal.output.line(JSON.array(all.map { JSON($0) }).text())
    } else {
      diagnostics.print()
    }
    if diagnostics.hasErrors { throw ExitCode.mistakes }
  }

  private func mistakes(in path: String, _ registry: InstalledElements) -> [Diagnostic] {
    let (graph, found) = PipelineFile.check(
      path: path, loading: LocalFiles.bytes, arguments: values,
      environment: HostedPipeline.environment, registry: registry, files: LocalFiles())
    return found.all + (graph.map { StereoInputs.problems($0).all } ?? [])
  }
}

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Show a pipeline file with its parameters, templates and includes expanded.",
    discussion: """
      EXAMPLES
        gst-spatial explain sbs-to-mvhevc
        gst-spatial explain sbs-to-mvhevc input=movie.mp4 quality=18
      """)

  @OptionGroup var pipeline: PipelineArguments
  @OptionGroup var output: OutputOption

  func run() throws {
    try output.write(try pipeline.graph().explanation())
  }
}

struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the ready pipelines.",
    discussion: """
      EXAMPLES
        gst-spatial list
        gst-spatial list --json
      """)

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    guard Installation.pipelines != nil else {
      Installation.missingPipelines.print()
      throw ExitCode.mistakes
    }
    let pipelines = Installation.readyPipelines().compactMap { name, path in
      PipelineFile.read(path: path, loading: LocalFiles.bytes).file.map { (name, path, $0) }
    }
    if json {
      let items = pipelines.map { name, path, file -> JSON in
        [
          "name": .string(name), "path": .string(path), "description": JSON(file.description),
          "parameters": .array(file.parameters.map { .string($0.name) }),
        ]
      }
      return Terminal.output.line(JSON.array(items).text())
    }
    let width = pipelines.map(\.0.count).max() ?? 0
    for (name, _, file) in pipelines {
      let gap = String(repeating: " ", count: width - name.count + 2)
      Terminal.output.line(name + gap + (file.description ?? ""))
    }
  }
}

struct SchemaCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "schema", abstract: "Print the JSON Schema of pipeline files, for editors.",
    discussion: """
      EXAMPLES
        gst-spatial schema --output gst-spatial.schema.json
        gst-spatial schema --elements --output gst-spatial.schema.json

      An editor uses it if a file begins with this line:
        # yaml-language-server: $schema=gst-spatial.schema.json
      """)

  @Flag(
    help: """
      Include the element types that are installed, with their properties, so that editors \
      complete them. All plugins are loaded, which takes a few seconds.
      """)
  var elements = false

  @OptionGroup var output: OutputOption

  func run() throws {
    try output.write(
      elements
        ? PipelineFile.schema(elementsOf: Installation.prepare()) : PipelineFile.schema)
  }
}

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Convert a gst-launch line into a pipeline file.",
    discussion: """
      Bins are replaced with their elements. Syntax without an equivalent, such as a preset, is an \
      error.

      EXAMPLES
        gst-spatial import 'videotestsrc ! videoconvert ! autovideosink' -o test.yaml
        gst-spatial import 'videotestsrc ! tee name=t  t. ! fakesink  t. ! fakesink'
      """)

  @Argument(help: "The line, in quotes.")
  var line: String

  @OptionGroup var output: OutputOption

  func run() throws {
    let file: String
    do {
      file = try LaunchLine(line, registry: Installation.prepare()).pipelineFile
    } catch {
      let place = SourceLocation(
        file: SourceFile(name: "line", text: line), line: 1, column: error.column)
      Diagnostics([Diagnostic(.error, error.message, at: place)]).print()
      throw ExitCode.mistakes
    }
    try output.write(file)
  }
}
