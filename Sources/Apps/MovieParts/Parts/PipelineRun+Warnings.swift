// SPDX-License-Identifier: MPL-2.0

internal import PipelineFile
internal import PipelineHost

extension PipelineRun {
  /// Runs the pipeline and passes on its warnings, all of them before this returns or throws.
  func run(warn: @escaping @Sendable (Diagnostic) -> Void) async throws {
    let watching = Task {
      for await event in events {
        if case .warning(let warning) = event { warn(warning) }
      }
    }
    let result: Result<Summary, any Error>
    do { result = .success(try await run()) } catch { result = .failure(error) }
    await watching.value
    _ = try result.get()
  }
}
