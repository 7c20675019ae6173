// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import GStreamerApp

/// A movie that is being encoded and written: takes frames as fast as they are worked off.
///
/// One task at a time gives. With the last reference to it, the pipeline goes.
final class Encode: Sendable {
  private let pipeline: Pipeline
  /// That of the left and that of the right eye, or of the only picture.
  private let sources: [AppSource]
  private let waker = Waker()
  private let problem: PipelineProblem
  private let isClosed = Locked(false)

  /// How many frames wait for the encoder.
  private static let depth = 2

  /// Builds the pipeline and starts it, for threads that may block.
  ///
  /// - Parameters:
  ///   - path: what messages call the file.
  ///   - file: where it is written.
  ///   - caps: what the pictures are.
  init(
    _ path: String, _ graph: WriterGraph, file: String, sound: String?, caps: Caps
  ) throws {
    problem = PipelineProblem(path, .writing)
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: WriterGraph.sink)?.set("location", parsing: file)
      if let sound { try pipeline.element(named: "sound")?.set("location", parsing: sound) }
      for (element, name, value) in graph.properties {
        try pipeline.element(named: element)?.set(name, parsing: value)
      }
      sources = graph.sources.compactMap { [waker] name in
        pipeline.element(named: name).map {
          let source = AppSource($0, depth: Self.depth, waker: waker)
          source.setCaps(caps)
          return source
        }
      }
      self.pipeline = pipeline
    } catch {
      throw StereoMediaError(building: error)
    }
    problem.listen(to: pipeline, waker)
    pipeline.setState(.playing)
  }

  deinit {
    let (pipeline, sources) = (pipeline, sources)
    // Waits for the streaming threads. What they call lives as long.
    Blocking.start { withExtendedLifetime(sources) { pipeline.end() } }
  }

  /// Stops everything, and waits for that. Who waits in another function gets an error.
  func close() async {
    let pipeline = pipeline
    isClosed.withLock { $0 = true }
    waker.wake()
    try? await Blocking.run { pipeline.end() }
  }

  /// Gives the pictures of a frame, once there is room for them.
  ///
  /// - Throws: a ``StereoMediaError``; `CancellationError`, before anything is given, where the task
  ///   is cancelled.
  func append(_ buffers: [Buffer]) async throws {
    try await wait { sources.allSatisfy(\.wantsMore) }
    for (source, buffer) in zip(sources, buffers) {
      do {
        try source.push(buffer)
      } catch {
        throw problem.error ?? StereoMediaError(.encodingFailed, "a frame cannot be encoded")
      }
    }
  }

  /// Ends the movie: what was given is worked off and the file is finished.
  func finish() async throws {
    for source in sources { source.end() }
    try await wait { problem.hasEnded }
  }

  private func wait(until isDone: () -> Bool) async throws {
    while true {
      waker.clear()
      try Task.checkCancellation()
      if let error = problem.error { throw error }
      if isClosed.withLock({ $0 }) {
        throw StereoMediaError(.invalidInput, "the movie has ended")
      }
      if isDone() { return }
      await waker.wait()
    }
  }
}
