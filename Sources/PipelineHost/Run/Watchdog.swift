internal import GStreamer
internal import PipelineFile

/// Notices when nothing moves, and finds the element that holds the others up.
struct Watchdog {
  private let assembly: GraphAssembly
  private let limit: Duration?
  private var lastCount = -1
  private var lastMove = ContinuousClock.now

  init(_ assembly: GraphAssembly) {
    self.assembly = assembly
    limit = assembly.graph.run.watchdog.map { .nanoseconds($0) }
  }

  /// What to say where nothing has moved for as long as the file allows.
  mutating func complaint() -> Diagnostic? {
    guard let limit else { return nil }
    let meters = assembly.state.withLock { $0.meters }
    let count = meters.reduce(0) { $0 &+ $1.buffers }
    if count != lastCount {
      lastCount = count
      lastMove = .now
      return nil
    }
    guard lastMove.duration(to: .now) >= limit else { return nil }
    let (element, isSource) = culprit(meters)
    let title = assembly.graph.elements[element].title
    let seconds = Double(limit.components.seconds) + Double(limit.components.attoseconds) * 1e-18
    return Diagnostic(
      .error,
      "nothing has moved for \(seconds) s: \(title) "
        + (isSource ? "gives nothing" : "does not get on"),
      at: assembly.graph.elements[element].location,
      help: "the limit is 'watchdog' in 'run'")
  }

  /// Where a buffer is being pushed, the element behind is the one that holds it; an element that
  /// pushes nothing holds up those behind it.
  private func culprit(_ meters: [LinkMeter]) -> (element: Int, isSource: Bool) {
    let links = assembly.graph.links
    let targets = Set(links.map(\.sink.element))
    var element = links.first { !targets.contains($0.source.element) }?.source.element ?? 0
    var isSource = true
    var seen: Set<Int> = []
    while seen.insert(element).inserted,
      let busy = meters.first(where: { links[$0.link].source.element == element && $0.isBusy })
    {
      element = links[busy.link].sink.element
      isSource = false
    }
    return (element, isSource)
  }
}

extension LinkMeter {
  /// A buffer or an event is being pushed through the link.
  fileprivate var isBusy: Bool { pad.peer?.isStreaming ?? false }
}
