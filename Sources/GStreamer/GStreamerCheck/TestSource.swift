// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import Foundation
public import GStreamer

/// A source pad of a test's own, through which the test pushes by hand: in its own thread, or in
/// one of the source.
///
/// It says how late its data is when it is asked, refuses seeks as a camera does, and takes every
/// other event.
public final class TestSource: @unchecked Sendable {
  /// The source pad.
  public let pad: Pad
  /// The sink pad that is fed.
  public let sink: Pad
  private let taken = Awaited(0)
  private let running = Awaited(0)
  /// The kernel's name of the thread that was begun last, below `/proc`.
  private let thread = Locked("")
  private let flow = Locked(FlowReturn.ok)

  /// - Parameters:
  ///   - sink: the pad that is fed.
  ///   - isLive: whether the data comes when it is made, and cannot wait.
  ///   - latency: how late it is.
  /// - Throws: a ``WaitFailure`` if the pad cannot be linked.
  public init(feeding sink: Pad, isLive: Bool = true, latency: ClockTime = 0) throws {
    guard let new = gst_object_ref_sink(gst_pad_new("feed-\(sink.name)", GST_PAD_SRC)) else {
      throw WaitFailure(description: "no pad")
    }
    let pad = Pad(adopting: new.assumingMemoryBound(to: GstPad.self))
    (self.pad, self.sink) = (pad, sink)
    let answer = Unmanaged.passRetained(Latency(isLive: isLive, least: latency))
    gst_pad_set_query_function_full(
      pad.pointer,
      { pad, parent, query in
        guard let pad, let query, query.pointee.type == GST_QUERY_LATENCY,
          let data = pad.pointee.querydata
        else { return gst_pad_query_default(pad, parent, query) }
        let answer = Unmanaged<Latency>.fromOpaque(data).takeUnretainedValue()
        gst_query_set_latency(query, answer.isLive ? 1 : 0, answer.least.cValue, .max)
        return 1
      }, answer.toOpaque(),
      { data in
        if let data { Unmanaged<Latency>.fromOpaque(data).release() }
      })
    gst_pad_set_event_function_full(
      pad.pointer,
      { _, _, event in
        let isSeek = event?.pointee.type == GST_EVENT_SEEK
        gst_event_unref(event)
        return isSeek ? 0 : 1
      }, nil, nil)
    _ = pad.setActive(true)
    // What comes is the test's doing, whether the pad can take it or not.
    guard
      gst_pad_link_full(pad.pointer, sink.pointer, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
    else { throw WaitFailure(description: "the pad \(sink.name) cannot be linked") }
  }

  /// Feeds a pad of an element that is there, or that it makes on request.
  ///
  /// - Throws: a ``WaitFailure`` if the element has no such pad.
  public convenience init(
    feeding element: Element?, _ name: String, isLive: Bool = true, latency: ClockTime = 0
  ) throws {
    guard let sink = element?.staticPad(name) ?? element?.requestPad(name) else {
      throw WaitFailure(description: "there is no pad \(name)")
    }
    try self.init(feeding: sink, isLive: isLive, latency: latency)
  }

  deinit {
    _ = pad.setActive(false)
  }

  private final class Latency: Sendable {
    let isLive: Bool
    let least: ClockTime

    init(isLive: Bool, least: ClockTime) {
      (self.isLive, self.least) = (isLive, least)
    }
  }

  // MARK: Data

  /// Begins a stream: STREAM_START, CAPS, SEGMENT.
  ///
  /// - Parameters:
  ///   - caps: of the buffers; nil for a stream of unknown bytes.
  ///   - segment: by default, running time is what timestamps say.
  public func begin(_ caps: Caps?, _ segment: Segment = Segment()) {
    push(.streamStart(id: "test-\(sink.name)"))
    if let caps { push(.caps(caps)) }
    push(.segment(segment))
  }

  /// Pushes a buffer, which returns when the pad has taken it.
  @discardableResult
  public func push(_ buffer: consuming Buffer) -> FlowReturn {
    let said = pad.push(buffer)
    flow.withLock { $0 = said }
    if said == .ok { taken.change { $0 += 1 } }
    return said
  }

  /// Pushes buffers until one is not taken; gives what was said to the last.
  @discardableResult
  public func push(_ buffers: some Sequence<Buffer>) -> FlowReturn {
    for buffer in buffers {
      let said = push(buffer)
      guard said == .ok else { return said }
    }
    return .ok
  }

  /// Pushes an event; returns false if it was not handled.
  @discardableResult
  public func push(_ event: Event) -> Bool { pad.push(event) }

  /// Ends the stream.
  public func end() { push(.endOfStream) }

  /// Takes the link away: the sink pad has no source.
  public func unlink() { gst_pad_unlink(pad.pointer, sink.pointer) }

  /// The number of buffers that have been taken.
  public var takenCount: Int { taken.current }

  /// The flow return of the last buffer.
  public var lastFlow: FlowReturn { flow.current }

  /// Returns when this number of buffers has been taken.
  public func waitForTaken(_ count: Int) async throws {
    try await taken.wait(for: "taking buffer \(count) at \(sink.name)") { $0 >= count }
  }

  // MARK: Threads

  /// Runs `body` in a thread of the source, for pushes that may have to wait.
  public func run(_ body: @escaping @Sendable (TestSource) -> Void) {
    running.change { $0 += 1 }
    Thread.detachNewThread { [self] in
      let place = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")
      thread.withLock { $0 = place ?? "" }
      body(self)
      running.change { $0 -= 1 }
    }
  }

  /// Whether something that ``run(_:)`` began is under way.
  public var isRunning: Bool { running.current > 0 }

  /// Whether the thread that ``run(_:)`` began last waits in the kernel, for another thread or for
  /// the time.
  /// One that only does not get the processor does not wait.
  public var isWaiting: Bool {
    let status = try? String(contentsOfFile: "/proc/\(thread.current)/stat", encoding: .utf8)
    // The state follows the name, which stands in parentheses.
    return status?.split(separator: ")").last?.hasPrefix(" S") == true
  }

  /// Returns when all that ``run(_:)`` began has ended.
  public func waitForRuns() async throws {
    try await running.wait(for: "the end of the thread that feeds \(sink.name)") { $0 == 0 }
  }
}
