// SPDX-License-Identifier: MPL-2.0

public import PipelineFile

/// Why a run did not come to its end.
public struct RunFailure: Error, Sendable, CustomStringConvertible {
  public enum Kind: Sendable {
    /// An output is there already or is being written by another run, and nobody said that it may
    /// be replaced.
    case wouldOverwrite
    /// An element could not be made, linked or set.
    case notBuilt
    /// An element failed, or a pad never came.
    case failed
    /// Nothing moved for as long as the file's watchdog allows.
    case frozen
    /// It was told to stop at once.
    case aborted
  }

  public internal(set) var kind: Kind
  /// What happened, with the line of the file.
  public let diagnostics: Diagnostics
  /// The files that hold what was recorded until then.
  public internal(set) var kept: [String] = []

  init(_ kind: Kind, _ diagnostic: Diagnostic) {
    self.init(kind, Diagnostics([diagnostic]))
  }

  init(_ kind: Kind, _ diagnostics: Diagnostics) {
    self.kind = kind
    self.diagnostics = diagnostics
  }

  public var description: String { diagnostics.text() }
}
