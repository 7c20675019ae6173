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

/// Prints a warning of a pipeline, without places in the ready pipelines.
func printWarning(_ warning: Diagnostic) {
  Diagnostics([warning]).withoutPlaces(in: Installation.pipelines).print()
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
