// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Foundation
import GStreamer
import GStreamerCheck
import TestKit
import Testing

/// What one of the threads that feed an element does next.
enum Step: Sendable {
  case event(Event)
  case buffer(Buffer)
  case act(@Sendable () -> Void)
}

/// One element alone in a pipeline: its sink pads are fed by the test, each in a thread of its own,
/// and what its source pads give is recorded.
final class Stage: Sendable {
  /// How a run ended.
  struct Outcome {
    /// The first error that was posted; nil where the stream came to its end.
    var failure: PipelineFailure?
    var messages: [Message] = []
    /// What each sink pad said to its buffers, by its name.
    var flows: [String: [FlowReturn]] = [:]
  }

  let pipeline = Pipeline()
  let element: Element
  /// The test's own source pads, by the names of the sink pads that they feed.
  let feeds: [String: Pad]
  /// How many of the element and its pads are alive.
  let alive = Awaited(0)
  private let taps = Locked<[String: Tap]>([:])
  private let upstreamTaps: [String: Tap]
  private let flows = Locked<[String: [FlowReturn]]>([:])
  private let feedsUnderWay = Awaited(0)
  /// The pads that there are only while the element runs.
  private let passingPads = Locked<[String]>([])

  /// - Parameters:
  ///   - sink: the elements after each source pad, in gst-launch's syntax.
  ///   - takesReferences: whether those say that they take GstVideoMeta.
  init(
    _ actor: HostileActor, sink: String = "fakesink", takesReferences: Bool = false
  ) throws {
    element = try Element(actor.factory, name: "it")
    for (name, value) in actor.properties { element.set(name, value) }
    try pipeline.add(element)
    var feeds: [String: Pad] = [:]
    var upstreamTaps: [String: Tap] = [:]
    for input in actor.inputs {
      guard let pad = element.staticPad(input.pad) ?? element.requestPad(input.pad) else {
        throw Failure("\(actor.factory) has no pad \(input.pad).")
      }
      let feed = Pad(
        adopting: gst_object_ref_sink(gst_pad_new("feed-\(input.pad)", GST_PAD_SRC))!
          .assumingMemoryBound(to: GstPad.self))
      upstreamTaps[input.pad] = try Tap(feed)
      // Who feeds cannot seek, and says so.
      gst_pad_set_event_function_full(
        feed.pointer,
        { _, _, event in
          let isSeek = event?.pointee.type == GST_EVENT_SEEK
          gst_event_unref(event)
          return isSeek ? 0 : 1
        }, nil, nil)
      _ = feed.setActive(true)
      guard
        gst_pad_link_full(feed.pointer, pad.pointer, GST_PAD_LINK_CHECK_NOTHING) == GST_PAD_LINK_OK
      else { throw Failure("The pad \(input.pad) cannot be linked.") }
      feeds[input.pad] = feed
    }
    (self.feeds, self.upstreamTaps) = (feeds, upstreamTaps)
    watch(element.pointer)
    for pad in element.pads {
      watch(pad.pointer)
      if pad.direction == .source {
        try receive(pad, Element(sink), isFile: sink == "filesink", actor, takesReferences)
      }
    }
    element.onPadAdded { [weak self] pad in
      guard let self, pad.direction == .source else { return }
      watch(pad.pointer)
      try? receive(pad, Element(sink), isFile: false, actor, takesReferences)
      passingPads.withLock { $0.append(pad.name) }
    }
  }

  deinit {
    for feed in feeds.values { _ = feed.setActive(false) }
  }

  private func receive(
    _ pad: Pad, _ sink: Element, isFile: Bool, _ actor: HostileActor, _ takesReferences: Bool
  ) throws {
    sink.set("name", "behind-\(pad.name)")
    sink.set("sync", "false")
    sink.set("async", "false")
    if isFile { sink.set("location", actor.file) }
    try pipeline.add(sink)
    guard let target = sink.staticPad("sink") else { throw Failure("a sink without a pad") }
    let tap = try Tap(target, takesReferences: takesReferences)
    taps.withLock { $0[pad.name] = tap }
    try pad.link(to: target)
    sink.followParentState()
  }

  /// Removes the elements after pads that disappeared with the last run.
  private func removeSinks() {
    let names = passingPads.withLock { names in
      defer { names = [] }
      return names
    }
    for sink in names.compactMap({ pipeline.element(named: "behind-\($0)") }) {
      gst_bin_remove(
        UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstBin.self), sink.pointer
      )
    }
  }

  /// Counts an object until it is finalized.
  private func watch<Object>(_ object: UnsafeMutablePointer<Object>) {
    alive.change { $0 += 1 }
    g_object_weak_ref(
      UnsafeMutableRawPointer(object).assumingMemoryBound(to: GObject.self),
      { data, _ in
        guard let data else { return }
        Unmanaged<Awaited<Int>>.fromOpaque(data).takeRetainedValue().change { $0 -= 1 }
      }, Unmanaged.passRetained(alive).toOpaque())
  }

  /// What the source pads gave so far, by their names.
  var outputs: [String: Tap] { taps.current }

  /// Records no longer what a source pad gives.
  func forget(_ pad: String) { taps.withLock { $0[pad] = nil } }

  /// The events that came up to who feeds.
  var upstreamEvents: [Event] {
    upstreamTaps.values.flatMap(\.events).filter {
      $0.pointer.pointee.type.rawValue & GST_EVENT_TYPE_UPSTREAM.rawValue != 0
    }
  }

  /// Brings the pipeline to PLAYING and feeds it to its end or first error, and stops it. Throws if
  /// that
  /// hangs, or a feeding thread does not come back.
  func play(_ scripts: [String: [Step]]) async throws -> Outcome {
    flows.withLock { $0 = [:] }
    var outcome = Outcome()
    guard pipeline.play() else { throw Failure("The pipeline does not start.") }
    feed(scripts)
    do {
      outcome.messages = try await SpatialTests.messages(of: pipeline)
      try await waitForFeeds()
      try await stop()
    } catch let failure as PipelineFailure {
      outcome.failure = failure
      try await stop()
      try await waitForFeeds()
    }
    outcome.flows = flows.current
    return outcome
  }

  /// Starts a thread for each sink pad, or for the whole of an element without any.
  func feed(_ scripts: [String: [Step]]) {
    feedsUnderWay.change { $0 += scripts.count }
    for (name, steps) in scripts {
      Thread.detachNewThread { [self] in
        if let pad = feeds[name] { push(steps, into: pad, named: name) } else { send(steps) }
        feedsUnderWay.change { $0 -= 1 }
      }
    }
  }

  private func push(_ steps: [Step], into pad: Pad, named name: String) {
    for step in steps {
      switch step {
      case .event(let event): _ = pad.push(event)
      case .act(let act): act()
      case .buffer(let buffer):
        let flow = pad.push(buffer)
        flows.withLock { $0[name, default: []].append(flow) }
        if flow == .flushing { return }
        if flow != .ok {
          // As a source does.
          _ = pad.push(.endOfStream)
          return
        }
      }
    }
  }

  /// For an element without sink pads: in place of a buffer's push stands waiting for one more.
  private func send(_ steps: [Step]) {
    for step in steps {
      switch step {
      case .event(let event): element.send(event)
      case .act(let act): act()
      case .buffer:
        let wanted = (outputs.values.map(\.buffers.count).max() ?? 0) + 1
        for _ in 0..<1000 where (outputs.values.map(\.buffers.count).max() ?? 0) < wanted {
          usleep(1000)
        }
      }
    }
  }

  func waitForFeeds() async throws {
    try await feedsUnderWay.wait(for: "the end of what feeds") { $0 == 0 }
  }

  /// Goes down to NULL; throws if that hangs.
  func stop() async throws {
    let isDown = Awaited(false)
    Thread.detachNewThread { [pipeline] in
      pipeline.setState(.null)
      isDown.change { $0 = true }
    }
    try await isDown.wait(for: "the end of the pipeline") { $0 }
    removeSinks()
  }
}
