// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser

/// What scripts can tell from the exit code.
extension ExitCode {
  /// An element failed, or a pad never came.
  static let runFailed = ExitCode(1)
  /// A file or its arguments have mistakes.
  static let mistakes = ExitCode(2)
  /// An output is there already.
  static let wouldOverwrite = ExitCode(3)
  /// Nothing moved for as long as the watchdog allows.
  static let frozen = ExitCode(4)
  /// As shells report a program that Ctrl-C ends.
  static let interrupted = ExitCode(130)
}
