// SPDX-License-Identifier: MPL-2.0

internal import Glibc
package import PipelineFile
package import PipelineHost

/// Joins the parts of a plan: copies their samples, and takes all other tracks and the metadata
/// from the input, in one piece.
package struct MovieJoin: Sendable {
  private let folder: WorkFolder
  private let plan: ConversionPlan

  /// Reads the plan.
  package init(_ folder: WorkFolder) throws(PartError) {
    self.folder = folder
    plan = try folder.plan()
  }

  /// The path of the movie.
  package var output: String { plan.output }

  /// Whether the movie has been joined already.
  package var isDone: Bool { folder.movie(plan) != nil }

  /// The pipeline: the element `parse` of `parts/movie.yaml` reads the input's other tracks.
  private static let pipeline = """
    version: 1
    parameters:
      input: { type: path, required: true }
      output: { type: path, required: true, endings: [mov, mp4] }
      folder: { type: path, required: true }
      head: { type: boolean, default: no }
      first: { type: path, required: true }
    include:
      - { file: parts/movie.yaml, inherit: all }
    elements:
      first-part: { type: filesrc, location: "${first}" }
      demux: { type: mvhevcdemux }
      join: { type: partjoiner, folder: "${folder}", head: "${head}" }
      mux: { type: mvhevcmux, container: "${output.extension}" }
      sink: { type: filesink, location: "${output}" }
    links:
      - first-part -> demux
      - "parse[video/*; image/*] -> queue -> join.start"
      - demux.video_0 -> join.sink
      - join -> queue -> mux.video_%u
      - mux -> sink
    run: { watchdog: 60s }
    """

  /// Writes the movie.
  ///
  /// - Parameters:
  ///   - pipelines: the folder of the ready pipelines.
  ///   - registry: the installed elements.
  ///   - overwrites: whether an existing movie is replaced.
  ///   - keepsParts: whether the parts stay.
  ///   - warn: called with the warnings of the run, such as tracks that are left out.
  /// - Throws: a ``PartError``, or the ``RunFailure`` or ``PipelineProblems`` of the pipeline.
  package func run(
    pipelines: String, _ registry: InstalledElements, overwrites: Bool, keepsParts: Bool,
    warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws {
    let key = try plan.key
    try checkParts(key)
    guard overwrites || SmallFiles.size(of: plan.output) == nil else {
      throw PartError(
        .exists, "'\(plan.output)' already exists", help: "use --force to replace it")
    }
    let start = ContinuousClock.now
    try await play(to: plan.output, pipelines, registry, overwrites: overwrites, warn: warn)
    let receipt = PartReceipt(
      key: key, hash: "", size: SmallFiles.size(of: plan.output) ?? 0,
      pictureCount: plan.pictures.count, coreSeconds: 0,
      seconds: start.duration(to: .now) / .seconds(1), finished: Int64(time(nil)),
      host: SmallFiles.owner)
    try SmallFiles.write(
      Array((receipt.json.line + "\n").utf8), to: folder.movieReceipt)
    if !keepsParts { folder.removeParts() }
  }

  /// Writes ``WorkFolder/headFile``, unless it is there: the movie with its first picture alone,
  /// and with all other tracks whole.
  ///
  /// - Parameters: as of ``run(pipelines:_:overwrites:keepsParts:warn:)``.
  func writeHead(
    pipelines: String, _ registry: InstalledElements, warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws {
    try checkParts(try plan.key)
    guard SmallFiles.size(of: folder.headFile) == nil else { return }
    // The muxer takes the container from the name.
    let draft = "\(folder.path)/head.\(SmallFiles.owner).\(plan.outputEnding)"
    defer { SmallFiles.remove(draft) }
    try await play(to: draft, isHead: true, pipelines, registry, overwrites: true, warn: warn)
    try SmallFiles.move(draft, to: folder.headFile)
  }

  /// Runs the pipeline.
  private func play(
    to output: String, isHead: Bool = false, _ pipelines: String, _ registry: InstalledElements,
    overwrites: Bool, warn: @escaping @Sendable (Diagnostic) -> Void
  ) async throws {
    try plan.input.check()
    plan.setCreationTime()
    guard PartJoinerPlugin.isRegistered else {
      throw PartError(.final, "GStreamer refuses the element that joins parts")
    }
    let whole = try HostedPipeline(
      yaml: Self.pipeline, name: pipelines + "/join.yaml",
      arguments: [
        "input": plan.input.path, "output": output, "folder": folder.path,
        "first": folder.partFile(0), "head": isHead ? "yes" : "no",
      ], registry: registry)
    let graph = plan.reading(whole.graph)
    let pipeline = whole.with(plan.isRange ? try limited(graph) : graph)
    var options = PipelineRun.Options()
    options.overwrites = overwrites
    try await PipelineRun(pipeline, options: options).run(warn: warn)
    try SmallFiles.sync(file: output)
  }

  /// Returns the graph with all other tracks limited to the time of the pictures.
  private func limited(_ graph: ResolvedGraph) throws(PartError) -> ResolvedGraph {
    let times = try folder.times(of: plan).times
    let range = plan.pictures
    let until = range.upperBound < times.count ? times[range.upperBound] : nil
    let links = graph.links.indices.filter { index in
      let sink = graph.links[index].sink
      return graph.elements[sink.element].name == "mux" && sink.pad != "video_%u"
    }
    return graph.inserting("timerange", on: links) { _ in
      [("from", "\(times[range.lowerBound])")] + (until.map { [("until", "\($0)")] } ?? [])
    }
  }

  /// Throws if parts are missing.
  private func checkParts(_ key: String) throws(PartError) {
    let missing = plan.cuts.indices.filter { folder.receipt($0, plan, key: key) == nil }
    guard let first = missing.first else { return }
    let names = missing.prefix(10).map(String.init).joined(separator: ", ")
    throw PartError(
      .repeatable,
      missing.count == 1
        ? "part \(names) is missing"
        : "\(missing.count) parts are missing: \(names)\(missing.count > 10 ? ", …" : "")",
      help: "gst-spatial part \(folder.path) \(first)")
  }
}
