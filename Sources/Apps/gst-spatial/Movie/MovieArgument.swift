// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import StereoMedia

/// A movie that a command line names.
enum MovieArgument {
  /// Opens it. Where it cannot be read, says why and throws the exit code for that.
  static func open(_ path: String) async throws -> StereoMovie {
    do {
      return try await StereoMovie(path)
    } catch {
      Terminal.error.line("error: \(error)")
      throw ExitCode.mistakes
    }
  }
}
