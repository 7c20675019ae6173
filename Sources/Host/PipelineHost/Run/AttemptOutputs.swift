// SPDX-License-Identifier: MPL-2.0

internal import PartialFile
internal import PipelineFile

/// The files that one attempt writes. Until it has ended successfully, they are ``PartialFile``s.
final class AttemptOutputs: Sendable {
  private struct File: Sendable {
    let output: OutputFiles.Output
    let partial: PartialFile
  }

  private let files: [File]

  /// Creates and locks the files.
  ///
  /// - Throws: if another run is writing one of them.
  init(_ outputs: OutputFiles) throws(RunFailure) {
    var files: [File] = []
    for output in outputs.outputs {
      do {
        files.append(File(output: output, partial: try PartialFile(output.path)))
      } catch {
        for file in files { file.partial.remove() }
        throw Self.failure(output, error)
      }
    }
    self.files = files
  }

  private static func failure(
    _ output: OutputFiles.Output, _ failure: PartialFile.Failure
  ) -> RunFailure {
    switch failure {
    case .busy:
      RunFailure(
        .wouldOverwrite,
        Diagnostic(
          .error, "another run is writing '\(output.path)'", at: output.location,
          help: "choose another name, or wait until that run has ended"))
    case .system(let path, let code):
      RunFailure(
        .failed,
        Diagnostic(
          .error, "'\(path)' cannot be written: \(FileError(code))", at: output.location))
    }
  }

  /// The paths that the sinks write to, by element index.
  var locations: [Int: String] {
    Dictionary(files.map { ($0.output.element, $0.partial.path) }) { first, _ in first }
  }

  /// The paths of the files that hold data and are not finished.
  var incompletePaths: [String] {
    files.filter { $0.partial.isThere && $0.partial.size > 0 }.map(\.partial.path)
  }

  /// Number of bytes written so far.
  var size: Int { files.reduce(0) { $0 &+ $1.partial.size } }

  /// Renames the finished files to their final names, and returns those.
  ///
  /// - Parameters:
  ///   - replaces: whether existing files of these names may be replaced.
  ///   - number: number of the attempt. The second one is named `movie-2.mov`, or with the next
  ///     free number.
  func finish(replaces: Bool, number: Int) throws(RunFailure) -> [String] {
    let isFirst = number == 1
    var number = number
    while !(isFirst && replaces), number > 1,
      files.contains(where: { FileName.isTaken($0.output.path.numbered(number)) })
    { number += 1 }
    var paths: [String] = []
    var displaced: [Diagnostic] = []
    for file in files {
      let wanted = file.output.path.numbered(number)
      if file.output.isOptional, file.partial.size == 0 {
        file.partial.remove()
        continue
      }
      let path = try rename(file, to: wanted, replaces: isFirst && replaces)
      paths.append(path)
      guard path != wanted else { continue }
      displaced.append(
        Diagnostic(
          .error, "'\(wanted)' was created during the run and is not replaced",
          at: file.output.location, help: "the finished file is '\(path)'"))
    }
    guard displaced.isEmpty else { throw RunFailure(.wouldOverwrite, Diagnostics(displaced)) }
    return paths
  }

  /// Keeps the recorded data under the names of incomplete files, and returns those.
  ///
  /// - Parameter holdsData: returns whether anything was recorded for the sink with this index.
  func keep(_ holdsData: (Int) -> Bool) -> [String] {
    files.compactMap { file in
      guard holdsData(file.output.element), file.partial.size > 0 else {
        file.partial.remove()
        return nil
      }
      return file.partial.path
    }
  }

  private func rename(_ file: File, to wanted: String, replaces: Bool) throws(RunFailure) -> String
  {
    do {
      return try file.partial.finish(as: wanted, replaces: replaces)
    } catch {
      guard case .system(let path, let code) = error else {
        throw Self.failure(file.output, error)
      }
      throw RunFailure(
        .failed,
        Diagnostic(
          .error, "the finished file cannot be renamed to '\(path)': \(FileError(code))",
          at: file.output.location,
          help: file.partial.isThere
            ? "the finished file is '\(file.partial.path)'"
            : "it was deleted while it was being written"))
    }
  }
}
