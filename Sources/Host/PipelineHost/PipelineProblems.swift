// SPDX-License-Identifier: MPL-2.0

public import PipelineFile

/// Why a pipeline cannot be run, or why it failed: what a person reads.
public struct PipelineProblems: Error, Sendable, CustomStringConvertible {
  public let diagnostics: Diagnostics

  public init(_ diagnostics: Diagnostics) {
    self.diagnostics = diagnostics
  }

  /// As a compiler would print it.
  public var description: String { diagnostics.text() }
}
