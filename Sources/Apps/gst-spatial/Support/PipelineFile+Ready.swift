// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import PipelineFile
internal import PipelineHost

extension PipelineFile {
  /// The file of a path, or of a ready pipeline's name. What is wrong with it is printed; where it
  /// cannot be used, the exit code is thrown.
  static func ready(_ name: String) throws -> PipelineFile {
    let path: String
    do {
      path = try Installation.path(ofPipeline: name)
    } catch {
      error.diagnostics.print()
      throw ExitCode.mistakes
    }
    let (file, diagnostics) = PipelineFile.read(path: path, loading: LocalFiles.bytes)
    diagnostics.print()
    guard let file else { throw ExitCode.mistakes }
    return file
  }
}
