internal import ArgumentParser
internal import PipelineFile
internal import PipelineHost

/// The pipeline file that a command is about.
struct PipelineArguments: ParsableArguments {
  @Argument(
    help: "A pipeline file, or the name of a ready one.", completion: PipelineCompletion.file)
  var file: String

  @Argument(
    help: "Values of the file's parameters: name=value.", completion: PipelineCompletion.values)
  var values: [String] = []

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
