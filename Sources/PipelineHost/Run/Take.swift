// SPDX-License-Identifier: LGPL-2.1-or-later

internal import Glibc
internal import PipelineFile

/// The files that one attempt writes.
///
/// While it is written, `movie.mov` is called `movie.incomplete.mov`, so that whatever happens to
/// the run, what it recorded can be seen and is not taken for a whole movie. The file is locked
/// while the run lasts: a second run to the same output is refused, and what a killed run has left
/// is told from what is being written.
final class Take: Sendable {
  private struct File: Sendable {
    let output: OutputFiles.Output
    let partialPath: String
    /// An open file with the lock.
    let lock: Int32
  }

  private let files: [File]

  /// Creates and locks the files. Throws where another run writes to one of them.
  init(_ outputs: OutputFiles) throws(RunFailure) {
    var files: [File] = []
    do throws(RunFailure) {
      for output in outputs.outputs { files.append(try Self.claim(output)) }
    } catch {
      for file in files {
        unlink(file.partialPath)
        close(file.lock)
      }
      throw error
    }
    self.files = files
  }

  deinit {
    for file in files { close(file.lock) }
  }

  /// Where each element that writes a file writes it.
  var locations: [Int: String] {
    Dictionary(files.map { ($0.output.element, $0.partialPath) }) { first, _ in first }
  }

  /// How many bytes are written so far.
  var size: Int { files.reduce(0) { $0 &+ FileName.size(of: $1.partialPath) } }

  /// Gives the finished files their names, and tells which there are.
  ///
  /// - Parameters:
  ///   - replaces: whether a file of that name may be replaced.
  ///   - number: of the take. The second one is `movie-2.mov`, or has the next number that is free.
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
      if file.output.isOptional, FileName.size(of: file.partialPath) == 0 {
        unlink(file.partialPath)
        continue
      }
      let path = try rename(file, to: wanted, replaces: isFirst && replaces)
      paths.append(path)
      guard path != wanted else { continue }
      displaced.append(
        Diagnostic(
          .error, "'\(wanted)' appeared during the run, and is not replaced",
          at: file.output.location, help: "the finished file is '\(path)'"))
    }
    guard displaced.isEmpty else { throw RunFailure(.wouldOverwrite, Diagnostics(displaced)) }
    return paths
  }

  /// Leaves what was recorded under its name of an incomplete file, and tells which there are.
  ///
  /// - Parameter holdsData: whether anything was recorded for the element of this position.
  func keep(_ holdsData: (Int) -> Bool) -> [String] {
    files.compactMap { file in
      guard holdsData(file.output.element), FileName.size(of: file.partialPath) > 0 else {
        unlink(file.partialPath)
        return nil
      }
      return file.partialPath
    }
  }

  /// Gives a file its name, or the next one with a number that is free.
  private func rename(_ file: File, to wanted: String, replaces: Bool) throws(RunFailure) -> String
  {
    var number = 1
    while true {
      let path = wanted.numbered(number)
      let error =
        replaces
        ? (Glibc.rename(file.partialPath, path) == 0 ? 0 : errno)
        : FileName.move(file.partialPath, toFree: path)
      switch error {
      case 0: return path
      case EEXIST where number < 10_000: number += 1
      default:
        let isThere = access(file.partialPath, F_OK) == 0
        throw RunFailure(
          .failed,
          Diagnostic(
            .error, "'\(path)' could not get its name: \(FileError(error))",
            at: file.output.location,
            help: isThere
              ? "the finished file is '\(file.partialPath)'"
              : "it vanished while it was written"))
      }
    }
  }

  private static func claim(_ output: OutputFiles.Output) throws(RunFailure) -> File {
    var number = 1
    while true {
      let path = output.path.incomplete(number)
      let file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard file < 0 else {
        guard lock(file) else {
          close(file)
          throw busy(output)
        }
        return File(output: output, partialPath: path, lock: file)
      }
      guard errno == EEXIST, number < 10_000 else {
        throw RunFailure(
          .failed,
          Diagnostic(
            .error, "'\(path)' cannot be written: \(FileError(errno))", at: output.location))
      }
      // Without its lock, it is what a run that failed or was killed has left.
      let other = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
      if other >= 0 {
        let isFree = lock(other)
        close(other)
        guard isFree else { throw busy(output) }
      }
      number += 1
    }
  }

  private static func busy(_ output: OutputFiles.Output) -> RunFailure {
    RunFailure(
      .wouldOverwrite,
      Diagnostic(
        .error, "another run is writing '\(output.path)'", at: output.location,
        help: "choose another name, or wait until that run has ended"))
  }

  /// False where somebody else holds the lock. File systems without locks give it to everybody.
  private static func lock(_ file: Int32) -> Bool {
    flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }
}
