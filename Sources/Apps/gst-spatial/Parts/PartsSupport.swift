// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import MovieParts
internal import PipelineFile
internal import PipelineHost

extension PartError {
  /// The exit code by which engines decide whether to try again.
  var exitCode: ExitCode {
    switch kind {
    case .final: .mistakes
    case .repeatable: .runFailed
    case .exists: .wouldOverwrite
    }
  }
}

/// Runs the body of a command for parts: prints its error and turns it into the exit code.
func reportingPartErrors<Result>(_ body: () async throws -> Result) async throws -> Result {
  do {
    return try await body()
  } catch let error as PartError {
    Terminal.error.line("error: \(error)")
    throw error.exitCode
  } catch let error as PipelineProblems {
    error.diagnostics.withoutPlaces(in: Installation.pipelines).print()
    throw ExitCode.mistakes
  } catch let failure as RunFailure {
    failure.diagnostics.withoutPlaces(in: Installation.pipelines).print()
    throw failure.exitCode
  }
}

/// A duration on the command line: `30s`, `1.5min`, `500ms`, `1:02:03`, or a number of seconds.
struct TimeArgument: ExpressibleByArgument {
  let seconds: Double

  init?(argument: String) {
    guard let seconds = Self.seconds(argument) else { return nil }
    self.seconds = seconds
  }

  private static func seconds(_ text: String) -> Double? {
    let units: [(String, Double)] = [("ms", 0.001), ("min", 60), ("s", 1), ("h", 3600), ("", 1)]
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    if fields.count > 1 {
      guard fields.count <= 3 else { return nil }
      let numbers = fields.map { number($0) }
      guard numbers.allSatisfy({ $0 != nil }) else { return nil }
      return numbers.compactMap(\.self).reduce(0) { $0 * 60 + $1 }
    }
    guard let (unit, factor) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
    return number(text.dropLast(unit.count)).map { $0 * factor }
  }

  private static func number(_ text: Substring) -> Double? {
    guard !text.isEmpty, text.utf8.allSatisfy({ 0x30...0x39 ~= $0 || $0 == 0x2E }),
      let number = Double(text), number.isFinite, number < 1e9
    else { return nil }
    return number
  }
}
