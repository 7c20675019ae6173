// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import GStreamerApp

/// A pipeline that takes pictures by one `appsrc` or two. It goes with the last reference to it.
final class FedPipeline: Sendable {
  let waker: Waker
  let problem: PipelineProblem
  private let pipeline: Pipeline
  private let sources: [AppSource]

  /// Starts a pipeline, for threads that may block.
  ///
  /// - Parameters:
  ///   - sources: the names of the `appsrc`s, and what comes from each.
  ///   - depth: how many pictures may wait in each.
  ///   - waker: wakes who waits for room, or for what happens in the pipeline.
  init(
    _ pipeline: Pipeline, sources: [(name: String, caps: Caps)], depth: Int,
    problem: PipelineProblem, waker: Waker = Waker()
  ) {
    self.pipeline = pipeline
    self.sources = sources.compactMap { name, caps in
      pipeline.element(named: name).map {
        let source = AppSource($0, depth: depth, AppSource.Callbacks(needData: waker.wake))
        source.setCaps(caps)
        return source
      }
    }
    (self.waker, self.problem) = (waker, problem)
    problem.listen(to: pipeline, waker)
    pipeline.setState(.playing)
  }

  deinit {
    let (pipeline, sources) = (pipeline, sources)
    // Waits for the streaming threads. What they call lives as long.
    Blocking.start { withExtendedLifetime(sources) { pipeline.end() } }
  }

  /// Whether there is room for one picture more of each source.
  var wantsMore: Bool { sources.allSatisfy(\.wantsMore) }

  /// Gives a buffer to each source.
  ///
  /// - Throws: what the pipeline has reported, or else an error that says `failure`.
  func push(_ buffers: [Buffer], failure: StereoMediaError) throws {
    for (source, buffer) in zip(sources, buffers) {
      do {
        try source.push(buffer)
      } catch {
        throw problem.error ?? failure
      }
    }
  }

  /// Says that no more pictures come.
  func endInput() {
    for source in sources { source.end() }
  }

  /// Stops everything, and waits for that.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }
}
