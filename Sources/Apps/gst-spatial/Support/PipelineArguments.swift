// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import Glibc
internal import PipelineFile
internal import PipelineHost

/// The pipeline file of a command, with its parameters.
struct PipelineArguments: ParsableArguments {
  @Argument(
    help: "A pipeline file, or the name of a ready one.", completion: PipelineCompletion.file)
  var file: String

  @Argument(
    help: ArgumentHelp("Values of the file's parameters, as name=value.", valueName: "values"),
    completion: PipelineCompletion.values)
  private var positional: [String] = []

  @Option(name: .customLong("with"), help: "A parameter's value, as name=value.")
  private var with: [String] = []

  var values: [String] { positional + with }

  /// Returns whether an argument sets a parameter: it begins with the name of one, and is not a
  /// file that exists. Another path that begins so has to be written with a slash before it.
  static func isValue(_ text: String) -> Bool {
    guard let equals = text.firstIndex(of: "="), equals > text.startIndex else { return false }
    return text[..<equals].allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0))
    }
      && access(text, F_OK) != 0
  }

  /// Returns the resolved graph. Prints errors and warnings; throws the exit code if the file
  /// cannot be used.
  func graph() throws -> ResolvedGraph {
    let (graph, diagnostics) = try PipelineFile.ready(file).resolve(
      arguments: values, environment: HostedPipeline.environment, purpose: .check)
    diagnostics.print()
    guard let graph else { throw ExitCode.mistakes }
    return graph
  }
}

/// The help of `gst-spatial run FILE --help`, which lists the file's own parameters.
struct ParameterHelp {
  private let name: String

  /// Nil for any other command line.
  init?(commandLine: [String]) {
    guard commandLine.first == "run",
      commandLine.contains(where: { $0 == "--help" || $0 == "-h" }),
      let name = commandLine.dropFirst().first(where: { !$0.hasPrefix("-") })
    else { return nil }
    self.name = name
  }

  func printAndExit() -> Never {
    guard let file = try? PipelineFile.ready(name) else { exit(2) }
    Terminal.output.write(text(file))
    exit(0)
  }

  private func text(_ file: PipelineFile) -> String {
    var lines: [String] = []
    if let description = file.description { lines += [description, ""] }
    let required = file.parameters.filter(\.isRequired).map { " \($0.name)=\($0.placeholder)" }
    lines.append("USAGE: gst-spatial run \(name)\(required.joined()) [name=value …]")
    if !file.parameters.isEmpty { lines += ["", "PARAMETERS:"] }
    let titles = file.parameters.map { "  \($0.name)=\($0.placeholder)" }
    let width = min(32, titles.map(\.count).max() ?? 0) + 2
    for (title, parameter) in zip(titles, file.parameters) {
      let gap = String(repeating: " ", count: max(2, width - title.count))
      lines.append(title + gap + parameter.summary)
    }
    lines += ["", "See 'gst-spatial help run' for the options of 'run' itself."]
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Parameter {
  /// Help, unit, range, default and environment variable, in one line.
  fileprivate var summary: String {
    var parts = help.map { [$0] } ?? []
    if let unit { parts.append("in \(unit)") }
    switch (minimum, maximum) {
    case (let low?, let high?): parts.append("\(low) to \(high)")
    case (let low?, nil): parts.append("at least \(low)")
    case (nil, let high?): parts.append("at most \(high)")
    case (nil, nil): break
    }
    if isList { parts.append("can be given several times") }
    if isRequired { parts.append("required") }
    if !defaults.isEmpty {
      parts.append("default \(defaults.map(\.source).joined(separator: ", "))")
    }
    if let environment { parts.append("or the environment variable \(environment)") }
    return parts.joined(separator: ", ")
  }
}

/// Shell completion.
enum PipelineCompletion {
  /// The names of ready pipelines, and the pipeline files in the current folder.
  static let file = CompletionKind.custom { _, _, prefix in
    let names = Installation.readyPipelines().map(\.name) + pipelineFiles()
    return names.filter { $0.hasPrefix(prefix) }
  }

  /// The parameters of the pipeline that precedes them on the command line.
  static let values = CompletionKind.custom { words, _, prefix in
    for word in words.dropFirst() where !word.hasPrefix("-") && !word.contains("=") {
      guard let path = try? Installation.path(ofPipeline: word),
        let file = PipelineFile.read(path: path, loading: LocalFiles.bytes).file
      else { continue }
      return file.parameters.map { $0.name + "=" }.filter { $0.hasPrefix(prefix) }
    }
    return []
  }

  static let movie = CompletionKind.file(extensions: ["mov", "mp4", "m4v"])

  private static func pipelineFiles() -> [String] {
    guard let folder = opendir(".") else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name.hasSuffix(".yaml") || name.hasSuffix(".yml") { names.append(name) }
    }
    return names.sorted()
  }
}
