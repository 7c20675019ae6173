// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import Glibc
internal import PipelineFile

/// Detects that there is no progress, and finds the element that blocks the others.
///
/// It adds up the time between ticks without progress, without the time that the machine sleeps.
struct Watchdog {
  private let assembly: GraphAssembly
  /// Time limit in seconds; nil for none.
  private let limit: Double?
  private var quiet = 0.0
  /// Number of buffers seen on each link, by index.
  private var counts: [Int: Int] = [:]
  /// Links without new buffers since the last call.
  private var still: Set<Int> = []
  /// Time in seconds for which sources have given nothing while others did.
  private var silence: [Int: Double] = [:]

  init(_ assembly: GraphAssembly) {
    self.assembly = assembly
    limit = assembly.graph.run.watchdog.map { Double($0) * 1e-9 }
  }

  /// Records the state of the links; call it periodically.
  mutating func look(at meters: [LinkMeter]) {
    still = Set(meters.filter { counts[$0.link] == $0.buffers }.map(\.link))
    counts = Dictionary(meters.map { ($0.link, $0.buffers) }) { first, _ in first }
  }

  /// The part of the time that counts while the process uses the CPU: the first picture of a slow
  /// encoder, or of a busy machine, may take longer than the limit, and what computes without end
  /// is found all the same.
  private static let workingShare = 0.1

  /// Returns an error if there was no progress for as long as the file allows, or ten times as long
  /// if the process was at work.
  ///
  /// - Parameter interval: time since the last call, in seconds, without the time that the machine
  ///   slept.
  mutating func complaint(_ state: Activity.State, interval: Double) -> Diagnostic? {
    guard let limit else { return nil }
    switch state {
    case .moves: quiet = 0
    case .works: quiet += interval * Self.workingShare
    case .rests: quiet += interval
    }
    guard quiet >= limit else { return nil }
    let (element, isSource) = culprit ?? (0, true)
    let title = assembly.graph.elements[element].title
    return Diagnostic(
      .error,
      "no progress for \(limit) s: \(title) "
        + (isSource ? "produces no data" : "is blocked"),
      at: assembly.graph.elements[element].location,
      help: "the limit is 'watchdog' in 'run'")
  }

  /// Returns warnings of the sources that have given nothing for as long as the file allows while
  /// others did, once for each silence. What is done about it is up to the elements.
  ///
  /// - Parameter interval: time since the last call, in seconds.
  mutating func silentSources(_ state: Activity.State, interval: Double) -> [Diagnostic] {
    guard let limit, state == .moves else { return [] }
    let meters = assembly.state.withLock { $0.meters }
    return sources.compactMap { source in
      // A source that is pulled from moves nothing through its link.
      let mine = meters.filter {
        assembly.graph.links[$0.link].source.element == source && $0.buffers > 0
      }
      let isSilent =
        !mine.isEmpty && mine.allSatisfy { still.contains($0.link) && !$0.hasEnded }
        && end(of: source, meters) == source
      guard isSilent else {
        silence[source] = nil
        return nil
      }
      let before = silence[source, default: 0]
      silence[source] = before + interval
      guard before < limit, before + interval >= limit else { return nil }
      let element = assembly.graph.elements[source]
      return Diagnostic(
        .warning, "\(element.title) produced no data for \(limit) s, while others did",
        at: element.location, help: "the limit is 'watchdog' in 'run'")
    }
  }

  /// A warning about a stream that did not end when it was told to.
  var cut: Diagnostic? {
    guard let (element, isSource) = culprit else { return nil }
    let title = assembly.graph.elements[element].title
    return Diagnostic(
      .warning,
      "\(title) \(isSource ? "produces no data" : "is blocked"): the output ends with the data "
        + "received so far",
      at: assembly.graph.elements[element].location)
  }

  /// A source that produces no data although it has not ended, or else the element that does not
  /// pass on the data of a source.
  private var culprit: (element: Int, isSource: Bool)? {
    let meters = assembly.state.withLock { $0.meters }
    let sources = self.sources
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

  /// The elements without links to them, each once.
  private var sources: [Int] {
    let targets = Set(assembly.graph.links.map(\.sink.element))
    return Set(assembly.graph.links.map(\.source.element)).subtracting(targets).sorted()
  }

  /// Returns the element that blocks a source: while a buffer is being pushed, the element
  /// downstream of it is the one that holds it up.
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
  /// Whether a buffer or an event is being pushed through the link.
  fileprivate var isBusy: Bool { pad.peer?.isStreaming ?? false }

  /// Whether the end of the stream has passed the link.
  fileprivate var hasEnded: Bool { pad.hasEnded }
}

/// Determines whether a graph has made progress since the last call.
struct Activity {
  private var buffers = -1
  private var bytes = -1
  private var demand = CPUDemand()

  enum State {
    case moves
    /// No data has come through, but the process is using the CPU: an encoder may be at work.
    case works
    case rests
  }

  /// Returns the activity since the last call.
  ///
  /// - Parameters:
  ///   - bytes: number of bytes written so far.
  ///   - interval: time since the last call, in seconds, without the time that the machine slept.
  mutating func state(_ meters: [LinkMeter], bytes: Int, interval: Double) -> State {
    let buffers = meters.reduce(0) { $0 &+ $1.buffers }
    let seconds = demand.secondsSinceLastCall()
    defer { (self.buffers, self.bytes) = (buffers, bytes) }
    if buffers != self.buffers || bytes != self.bytes { return .moves }
    return seconds > interval / 4 ? .works : .rests
  }
}

/// The time for which threads of this process ran or waited for a CPU. Unlike the CPU time, it does
/// not shrink when other processes keep the machine busy.
private struct CPUDemand {
  /// Nanoseconds so far, by thread ID.
  private var threads: [Int32: UInt64] = [:]

  /// Returns the sum over all threads, in seconds.
  mutating func secondsSinceLastCall() -> Double {
    let now = Self.current ?? Self.processTime
    defer { threads = now }
    let nanoseconds = now.reduce(0.0) { sum, thread in
      let before = threads[thread.key] ?? 0
      return sum + (thread.value > before ? Double(thread.value - before) : 0)
    }
    return nanoseconds * 1e-9
  }

  /// Nil where the kernel does not tell how long threads wait for a CPU.
  private static var current: [Int32: UInt64]? {
    let path = "/proc/self/task"
    guard let folder = opendir(path) else { return nil }
    defer { closedir(folder) }
    var threads: [Int32: UInt64] = [:]
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard let thread = Int32(name), let time = time(at: "\(path)/\(name)/schedstat") else {
        continue
      }
      threads[thread] = time
    }
    return threads.isEmpty ? nil : threads
  }

  /// Returns the time on a CPU and the time waiting for one, the first two numbers of the file.
  private static func time(at path: String) -> UInt64? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return nil }
    let numbers = String(
      decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self
    )
    .split(separator: " ").prefix(2).compactMap { UInt64($0) }
    return numbers.count == 2 ? numbers[0] &+ numbers[1] : nil
  }

  /// The CPU time of the whole process, as that of one thread.
  private static var processTime: [Int32: UInt64] {
    var time = timespec()
    guard clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0 else { return [:] }
    return [0: UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))]
  }
}
