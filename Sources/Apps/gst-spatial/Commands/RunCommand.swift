// SPDX-License-Identifier: MPL-2.0

internal import ArgumentParser
internal import GStreamer
internal import Glibc
internal import PipelineFile
internal import PipelineHost

struct RunCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run", abstract: "Run a pipeline file.",
    discussion: """
      FILE is a path, or the name of a ready pipeline (see 'gst-spatial list'). \
      'gst-spatial run FILE --help' shows the file's own parameters.

      Ctrl-C ends the stream, so that the output is completed and can be played; pressing it again \
      stops at once. The output of a conversion ends where the encoder is; what was received from \
      cameras and networks is encoded first. Until movie.mov is complete, it is called \
      movie.incomplete.mov. If a run fails, this file remains and can be played if it could still \
      be completed.

      EXAMPLES
        gst-spatial run sbs-to-mvhevc input=movie.mp4
        gst-spatial run sbs-to-mvhevc input=movie.mp4 quality=18 --force
        gst-spatial run mine.yaml --dry-run
        gst-spatial run mine.yaml --json | jq .percent
        gst-spatial run mine.yaml --graph graph.dot
      """)

  @OptionGroup var arguments: PipelineArguments

  @Flag(name: [.customShort("y"), .long], help: "Replace existing outputs, streams as a whole.")
  var force = false

  @Flag(help: "Check everything and show what would be done.")
  var dryRun = false

  @Flag(help: "Print events as JSON on standard output, one per line.")
  var json = false

  @Flag(name: .shortAndLong, help: "Print neither progress nor a summary.")
  var quiet = false

  @Flag(help: "Show the places of errors in the ready pipelines, too.")
  var verbose = false

  @Option(
    name: [.customLong("graph"), .customLong("dot")],
    help: "Write the final graph for Graphviz (DOT), even on failure.")
  var dot: String?

  func run() async throws {
    let registry = Installation.prepare()
    let pipeline: HostedPipeline
    do {
      pipeline = try HostedPipeline.load(
        try Installation.path(ofPipeline: arguments.file), arguments: arguments.values,
        registry: registry)
    } catch {
      report(error.diagnostics)
      throw ExitCode.mistakes
    }
    let problems = StereoInputs.problems(pipeline.graph)
    guard !problems.hasErrors else {
      report(problems)
      throw ExitCode.mistakes
    }
    guard !dryRun else { return describe(pipeline) }
    try await run(pipeline)
  }

  private func run(_ pipeline: HostedPipeline) async throws {
    var options = PipelineRun.Options()
    options.overwrites = force
    options.keepsGraph = dot != nil
    let run = PipelineRun(pipeline, options: options)
    let display = Locked<any ProgressDisplay>(makeDisplay())
    for warning in shown(pipeline.warnings).all { display.withLock { $0.show(warning) } }
    let manager = ServiceManager()
    let interrupts = Interrupts(run) { step in
      manager.tell(.stopping)
      display.withLock { display in
        switch step {
        case .first: display.note("completing the output; press Ctrl-C again to stop at once")
        case .second: display.note("stopping; press Ctrl-C again to leave without waiting")
        case .last:
          display.end()
          for path in run.incompletePaths { display.show(KeptRecording(path)) }
        }
      }
    }
    let watching = Task {
      var status = ServiceStatus(manager)
      for await event in run.events {
        status.note(event)
        display.withLock { display in
          switch event {
          // Once a run has been stopped, only what it still has to do matters.
          case .progress(let progress)
          where !quiet && (json || interrupts.exitCode == nil || progress.framesLeft != nil):
            display.show(progress)
          case .progress: break
          case .warning(let warning):
            for warning in shown(Diagnostics([warning])).all { display.show(warning) }
          case .kept(let path): display.show(KeptRecording(path))
          case .segment(let segment): display.show(segment)
          case .silence(let pad, let isSilent): display.show(silent: isSilent, pad: pad)
          }
        }
      }
    }
    let result: Result<PipelineRun.Summary, any Error>
    do { result = .success(try await run.run()) } catch { result = .failure(error) }
    await watching.value
    display.withLock { $0.end() }
    writeGraph(run.graphAtEnd)
    switch result {
    case .success(let summary):
      show(summary)
      // Service managers end streams that have no end of their own by SIGTERM, which is no failure.
      if let code = interrupts.exitCode, code == .interrupted || summary.isCutShort {
        throw code
      }
    case .failure(let error):
      guard let failure = error as? RunFailure else { throw error }
      report(failure.diagnostics)
      report(
        KeptRecording.worthwhile(
          failure.kept, isRepeatable: failure.kind == .failed && run.readsOnlyFiles))
      throw failure.kind == .aborted
        ? interrupts.exitCode ?? .interrupted : failure.exitCode
    }
  }

  private func makeDisplay() -> any ProgressDisplay {
    if json { return ProgressEvents(terminal: .output) }
    return Terminal.error.isInteractive ? ProgressBar(.error) : ProgressLines(.error)
  }

  /// Returns the diagnostics without places in files that the user has not written.
  private func shown(_ diagnostics: Diagnostics) -> Diagnostics {
    verbose || json ? diagnostics : diagnostics.withoutPlaces(in: Installation.pipelines)
  }

  private func report(_ diagnostics: Diagnostics) {
    guard json else { return shown(diagnostics).print() }
    for diagnostic in diagnostics.all {
      Terminal.output.line(
        JSON.object([
          ("event", .string(diagnostic.severity.rawValue)), ("diagnostic", JSON(diagnostic)),
        ]).line)
    }
  }

  private func report(_ kept: [KeptRecording]) {
    for file in kept {
      if json {
        Terminal.output.line(JSON.object(file.fields).line)
      } else {
        Terminal.error.line(file.text)
      }
    }
  }

  private func show(_ summary: PipelineRun.Summary) {
    if json {
      let outputs = JSON.array(summary.outputs.map { .string($0) })
      Terminal.output.line(
        JSON.object(
          [("event", "end"), ("stopped", .bool(summary.wasStopped)), ("outputs", outputs)]
            + summary.progress.fields
        ).line)
    } else if !quiet {
      Terminal.error.line(summary.text)
    }
  }

  private func writeGraph(_ graph: String?) {
    guard let dot, let graph else { return }
    let file = open(dot, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else {
      Terminal.error.line(
        "warning: '\(dot)' cannot be written: \(String(cString: strerror(errno)))")
      return
    }
    Terminal(descriptor: file).write(graph)
    close(file)
  }

  private func describe(_ pipeline: HostedPipeline) {
    shown(pipeline.warnings).print()
    if json {
      let outputs = JSON.array(pipeline.outputPaths.map { .string($0) })
      Terminal.output.line(JSON.object([("event", "dry-run"), ("outputs", outputs)]).line)
    } else {
      Terminal.output.write(pipeline.graph.explanation())
      for path in pipeline.outputPaths { Terminal.output.line("# would write \(path)") }
    }
  }
}

extension RunFailure {
  /// The exit code of a run that fails so.
  var exitCode: ExitCode {
    switch kind {
    case .wouldOverwrite: .wouldOverwrite
    case .notBuilt: .mistakes
    case .failed: isPermanent ? .mistakes : .runFailed
    case .frozen: .frozen
    case .aborted: .interrupted
    }
  }
}

extension PipelineRun.Summary {
  /// A summary in one line.
  fileprivate var text: String {
    let written = outputs + patterns
    var text = written.isEmpty ? "done" : written.joined(separator: ", ")
    if let position = progress.position {
      text += ": \(NumberFormat.decimal(position.seconds, 1)) s"
      if wasStopped, let whole = progress.duration, whole > position {
        text += " of \(NumberFormat.decimal(whole.seconds, 1)) s"
      }
      text += " of video"
    }
    text += " in \(NumberFormat.decimal(progress.elapsed.seconds, 1)) s"
    var facts: [String] = []
    if let speed = progress.speed { facts.append("\(NumberFormat.decimal(speed, 2))x") }
    if let rate = progress.framesPerSecond { facts.append("\(NumberFormat.decimal(rate, 1)) fps") }
    if progress.bytes > 0 { facts.append(NumberFormat.size(progress.bytes)) }
    return text + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
      + (wasStopped ? ", ended early" : "")
  }
}
