// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import MovieParts
internal import PipelineFile
internal import PipelineHost

/// A conversion in parts on one machine: plans it, encodes the parts in processes of their own, and
/// joins them. It has no state but the files of the folder, so that it carries on where it was
/// stopped.
struct PartsConversion: Sendable {
  let maker: PlanMaker
  let jobs: Int
  let overwrites: Bool
  let isQuiet: Bool
  let isJSON: Bool

  /// How often a part is tried.
  private static let tries = 3

  func run() async throws {
    let work = maker.work
    let plan = try await maker.plan()
    let join = try MovieJoin(work)
    guard !join.isDone else { return note("'\(plan.output)' is there", [("event", "there")]) }
    guard overwrites || SmallFiles.size(of: plan.output) == nil else {
      throw PartError(
        .exists, "'\(plan.output)' already exists", help: "use --force to replace it")
    }
    let key = try plan.key
    let missing = plan.cuts.indices.filter { work.receipt($0, plan, key: key) == nil }
    note(
      "\(plan.cuts.count) parts; \(plan.cuts.count - missing.count) are there",
      [("event", "plan"), ("parts", JSON(plan.cuts.count)), ("missing", JSON(missing.count))])
    let failures = Failures()
    if plan.isTwoPass, !missing.isEmpty {
      let unmeasured = plan.cuts.indices.filter { work.measure($0, plan, key: key) == nil }
      try await run(unmeasured, of: plan, measure: true, failures)
    }
    try await run(missing, of: plan, measure: false, failures)
    guard let pipelines = Installation.pipelines else {
      throw PipelineProblems(Installation.missingPipelines)
    }
    try await join.run(
      pipelines: pipelines, Installation.prepare(), overwrites: overwrites, keepsParts: false,
      warn: { tell("\($0.severity.rawValue): \($0.message)") })
    note(plan.output, [("event", "end"), ("output", .string(plan.output))])
  }

  /// Encodes or measures parts, each in a process.
  private func run(
    _ parts: [Int], of plan: ConversionPlan, measure: Bool, _ failures: Failures
  ) async throws {
    await JobPool.run(
      count: parts.count, limit: jobs, tries: Self.tries, stopsAtFailure: true,
      arguments: {
        ["part", maker.work.path, "\(parts[$0])", "--quiet"] + (measure ? ["--measure"] : [])
      },
      ended: { job, result in
        failures.note(part: parts[job], result) { messages in
          for message in messages { tell(message) }
          let what = measure ? "measured part" : "part"
          note(
            "\(what) \(parts[job]) of \(plan.cuts.count)",
            [("event", measure ? "measured" : "part"), ("part", JSON(parts[job]))])
        }
      })
    if let error = failures.first { throw error }
  }

  /// Tells a warning or a note.
  private func tell(_ message: String) {
    if isJSON {
      Terminal.output.line(
        JSON.object([("event", "note"), ("message", .string(message))]).line)
    } else {
      Terminal.error.line(message)
    }
  }

  private func note(_ text: String, _ fields: [(String, JSON)]) {
    if isJSON {
      Terminal.output.line(JSON.object(fields).line)
    } else if !isQuiet {
      Terminal.error.line(text)
    }
  }
}

/// The failures of parts, and what they have told. The pool reports one result at a time.
private final class Failures: Sendable {
  private let errors = Locked<[PartError]>([])
  /// The messages that have been told: each part has the same.
  private let told = Locked<Set<String>>([])

  /// The error that ends the conversion: one that trying again does not mend, if there is any.
  var first: PartError? {
    let errors = errors.current
    return errors.first { $0.kind == .final } ?? errors.first
  }

  func note(
    part: Int, _ result: Result<ChildProcess.Result, PartError>, whenDone: ([String]) -> Void
  ) {
    switch result {
    case .success(let ended) where ended.status == 0:
      whenDone(ended.messages.filter { message in told.withLock { $0.insert(message).inserted } })
    case .success(let ended):
      let error = PartError(
        ended.status == ExitCode.mistakes.rawValue ? .final : .repeatable,
        "part \(part) failed: \(ended.reason)")
      errors.withLock { $0.append(error) }
    case .failure(let error): errors.withLock { $0.append(error) }
    }
  }
}

extension ChildProcess.Result {
  /// The warnings and notes that the process has printed, each with its help.
  var messages: [String] {
    var messages: [String] = []
    var isMessage = false
    for line in errors.split(separator: "\n", omittingEmptySubsequences: true) {
      let continues = line.hasPrefix(" ")
      if !continues { isMessage = line.hasPrefix("warning: ") || line.hasPrefix("note: ") }
      guard isMessage else { continue }
      if continues, let last = messages.indices.last {
        messages[last] += "\n\(line)"
      } else {
        messages.append(String(line))
      }
    }
    return messages
  }

  /// The error that the process has printed, without the word before it.
  var reason: String {
    guard status <= 128 else { return "signal \(status - 128) ended it" }
    let lines = errors.split(separator: "\n", omittingEmptySubsequences: true)
    guard let start = lines.lastIndex(where: { $0.contains("error: ") }) else {
      return lines.last.map(String.init) ?? "it ended with \(status)"
    }
    let message = lines[start].split(separator: "error: ", maxSplits: 1).last ?? lines[start]
    let help = lines[(start + 1)...].prefix { $0.hasPrefix("  = ") || $0.hasPrefix(" = ") }
    return ([message] + help).joined(separator: "\n")
  }
}
