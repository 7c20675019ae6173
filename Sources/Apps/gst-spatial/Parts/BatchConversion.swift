// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import MovieParts
internal import PipelineFile
internal import PipelineHost

/// The conversion of many movies into a folder, each in a process of its own. There is no list of
/// what is done: a movie that has its name is.
struct BatchConversion: Sendable {
  /// Files, and folders whose movies are converted.
  let inputs: [String]
  /// The folder of the outputs, which is made.
  let folder: String
  let target: ConversionChoice.Target?
  /// Further words of each command line.
  let options: [String]
  let jobs: Int
  let overwrites: Bool
  let isQuiet: Bool
  let isJSON: Bool

  /// The names of movies in folders end so.
  private static let endings: Set<String> = [
    "3gp", "avi", "m2ts", "m4v", "mk3d", "mkv", "mov", "mp4", "mts", "ts", "webm",
  ]

  /// A movie to convert.
  private struct Movie: Sendable {
    let input: String
    let output: String
  }

  /// The results so far.
  private struct Report: Sendable {
    var done = 0
    var skipped = 0
    /// Whether trying again may mend each failure.
    var failures: [Bool] = []
  }

  func run() async throws {
    guard !inputs.isEmpty else { throw ValidationError("Specify movies, or folders with movies.") }
    guard mkdir(folder, 0o777) == 0 || errno == EEXIST else {
      Terminal.error.line(
        "error: the folder '\(folder)' cannot be made: \(String(cString: strerror(errno)))")
      throw ExitCode.mistakes
    }
    let report = Locked(Report())
    let movies = chosen(report)
    await JobPool.run(
      count: movies.count, limit: jobs, tries: 1, stopsAtFailure: false,
      arguments: { job in
        ["convert", movies[job].input, "--output", movies[job].output, "--quiet"] + options
          + (overwrites ? ["--force"] : [])
      },
      ended: { job, result in tell(movies[job], result, report) })
    try close(report.current)
  }

  private func close(_ report: Report) throws {
    let failed = report.failures.count
    if isJSON {
      Terminal.output.line(
        JSON.object([
          ("event", "end"), ("done", JSON(report.done)), ("skipped", JSON(report.skipped)),
          ("failed", JSON(failed)),
        ]).line)
    } else {
      Terminal.error.line("\(report.done) done, \(report.skipped) skipped, \(failed) failed")
    }
    guard failed > 0 else { return }
    throw report.failures.contains(true) ? ExitCode.runFailed : ExitCode.mistakes
  }

  /// Returns the movies that have to be converted, and tells of the others.
  private func chosen(_ report: Locked<Report>) -> [Movie] {
    var movies: [Movie] = []
    var owners: [String: String] = [:]
    for input in inputs.flatMap(expanded) {
      let movie = Movie(input: input, output: "\(folder)/\(name(of: input))")
      if let other = owners[movie.output] {
        fail(
          movie, "'\(movie.output)' is the name of the conversion of '\(other)', too; rename one",
          isRepeatable: false, report)
        continue
      }
      owners[movie.output] = input
      if !overwrites, SmallFiles.size(of: movie.output) != nil {
        skip(movie, "there", "is there", report)
      } else if target == nil, ConversionChoice.isSpatialMovie(input) {
        skip(movie, "spatial", "'\(input)' is a spatial movie already", report)
      } else {
        movies.append(movie)
      }
    }
    return movies
  }

  /// Returns the movies of a folder, or the file.
  private func expanded(_ path: String) -> [String] {
    guard case .folder = LocalFiles.kind(of: path) else { return [path] }
    let start = path.hasSuffix("/") ? path : path + "/"
    return SmallFiles.names(in: path).filter { name in
      !name.hasPrefix(".") && !name.contains(".incomplete")
        && Self.endings.contains(ConversionChoice.ending(of: name))
    }.map { start + $0 }
  }

  private func name(of input: String) -> String {
    let file = input.split(separator: "/").last.map(String.init) ?? input
    let stem = file.dropFirst().lastIndex(of: ".").map { String(file[..<$0]) } ?? file
    let ending =
      switch target {
      case .sideBySide, .halfSideBySide: "_SBS.mp4"
      case .topBottom, .halfTopBottom: "_TB.mp4"
      case .anaglyph: "_anaglyph.mp4"
      case .flat: "_2D.mp4"
      case .mvhevc, .immersive, .twoFiles, nil: "_MVHEVC.mov"
      }
    return stem + ending
  }

  // MARK: The report

  private func tell(
    _ movie: Movie, _ result: Result<ChildProcess.Result, PartError>, _ report: Locked<Report>
  ) {
    switch result {
    case .success(let ended) where ended.status == 0:
      report.withLock { $0.done += 1 }
      line(movie, "done", nil, isQuiet ? nil : "done: \(movie.output)", ended.messages)
    case .success(let ended) where ended.status == ExitCode.wouldOverwrite.rawValue:
      skip(movie, "there", ended.reason, report)
    case .success(let ended):
      let isFinal = [ExitCode.mistakes, .validationFailure].map(\.rawValue).contains(ended.status)
      fail(movie, ended.reason, isRepeatable: !isFinal, report)
    case .failure(let error): fail(movie, "\(error)", isRepeatable: true, report)
    }
  }

  private func skip(
    _ movie: Movie, _ result: String, _ reason: String, _ report: Locked<Report>
  ) {
    report.withLock { $0.skipped += 1 }
    line(movie, result, reason, isQuiet ? nil : "skipped: \(movie.output): \(reason)")
  }

  private func fail(
    _ movie: Movie, _ reason: String, isRepeatable: Bool, _ report: Locked<Report>
  ) {
    report.withLock { $0.failures.append(isRepeatable) }
    line(movie, "failed", reason, "failed: \(movie.input): \(reason)")
  }

  /// - Parameter messages: what was guessed, and what is not kept.
  private func line(
    _ movie: Movie, _ result: String, _ reason: String?, _ text: String?, _ messages: [String] = []
  ) {
    if isJSON {
      Terminal.output.line(
        JSON.object([
          ("event", "movie"), ("input", .string(movie.input)), ("output", .string(movie.output)),
          ("result", .string(result)), ("reason", JSON(reason)),
          ("messages", .array(messages.map { .string($0) })),
        ]).line)
      return
    }
    if let text { Terminal.error.line(text) }
    for message in messages { Terminal.error.line("\(movie.input): \(message)") }
  }
}

extension LocalFiles {
  /// Returns what a path is.
  fileprivate static func kind(of path: String) -> FileState { LocalFiles().state(of: path) }
}
