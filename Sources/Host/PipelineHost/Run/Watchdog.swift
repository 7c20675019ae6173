// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import PipelineFile

/// Notices when nothing moves, and finds the element that holds the others up.
///
/// It counts how often nothing had moved rather than looking at a clock, which goes on while the
/// machine sleeps.
struct Watchdog {
  private let assembly: GraphAssembly
  /// In seconds.
  private let limit: Double?
  private var quiet = 0.0
  /// What has come through each link, by its position, and through which nothing came lately.
  private var counts: [Int: Int] = [:]
  private var still: Set<Int> = []

  init(_ assembly: GraphAssembly) {
    self.assembly = assembly
    limit = assembly.graph.run.watchdog.map { Double($0) * 1e-9 }
  }

  /// To be called now and then with the links as they are.
  mutating func look(at meters: [LinkMeter]) {
    still = Set(meters.filter { counts[$0.link] == $0.buffers }.map(\.link))
    counts = Dictionary(meters.map { ($0.link, $0.buffers) }) { first, _ in first }
  }

  /// What to say where nothing has moved for as long as the file allows.
  ///
  /// - Parameter interval: since the last call, in seconds of a machine that was awake.
  mutating func complaint(_ state: Activity.State, interval: Double) -> Diagnostic? {
    guard let limit else { return nil }
    quiet = state == .moves ? 0 : quiet + interval
    guard quiet >= limit else { return nil }
    let (element, isSource) = culprit ?? (0, true)
    let title = assembly.graph.elements[element].title
    return Diagnostic(
      .error,
      "nothing has moved for \(limit) s: \(title) "
        + (isSource ? "gives nothing" : "does not get on"),
      at: assembly.graph.elements[element].location,
      help: "the limit is 'watchdog' in 'run'")
  }

  /// What to say where a stream did not end when it was told to.
  var cut: Diagnostic? {
    guard let (element, isSource) = culprit else { return nil }
    let title = assembly.graph.elements[element].title
    return Diagnostic(
      .warning,
      "\(title) \(isSource ? "gives nothing" : "does not get on"): the output ends with what had "
        + "come through",
      at: assembly.graph.elements[element].location)
  }

  /// A source that gives nothing, though it has not ended, or else the element that a source's
  /// data does not get beyond.
  private var culprit: (element: Int, isSource: Bool)? {
    let meters = assembly.state.withLock { $0.meters }
    let targets = Set(assembly.graph.links.map(\.sink.element))
    let sources = assembly.graph.links.map(\.source.element).filter { !targets.contains($0) }
    let ends = sources.map { end(of: $0, meters) }
    let silent = zip(sources, ends).first { source, end in
      source == end
        && meters.allSatisfy { meter in
          assembly.graph.links[meter.link].source.element != source
            || still.contains(meter.link) && !meter.hasEnded
        }
    }
    if let silent { return (silent.0, true) }
    return zip(sources, ends).first { $0 != $1 }.map { ($0.1, false) }
  }

  /// Where a buffer is being pushed, the element behind is the one that holds it; an element that
  /// pushes nothing holds up those behind it.
  private func end(of source: Int, _ meters: [LinkMeter]) -> Int {
    let links = assembly.graph.links
    var element = source
    var seen: Set<Int> = []
    while seen.insert(element).inserted,
      let busy = meters.first(where: { links[$0.link].source.element == element && $0.isBusy })
    {
      element = links[busy.link].sink.element
    }
    return element
  }
}

extension LinkMeter {
  /// A buffer or an event is being pushed through the link.
  fileprivate var isBusy: Bool { pad.peer?.isStreaming ?? false }

  /// The end of the stream has passed the link.
  fileprivate var hasEnded: Bool { pad.hasEnded }
}

/// Tells whether a graph has got on since the last time it was asked.
struct Activity {
  private var buffers = -1
  private var bytes = -1
  private var work = 0.0

  enum State {
    case moves
    /// Nothing has come through, but the process works: an encoder may be at it.
    case works
    case rests
  }

  /// - Parameters:
  ///   - bytes: that are written so far.
  ///   - interval: since the last call, in seconds of a machine that was awake.
  mutating func state(_ meters: [LinkMeter], bytes: Int, interval: Double) -> State {
    let buffers = meters.reduce(0) { $0 &+ $1.buffers }
    let work = Self.processorTime
    defer { (self.buffers, self.bytes, self.work) = (buffers, bytes, work) }
    if buffers != self.buffers || bytes != self.bytes { return .moves }
    return work - self.work > interval / 4 ? .works : .rests
  }

  /// That the process has used, in seconds.
  private static var processorTime: Double {
    var usage = rusage()
    guard getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
    return [usage.ru_utime, usage.ru_stime].reduce(0) {
      $0 + Double($1.tv_sec) + Double($1.tv_usec) * 1e-6
    }
  }
}
