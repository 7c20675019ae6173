// SPDX-License-Identifier: MPL-2.0

/// The reason that a plan, a part or a join fails, for the user.
package struct PartError: Error, Equatable, CustomStringConvertible {
  /// The reaction that an engine should have.
  package enum Kind: Sendable {
    /// Trying again mends nothing: the input or the settings are not those of the plan.
    case final
    /// Trying again may help.
    case repeatable
    /// The output exists already.
    case exists
  }

  package let kind: Kind
  /// The problem, in one line that begins in lower case.
  package let message: String
  /// The way to mend it; nil if that is obvious.
  package let help: String?

  package init(_ kind: Kind, _ message: String, help: String? = nil) {
    (self.kind, self.message, self.help) = (kind, message, help)
  }

  /// The message and what to do.
  package var description: String { message + (help.map { "\n  = \($0)" } ?? "") }
}
