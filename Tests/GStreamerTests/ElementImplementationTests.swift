// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import Dispatch
import GStreamer
import GStreamerCheck
import Testing

/// What happened to a test element, told from any thread.
private struct Diary {
  var starts = 0
  var stops = 0
  var flushes = 0
}

/// Passes buffers on and counts them.
private final class CountingFilter: ElementImplementation {
  struct Settings {
    var failsToStart = false
  }

  struct Streaming {
    var count: UInt64 = 0
  }

  static let diary = Locked(Diary())

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(
      instance, template: "sink",
      .sink(chain: CountingFilter.receive, event: CountingFilter.handle))
    source = try Pad(
      instance, template: "src", .source(event: CountingFilter.handleUpstream))
    add(sink)
    add(source)
  }

  func start() throws -> Streaming {
    if settings.current.failsToStart { throw ElementError(.settings, "It does not start.") }
    Self.diary.withLock { $0.starts += 1 }
    return Streaming()
  }

  func stop(_ streaming: consuming Streaming) {
    Self.diary.withLock { $0.stops += 1 }
  }

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    streaming.count += 1
    let copy = Buffer(buffer.bytes)
    copy.offset = streaming.count
    try source.push(copy).check()
  }

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    if case .flushStop = event.kind {
      streaming.count = 0
      Self.diary.withLock { $0.flushes += 1 }
    }
    return pad.forward(event)
  }

  /// A seek sets the count, as one that moves a demuxer would.
  func handleUpstream(_ pad: Pad, _ event: Event) throws -> Bool {
    guard case .seek = event.kind else { return pad.forward(event) }
    return withStreaming(sink) { $0.count = 100 }
  }

  static let declaration = ElementDeclaration<CountingFilter>(
    name: "spatialcountingfilter", typeName: "GstSpatialCountingFilter",
    longName: "Counting filter", klass: "Filter", description: "For tests", author: "Tests",
    padTemplates: .forAnything,
    properties: [
      .bool(
        "fails-to-start", nick: "Fails to start", blurb: "Whether it does", default: false,
        at: \.failsToStart)
    ])
}

/// Marks buffers by their number since the last caps.
private final class CountingTransform: TransformImplementation {
  struct Streaming {
    var count: UInt64 = 0
    var tagged = false
  }

  static let diary = Locked(Diary())

  let instance: ElementInstance

  init(_ instance: ElementInstance) throws {
    self.instance = instance
  }

  func start() throws -> Streaming {
    Self.diary.withLock { $0.starts += 1 }
    return Streaming()
  }

  func stop(_ streaming: consuming Streaming) {
    Self.diary.withLock { $0.stops += 1 }
  }

  func setCaps(input: Caps, output: Caps, _ streaming: inout Streaming) throws {
    streaming.count = 0
  }

  func transformInPlace(_ buffer: borrowing UniqueBuffer, _ streaming: inout Streaming) throws {
    streaming.count += 1
    buffer.offset = streaming.count
  }

  static let declaration = ElementDeclaration<CountingTransform>(
    name: "spatialcountingtransform", typeName: "GstSpatialCountingTransform",
    longName: "Counting transform", klass: "Filter", description: "For tests", author: "Tests",
    padTemplates: .forAnything)
}

/// A bin whose one part does not start.
private final class BrokenBin: BinImplementation {
  typealias Streaming = Element

  static let diary = Locked(Diary())

  let instance: ElementInstance

  init(_ instance: ElementInstance) throws {
    self.instance = instance
  }

  func start() throws -> Element {
    Self.diary.withLock { $0.starts += 1 }
    let part = try CountingFilter.declaration.makePart()
    part.set("fails-to-start", "true")
    try addPart(part)
    return part
  }

  func stop(_ part: consuming Element) {
    Self.diary.withLock { $0.stops += 1 }
    removePart(part)
  }

  static let declaration = ElementDeclaration<BrokenBin>(
    name: "spatialbrokenbin", typeName: "GstSpatialBrokenBin",
    longName: "Broken bin", klass: "Filter", description: "For tests", author: "Tests",
    padTemplates: [])
}

/// An element that cannot be made.
private final class UnmakeableFilter: ElementImplementation {
  let instance: ElementInstance

  init(_ instance: ElementInstance) throws {
    throw ElementError(.settings, "There is no hardware for it.")
  }

  static let declaration = ElementDeclaration<UnmakeableFilter>(
    name: "spatialunmakeablefilter", typeName: "GstSpatialUnmakeableFilter",
    longName: "Unmakeable filter", klass: "Filter", description: "For tests", author: "Tests",
    padTemplates: .forAnything)
}

/// Elements whose streaming state is handed to the streaming thread.
@Suite(.serialized)
struct ElementImplementationTests {
  private static let isRegistered = testPlugin(
    "spatialimplementationtest",
    [
      CountingFilter.declaration, CountingTransform.declaration, BrokenBin.declaration,
      UnmakeableFilter.declaration,
    ]
  ).registerStatically()

  init() throws {
    try #require(Self.isRegistered)
  }

  private func offsets(_ harness: Harness) -> [UInt64] {
    var offsets: [UInt64] = []
    while let buffer = harness.tryPull() { offsets.append(buffer.offset) }
    return offsets
  }

  @Test("the streaming state exists from start to stop")
  func lifetime() throws {
    let before = CountingFilter.diary.current
    // A harness starts its element.
    let harness = try #require(Harness("spatialcountingfilter"))
    for _ in 0..<2 {
      harness.play()
      harness.setSourceCaps("application/x-test")
      for _ in 0..<3 { #expect(harness.push(Buffer([1])) == .ok) }
      #expect(offsets(harness) == [1, 2, 3])
      harness.element.setState(.ready)
    }
    let after = CountingFilter.diary.current
    #expect(after.starts - before.starts == 2)
    #expect(after.stops - before.stops == 2)
  }

  @Test("a start that fails is not stopped")
  func failedStart() throws {
    let element = try Element("spatialcountingfilter")
    element.set("fails-to-start", "true")
    let before = CountingFilter.diary.current
    #expect(!element.setState(.paused))
    element.setState(.null)
    let after = CountingFilter.diary.current
    #expect(after.starts == before.starts)
    #expect(after.stops == before.stops)
  }

  @Test("if the state change fails after the start, stop is called once")
  func failedStateChange() throws {
    let element = try Element("spatialbrokenbin")
    for round in 1...2 {
      #expect(!element.setState(.paused))
      #expect(BrokenBin.diary.current.starts == round)
      #expect(BrokenBin.diary.current.stops == round)
      element.setState(.null)
      #expect(BrokenBin.diary.current.stops == round)
    }
  }

  @Test("an element whose init throws leaves NULL for no other state, and says why")
  func failedInit() throws {
    let pipeline = Pipeline()
    let said = Locked<[String]>([])
    pipeline.bus.watch { message in
      if case .error(let failure) = message.content {
        said.withLock { $0.append(failure.message) }
      }
    }
    let element = try Element("spatialunmakeablefilter")
    try pipeline.add(element)
    #expect(!element.setState(.ready))
    #expect(!element.setState(.paused))
    #expect(said.current == Array(repeating: "There is no hardware for it.", count: 2))
    #expect(element.setState(.null))
    // Its bin starts it, and takes it back to NULL: that is one error.
    said.withLock { $0 = [] }
    #expect(!pipeline.setState(.playing))
    #expect(pipeline.setState(.null))
    #expect(said.current == ["There is no hardware for it."])
  }

  @Test("a transform starts and stops once for each way up and down")
  func transformLifetime() throws {
    let element = try Element("spatialcountingtransform")
    let before = CountingTransform.diary.current
    for _ in 0..<2 {
      #expect(element.setState(.playing))
      #expect(element.setState(.null))
    }
    let after = CountingTransform.diary.current
    #expect(after.starts - before.starts == 2)
    #expect(after.stops - before.stops == 2)
  }

  @Test("a transform's caps reach it while it forwards their event")
  func transformCaps() throws {
    let harness = try #require(Harness("spatialcountingtransform"))
    harness.play()
    for rate in 1...2 {
      harness.setSourceCaps("application/x-test,rate=\(rate)")
      for _ in 0..<2 { #expect(harness.push(Buffer([1])) == .ok) }
      #expect(offsets(harness) == [1, 2])
    }
  }

  @Test("a seek from another thread gets the streaming state between two buffers")
  func seek() throws {
    let harness = try #require(Harness("spatialcountingfilter"))
    harness.play()
    harness.setSourceCaps("application/x-test")
    #expect(harness.push(Buffer([1])) == .ok)
    #expect(harness.pushUpstream(Self.seek))
    #expect(harness.push(Buffer([1])) == .ok)
    #expect(offsets(harness) == [1, 101])
  }

  private static var seek: Event {
    Event(
      adopting: gst_event_new_seek(
        1, GST_FORMAT_TIME, GST_SEEK_FLAG_NONE, GST_SEEK_TYPE_SET, 0, GST_SEEK_TYPE_NONE, -1))
  }

  /// Does something once, in the thread that pushes a buffer through a pad.
  private func once(at pad: Pad, _ body: @escaping () -> Void) {
    final class Act {
      let body: () -> Void
      init(_ body: @escaping () -> Void) { self.body = body }
    }
    gst_pad_add_probe(
      pad.pointer, GST_PAD_PROBE_TYPE_BUFFER,
      { _, _, data in
        if let data { Unmanaged<Act>.fromOpaque(data).takeUnretainedValue().body() }
        return GST_PAD_PROBE_REMOVE
      }, Unmanaged.passRetained(Act(body)).toOpaque(),
      { data in
        if let data { Unmanaged<Act>.fromOpaque(data).release() }
      })
  }

  @Test("calls that re-enter an element from the pushing thread neither trap nor get lost")
  func reentrance() throws {
    let harness = try #require(Harness("spatialcountingfilter"))
    harness.play()
    harness.setSourceCaps("application/x-test")
    let sink = try #require(harness.element.staticPad("sink"))
    let source = try #require(harness.element.staticPad("src"))
    let before = CountingFilter.diary.current.flushes
    let inside = Locked<[FlowReturn]>([])
    once(at: source) {
      // A seek for this element, and one that upstream has done.
      func send(_ event: Event, _ pad: Pad) {
        gst_pad_send_event(pad.pointer, gst_event_ref(event.pointer))
      }
      send(Self.seek, source)
      send(.flushStart, sink)
      send(.flushStop(), sink)
      #expect(CountingFilter.diary.current.flushes == before)
      send(.segment(Segment()), sink)
      let flow = gst_pad_chain(sink.pointer, gst_buffer_new())
      inside.withLock { $0.append(FlowReturn(rawValue: flow.rawValue)) }
    }
    _ = harness.push(Buffer([1]))
    #expect(inside.current == [.flushing])
    #expect(CountingFilter.diary.current.flushes == before + 1)
    _ = offsets(harness)
    harness.push(.segment(Segment()))
    #expect(harness.push(Buffer([1])) == .ok)
    #expect(offsets(harness) == [1])
  }

  @Test("elements of one type that many threads make and start at once all work")
  func manyAtOnce() {
    let failures = Locked(0)
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      guard let element = try? CountingFilter.declaration.makePart(),
        element.implementation(CountingFilter.self) != nil,
        element.setState(.paused), element.setState(.null)
      else {
        failures.withLock { $0 += 1 }
        return
      }
    }
    #expect(failures.current == 0)
  }
}
