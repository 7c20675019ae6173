// SPDX-License-Identifier: MPL-2.0

internal import Glibc
internal import PipelineFile
internal import PipelineHost

/// `gst-spatial run FILE --help`: the file's own parameters, as a command's options.
struct ParameterHelp {
  private let name: String

  /// Nil where the command line asks for anything else.
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
    lines += ["", "See 'gst-spatial help run' for the options of every run."]
    return lines.joined(separator: "\n") + "\n"
  }
}

extension Parameter {
  /// Help, unit, range, default and environment variable, in a line.
  fileprivate var summary: String {
    var parts = help.map { [$0] } ?? []
    if let unit { parts.append("in \(unit)") }
    switch (minimum, maximum) {
    case (let low?, let high?): parts.append("\(low) to \(high)")
    case (let low?, nil): parts.append("at least \(low)")
    case (nil, let high?): parts.append("at most \(high)")
    case (nil, nil): break
    }
    if isRequired { parts.append("required") }
    if let defaultValue { parts.append("default \(defaultValue.source)") }
    if let environment { parts.append("or the environment variable \(environment)") }
    return parts.joined(separator: ", ")
  }
}
