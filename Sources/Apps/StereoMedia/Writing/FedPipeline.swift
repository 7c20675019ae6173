// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// A pipeline that takes what a program gives by some `appsrc`s. It goes with the last reference to it.
final class FedPipeline: Sendable {
  let waker: Waker
  let problem: PipelineProblem
  private let pipeline: Pipeline
  private let sources: [AppSource]

  /// Starts a pipeline, for threads that may block.
  ///
  /// - Parameters:
  ///   - sources: the names of the `appsrc`s.
  ///   - depth: how many buffers may wait in each.
  ///   - waker: wakes who waits for room, or for what happens in the pipeline.
  init(
    _ pipeline: Pipeline, sources: [String], depth: Int, problem: PipelineProblem,
    waker: Waker = Waker()
  ) {
    self.pipeline = pipeline
    self.sources = sources.compactMap { name in
      pipeline.element(named: name).map {
        AppSource($0, depth: depth, AppSource.Callbacks(needData: waker.wake))
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

  /// Some of the sources, by their positions.
  func input(_ positions: Range<Int>) -> Input {
    Input(sources: sources[positions.clamped(to: sources.indices)], problem: problem)
  }

  /// All sources.
  var input: Input { input(sources.indices) }

  /// Sources that are given a buffer each.
  struct Input: Sendable {
    fileprivate let sources: ArraySlice<AppSource>
    fileprivate let problem: PipelineProblem

    /// Says what the buffers from now on are, source by source.
    func setCaps(_ caps: [Caps]) {
      for (source, caps) in zip(sources, caps) { source.setCaps(caps) }
    }

    /// Whether there is room for one buffer more of each.
    var wantsMore: Bool { sources.allSatisfy(\.wantsMore) }

    /// Whether what was given has been taken.
    var isEmpty: Bool { sources.allSatisfy(\.isEmpty) }

    /// Gives a buffer to each.
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

    /// Says that nothing more comes.
    func end() {
      for source in sources { source.end() }
    }
  }

  /// Stops everything, and waits for that.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }
}
