// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// A movie that is being decoded: gives its frames, or its sound, one after the other as it is asked.
///
/// One task at a time asks. The sinks of the pipeline are the queue, and block what is upstream. With
/// the last reference to it, the pipeline goes.
final class Decode: Sendable {
  /// A frame's pictures.
  struct Frame: Sendable {
    /// That of the left and that of the right eye, or the only one.
    let pictures: [Picture]
    /// On the movie's time line.
    let time: ClockTime
    let duration: ClockTime?
  }

  private let path: String
  private let pipeline: Pipeline
  private let sinks: [AppSink]
  private let waker = Waker()
  private let problem: PipelineProblem
  private let skipsUnpaired: Bool
  private let pairs: Locked<PairMatcher<AppSink.Sample>>

  /// Builds the pipeline and starts it.
  ///
  /// - Throws: a ``StereoMediaError`` where it cannot be built.
  init(
    _ source: MovieSource, _ graph: DecodeGraph, depth: Int, skipsUnpaired: Bool
  ) throws {
    path = source.name
    problem = PipelineProblem(source.name)
    self.skipsUnpaired = skipsUnpaired
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: "source")?.set("location", parsing: source.path)
      var settings = AppSink.Settings()
      settings.depth = depth
      sinks = graph.sinks.compactMap { [waker] name in
        pipeline.element(named: name).map { AppSink($0, settings, waker: waker) }
      }
      self.pipeline = pipeline
      pairs = Locked(PairMatcher(eyeCount: sinks.count))
    } catch {
      throw StereoMediaError(building: error)
    }
    problem.listen(to: pipeline, waker)
    pipeline.setState(.playing)
  }

  /// The same, off the threads that tasks share.
  static func start(
    _ source: MovieSource, _ content: DecodeGraph.Content, _ conversion: DecodeGraph.Conversion,
    packing: PackingLayout? = nil, depth: Int, skipsUnpaired: Bool = false
  ) async throws -> Decode {
    try await Engine.start()
    let graph = try DecodeGraph(source, content, conversion, packing: packing)
    return try await Blocking.run {
      try Decode(source, graph, depth: depth, skipsUnpaired: skipsUnpaired)
    }
  }

  deinit {
    let (pipeline, sinks) = (pipeline, sinks)
    // Waits for the streaming threads. What they call lives as long.
    Blocking.start { withExtendedLifetime(sinks) { pipeline.end() } }
  }

  /// Stops everything, and waits for that.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }

  /// The next frame; nil behind the last one.
  ///
  /// - Throws: a ``StereoMediaError``; `CancellationError` where the task is cancelled.
  func next() async throws -> Frame? {
    guard let samples = try await nextSamples(), let first = samples.first else { return nil }
    return Frame(
      pictures: try samples.map { try Picture($0, of: path) }, time: first.streamTime ?? 0,
      duration: first.buffer.duration)
  }

  /// What the sinks give next, one of each.
  func nextSamples() async throws -> [AppSink.Sample]? {
    let start = ContinuousClock.now
    while true {
      let count = waker.count
      try Task.checkCancellation()
      if let samples = try take() { return samples }
      if let error = problem.error { throw error }
      if isOver { return nil }
      try await wait(since: count, start)
    }
  }

  /// Waits until something happens, but no longer than is reasonable: damaged movies may have
  /// elements wait for what never comes.
  private func wait(since count: Int, _ start: ContinuousClock.Instant) async throws {
    let left = Self.patience - (ContinuousClock.now - start)
    guard left > .zero else {
      throw StereoMediaError(
        .stalled, "'\(path)' cannot be read as a movie: nothing came within \(Self.patience)")
    }
    await waker.wait(since: count, atMost: left)
  }

  static let patience = Duration.seconds(20)

  /// What belongs to one time, where all of it is there.
  private func take() throws -> [AppSink.Sample]? {
    try pairs.withLock { pairs in
      while true {
        let (samples, isNew) = try pull(&pairs)
        if let samples { return samples }
        guard isNew else { return nil }
      }
    }
  }

  /// Takes what the sinks have, a picture each at the most. An eye whose next pictures are there while the
  /// other one has none has lost that partner: the sinks would wait for each other for ever.
  private func pull(
    _ pairs: inout PairMatcher<AppSink.Sample>
  ) throws -> (pair: [AppSink.Sample]?, isNew: Bool) {
    var isNew = false
    for (eye, sink) in sinks.enumerated() {
      guard let sample = sink.pull() else { continue }
      isNew = true
      let (lost, time) = (pairs.unpairedCount, sample.streamTime ?? 0)
      let pair = pairs.add(sample, at: time, of: eye)
      if pairs.unpairedCount > lost, !skipsUnpaired {
        throw StereoMediaError(
          .unpairedEyes, "a frame before \(Duration(time)) of '\(path)' has one eye only")
      }
      if let pair { return (pair, true) }
    }
    return (nil, isNew)
  }

  /// Whether a sink that has nothing gets nothing more.
  private var isOver: Bool {
    pairs.withLock { pairs in
      sinks.enumerated().contains { eye, sink in !pairs.isWaiting(eye) && sink.hasEnded }
    }
  }

  /// Goes to a time of the movie: the next frame is the one that is shown there.
  ///
  /// - Parameter end: no frame that begins later comes.
  func seek(to time: ClockTime, end: ClockTime? = nil) async throws {
    var seek = Seek()
    seek.format = .time
    seek.flags = [.flush, .accurate]
    seek.start = .set(Int64(clamping: time))
    seek.stop = end.map { .set(Int64(clamping: $0)) } ?? .set(-1)
    try await waitForData()
    let event = Event.seek(seek)
    let hasGone = try await Blocking.run { [sink = sinks[0]] in sink.push(event) }
    pairs.withLock { $0.clear() }
    if let error = problem.error { throw error }
    guard hasGone else { throw StereoMediaError.decoding(path, "it cannot be searched") }
  }

  /// Elements can be told to go somewhere once data have come through them.
  private func waitForData() async throws {
    if pairs.withLock({ pairs in sinks.indices.contains { pairs.isWaiting($0) } }) { return }
    let start = ContinuousClock.now
    while true {
      let count = waker.count
      try Task.checkCancellation()
      // What is taken here is flushed anyway.
      let isThere = sinks.contains { $0.pull() != nil }
      if isThere || isOver { return }
      if let error = problem.error { throw error }
      try await wait(since: count, start)
    }
  }
}

extension Picture {
  /// What a decoder gave.
  ///
  /// - Parameter path: what messages call the movie.
  convenience init(_ sample: AppSink.Sample, of path: String) throws {
    guard let info = sample.info else {
      throw StereoMediaError.decoding(path, "its decoder gives no pictures in memory")
    }
    self.init(sample.buffer, info)
  }
}

/// A decode that is started when something is asked of it, and stopped behind its end or an error.
struct Decoding {
  private var decode: Decode?
  private var isOver = false

  /// What is next; nil behind the end, and behind an error.
  ///
  /// - Parameters:
  ///   - start: gives the decode; nil where there is nothing to decode.
  ///   - body: takes what is next; nil where nothing more is wanted.
  mutating func next<Value>(
    start: () async throws -> Decode?, _ body: (Decode) async throws -> Value?
  ) async throws -> Value? {
    guard !isOver else { return nil }
    do {
      try Task.checkCancellation()
      if decode == nil { decode = try await start() }
      if let decode, let value = try await body(decode) { return value }
    } catch {
      await end()
      throw error
    }
    await end()
    return nil
  }

  private mutating func end() async {
    isOver = true
    let last = decode.take()
    await last?.close()
  }
}
