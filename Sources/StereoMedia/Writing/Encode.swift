// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import GStreamerApp

/// A movie that is being encoded and written: takes frames as fast as they are worked off.
///
/// One task at a time gives. With the last reference to it, the pipeline goes.
final class Encode: Sendable {
  private let pipeline: FedPipeline
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
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: WriterGraph.sink)?.set("location", parsing: file)
      if let sound { try pipeline.element(named: "sound")?.set("location", parsing: sound) }
      for (element, name, value) in graph.properties {
        try pipeline.element(named: element)?.set(name, parsing: value)
      }
      self.pipeline = FedPipeline(
        pipeline, sources: graph.sources.map { ($0, caps) }, depth: Self.depth,
        problem: PipelineProblem(path, .writing))
    } catch {
      throw StereoMediaError(building: error)
    }
  }

  /// Stops everything, and waits for that. Who waits in another function gets an error.
  func close() async {
    isClosed.withLock { $0 = true }
    pipeline.waker.wake()
    await pipeline.close()
  }

  /// Gives the pictures of a frame, once there is room for them.
  ///
  /// - Throws: a ``StereoMediaError``; `CancellationError`, before anything is given, where the task
  ///   is cancelled.
  func append(_ buffers: [Buffer]) async throws {
    try await wait { pipeline.wantsMore }
    try pipeline.push(
      buffers, failure: StereoMediaError(.encodingFailed, "a frame cannot be encoded"))
  }

  /// Ends the movie: what was given is worked off and the file is finished.
  func finish() async throws {
    pipeline.endInput()
    try await wait { pipeline.problem.hasEnded }
  }

  private func wait(until isDone: () -> Bool) async throws {
    while true {
      pipeline.waker.clear()
      try Task.checkCancellation()
      if let error = pipeline.problem.error { throw error }
      if isClosed.withLock({ $0 }) {
        throw StereoMediaError(.invalidInput, "the movie has ended")
      }
      if isDone() { return }
      await pipeline.waker.wait()
    }
  }
}
