// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import PipelineFile
internal import PipelineHost

/// The pipeline file that a command is about.
struct PipelineArguments: ParsableArguments {
  @Argument(
    help: "A pipeline file, or the name of a ready one.", completion: PipelineCompletion.file)
  var file: String

  @Argument(
    help: ArgumentHelp("Values of the file's parameters: name=value.", valueName: "values"),
    completion: PipelineCompletion.values)
  private var positional: [String] = []

  @Option(name: .customLong("with"), help: "A parameter's value, as name=value.")
  private var with: [String] = []

  var values: [String] { positional + with }

  /// A parameter has a name before its `=`; paths with one can be written with a slash.
  static func isValue(_ text: String) -> Bool {
    guard let equals = text.firstIndex(of: "=") else { return false }
    return !text[..<equals].contains("/") && !text[..<equals].contains(".")
  }

  /// What the file comes to. What is wrong with it is printed; where it cannot be used, the exit
  /// code is thrown.
  func graph() throws -> ResolvedGraph {
    let (graph, diagnostics) = try PipelineFile.ready(file).resolve(
      arguments: values, environment: HostedPipeline.environment, purpose: .check)
    diagnostics.print()
    guard let graph else { throw ExitCode.mistakes }
    return graph
  }
}
