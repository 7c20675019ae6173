// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// A pipeline that decodes a movie's frames or audio on demand.
///
/// It serves one task at a time. The sinks act as its queue and block the upstream elements when
/// they are full. Releasing the last reference stops the pipeline.
final class Decode: Sendable {
  /// The pictures of a frame.
  struct Frame: Sendable {
    /// Those of the left and the right eye, or a single one.
    let pictures: [Picture]
    /// Presentation time on the movie's timeline.
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

  /// Builds and starts the pipeline.
  ///
  /// - Throws: a ``StereoMediaError`` if it cannot be built.
  init(
    _ source: MovieSource, _ graph: DecodeGraph, depth: Int, skipsUnpaired: Bool
  ) throws {
    path = source.name
    problem = PipelineProblem(source.name)
    self.skipsUnpaired = skipsUnpaired
    let file = try source.currentPath()
    do {
      let pipeline = try Pipeline(parsing: graph.line)
      try pipeline.element(named: "source")?.set("location", parsing: file)
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

  /// Builds and starts the pipeline outside the concurrency pool.
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
    // Waits for the streaming threads, so the objects that they call have to live until then.
    Blocking.start { withExtendedLifetime(sinks) { pipeline.end() } }
  }

  /// Stops the pipeline and waits until it has stopped.
  func close() async {
    let pipeline = pipeline
    try? await Blocking.run { pipeline.end() }
  }

  /// Returns the next frame; nil after the last one.
  ///
  /// - Throws: a ``StereoMediaError``; `CancellationError` if the task is cancelled.
  func next() async throws -> Frame? {
    guard let samples = try await nextSamples(), let first = samples.first else { return nil }
    return Frame(
      pictures: try samples.map { try Picture($0, of: path) }, time: first.streamTime ?? 0,
      duration: first.buffer.duration)
  }

  /// Returns the next samples, one from each sink; nil at the end.
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

  /// Waits for the next event, up to a time limit: a damaged movie may make elements wait for ever.
  private func wait(since count: Int, _ start: ContinuousClock.Instant) async throws {
    let left = Self.patience - (ContinuousClock.now - start)
    guard left > .zero else {
      throw StereoMediaError(
        .stalled, "'\(path)' cannot be read as a movie: no frame arrived within \(Self.patience)")
    }
    await waker.wait(since: count, atMost: left)
  }

  static let patience = Duration.seconds(20)

  /// Returns samples of the same time, one from each sink; nil if some have not arrived.
  private func take() throws -> [AppSink.Sample]? {
    try pairs.withLock { pairs in
      while true {
        let (samples, isNew) = try pull(&pairs)
        if let samples { return samples }
        guard isNew else { return nil }
      }
    }
  }

  /// Pulls at most one sample from each sink. If one eye runs ahead while the other sink is empty,
  /// the missing partner is lost: waiting for it would block both sinks for ever.
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
          .unpairedEyes, "a frame before \(time.duration) of '\(path)' has only one eye")
      }
      if let pair { return (pair, true) }
    }
    return (nil, isNew)
  }

  /// Whether a sink without waiting samples has reached its end.
  private var isOver: Bool {
    pairs.withLock { pairs in
      sinks.enumerated().contains { eye, sink in !pairs.isWaiting(eye) && sink.hasEnded }
    }
  }

  /// Seeks to the frame that is shown at a time of the movie.
  ///
  /// - Parameter end: the stop position; no later frame is returned.
  func seek(to time: ClockTime, end: ClockTime? = nil) async throws {
    var seek = Seek()
    seek.format = .time
    seek.flags = [.flush, .accurate]
    seek.start = .at(time)
    seek.stop = end.map { .at($0) } ?? .set(-1)
    try await waitForData()
    let event = Event.seek(seek)
    let isSent = try await Blocking.run { [sink = sinks[0]] in sink.push(event) }
    pairs.withLock { $0.clear() }
    if let error = problem.error { throw error }
    guard isSent else { throw StereoMediaError.decoding(path, "seeking is not possible") }
  }

  /// Waits for the first samples, as the elements accept seeks only after that.
  private func waitForData() async throws {
    if pairs.withLock({ pairs in sinks.indices.contains { pairs.isWaiting($0) } }) { return }
    let start = ContinuousClock.now
    while true {
      let count = waker.count
      try Task.checkCancellation()
      // The seek flushes the samples that are dropped here.
      let isThere = sinks.contains { $0.pull() != nil }
      if isThere || isOver { return }
      if let error = problem.error { throw error }
      try await wait(since: count, start)
    }
  }
}

extension Picture {
  /// Creates a picture from a decoder's output.
  ///
  /// - Parameter path: the movie's path, for messages.
  convenience init(_ sample: AppSink.Sample, of path: String) throws {
    guard let info = sample.info else {
      throw StereoMediaError.decoding(path, "its decoder does not output pictures in system memory")
    }
    self.init(sample.buffer, info)
  }
}

/// A decode that starts on first use and stops at its end or after an error.
struct Decoding {
  private var decode: Decode?
  private var isOver = false

  /// Returns the next value; nil at the end and after an error.
  ///
  /// - Parameters:
  ///   - start: creates the decode; returns nil if there is nothing to decode.
  ///   - body: reads the next value; returns nil if no more are wanted.
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

/// Pairs samples of the eyes by their times. The eyes may arrive one after the other or from
/// different threads.
package struct PairMatcher<Sample> {
  private var waiting: [[(time: ClockTime, sample: Sample)]]
  /// Number of samples that were dropped without a partner.
  package private(set) var unpairedCount = 0

  /// Maximum number of samples that wait for each eye; older ones are dropped.
  private static var limit: Int { 3 }

  package init(eyeCount: Int) {
    waiting = Array(repeating: [], count: eyeCount)
  }

  /// Adds the next sample of an eye; returns one sample of each eye if this one completes a pair.
  package mutating func add(_ sample: Sample, at time: ClockTime, of eye: Int) -> [Sample]? {
    waiting[eye].append((time, sample))
    let places = waiting.map { samples in samples.firstIndex { $0.time == time } }
    guard !places.contains(nil) else {
      if waiting[eye].count > Self.limit { drop(1, of: eye) }
      return nil
    }
    return places.enumerated().compactMap { eye, place in
      guard let place else { return nil }
      drop(place, of: eye)
      return waiting[eye].removeFirst().sample
    }
  }

  /// Returns whether samples of an eye wait for their partners.
  func isWaiting(_ eye: Int) -> Bool { !waiting[eye].isEmpty }

  /// Drops all waiting samples.
  package mutating func clear() {
    for eye in waiting.indices { waiting[eye] = [] }
  }

  private mutating func drop(_ count: Int, of eye: Int) {
    waiting[eye].removeFirst(count)
    unpairedCount += count
  }
}
