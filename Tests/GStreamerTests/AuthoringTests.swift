// SPDX-License-Identifier: MPL-2.0

import CGStreamer
import GStreamer
import GStreamerCheck
import StereoVideo
import Synchronization
import TestKit
import Testing

/// An element for tests: passes buffers on, or fails, as it is told.
private final class TestFilter: ElementImplementation {
  struct Settings {
    var failAt: Int32 = -1
    var mark: String?
  }

  struct Streaming {
    var count: Int32 = 0
  }

  struct Broken: Error {}

  static let alive = Atomic(0)

  let instance: ElementInstance
  let settings = Locked(Settings())
  let sink: Pad
  let source: Pad

  init(_ instance: ElementInstance) throws {
    self.instance = instance
    sink = try Pad(instance, template: "sink", .sink(chain: TestFilter.receive))
    source = try Pad(instance, template: "src", PadFunctions<TestFilter>.source())
    add(sink)
    add(source)
    Self.alive.add(1, ordering: .relaxed)
  }

  deinit {
    Self.alive.subtract(1, ordering: .relaxed)
  }

  func start() throws -> Streaming {
    if settings.current.mark == "no start" {
      throw ElementError(.settings, "It does not start.", debug: "as it was told")
    }
    return Streaming()
  }

  private func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    defer { streaming.count += 1 }
    if streaming.count == settings.current.failAt { throw Broken() }
    try source.push(Buffer(buffer.bytes)).check()
  }

  static let declaration = ElementDeclaration<TestFilter>(
    name: "spatialtestfilter", typeName: "GstSpatialTestFilter",
    longName: "Test filter", klass: "Filter", description: "For tests", author: "Tests",
    padTemplates: .forAnything,
    properties: [
      .int(
        "fail-at", nick: "Fail at", blurb: "Which buffer fails", in: -1...1000, default: -1,
        at: \.failAt),
      .string("mark", nick: "Mark", blurb: "Any text", at: \.mark),
    ])

  static let isRegistered =
    testPlugin("spatialtest", [TestFilter.declaration]).registerStatically()
}

/// Elements written with the Swift layer, and applications that hold them.
@Suite(.serialized)
struct AuthoringTests {
  init() throws {
    try #require(TestFilter.isRegistered)
  }

  @Test("the Swift object of an element is freed with its GObject")
  func finalisation() throws {
    let before = TestFilter.alive.load(ordering: .relaxed)
    do {
      let elements = try (0..<10).map { _ in try Element("spatialtestfilter") }
      #expect(TestFilter.alive.load(ordering: .relaxed) == before + 10)
      #expect(elements.count == 10)
    }
    #expect(TestFilter.alive.load(ordering: .relaxed) == before)
  }

  @Test("a pipeline, its elements and their messages are freed with the last reference")
  func pipelineFinalisation() async throws {
    let before = TestFilter.alive.load(ordering: .relaxed)
    do {
      let pipeline = try Pipeline(
        parsing: "fakesrc num-buffers=5 ! spatialtestfilter ! fakesink silent=false")
      try await pipeline.run()
      pipeline.setState(.paused)
    }
    // A thread of GstBin's that ends a change of state may hold the bin for a moment.
    try await eventually("the end of the elements") {
      TestFilter.alive.load(ordering: .relaxed) == before
    }
  }

  @Test("properties have their defaults and take values")
  func properties() throws {
    let element = try Element("spatialtestfilter")
    guard case .int(-1) = element.get("fail-at") else {
      Issue.record("default")
      return
    }
    #expect(element.get("mark") == nil)
    #expect(element.get("absent") == nil)
    element.set("fail-at", "7")
    element.set("mark", "text")
    guard case .int(7) = element.get("fail-at"), case .string("text") = element.get("mark") else {
      Issue.record("values")
      return
    }
  }

  @Test("a thrown error becomes one error message, and the element refuses further data")
  func oneError() async throws {
    let pipeline = try Pipeline(
      parsing: "spatialtestfilter name=f fail-at=1 ! fakesink async=false")
    let element = try #require(pipeline.element(named: "f"))
    pipeline.setState(.playing)
    let sink = try #require(element.staticPad("sink"))
    func send(_ event: Event) { gst_pad_send_event(sink.pointer, gst_event_ref(event.pointer)) }
    send(.streamStart(id: "test"))
    send(.segment(Segment()))
    func chain() -> GstFlowReturn { gst_pad_chain(sink.pointer, gst_buffer_new()) }
    #expect(chain() == GST_FLOW_OK)
    for _ in 0..<3 { #expect(chain() == GST_FLOW_ERROR) }
    gst_element_post_message(
      element.pointer, gst_message_new_application(nil, gst_structure_new_empty("last")))
    var errors = 0
    for await message in pipeline.bus.messages {
      if message.type == GST_MESSAGE_APPLICATION { break }
      if case .error(let failure) = message.content {
        errors += 1
        #expect(failure.element == "f")
        #expect(failure.message.contains("Broken"))
      }
    }
    #expect(errors == 1)
    pipeline.setState(.null)
    // A new start, a new chance.
    element.set("fail-at", "-1")
    pipeline.setState(.playing)
    send(.streamStart(id: "test"))
    send(.segment(Segment()))
    #expect(chain() == GST_FLOW_OK)
  }

  @Test("an element that fails to start posts the reason, and its pipeline does not play")
  func failingStart() async throws {
    let pipeline = try Pipeline(
      parsing: "fakesrc ! spatialtestfilter mark=\"no start\" ! fakesink")
    do {
      try await pipeline.run()
      Issue.record("It played.")
    } catch let failure as PipelineFailure {
      #expect(failure.message == "It does not start.")
      #expect(failure.debug.contains("as it was told"))
    }
  }

  @Test("a bus with a slow consumer keeps errors, warnings and the end, in order")
  func slowConsumer() async throws {
    let pipeline = Pipeline()
    func post(_ message: UnsafeMutablePointer<GstMessage>?) {
      gst_element_post_message(pipeline.pointer, message)
    }
    let source: UnsafeMutablePointer<GstObject> = UnsafeMutableRawPointer(pipeline.pointer)
      .assumingMemoryBound(to: GstObject.self)
    func chatter(_ count: Int) {
      for _ in 0..<count {
        post(gst_message_new_element(source, gst_structure_new_empty("chatter")))
      }
    }
    let error = g_error_new_literal(gst_stream_error_quark(), 1, "first")
    defer { g_error_free(error) }
    chatter(1000)
    post(gst_message_new_warning(source, error, nil))
    chatter(1000)
    post(gst_message_new_error(source, error, nil))
    chatter(1000)
    post(gst_message_new_application(source, gst_structure_new_empty("last")))
    var kinds: [String] = []
    var chatterCount = 0
    reading: for await message in pipeline.bus.messages {
      switch message.content {
      case .warning: kinds.append("warning")
      case .error: kinds.append("error")
      case .element: chatterCount += 1
      default:
        if message.type == GST_MESSAGE_APPLICATION { break reading }
      }
    }
    #expect(kinds == ["warning", "error"])
    #expect(chatterCount <= Bus.capacity)
    #expect(chatterCount > 0)
  }

  @Test("a task that waits for messages ends when it is cancelled")
  func cancellation() async {
    let pipeline = Pipeline()
    let task = Task {
      for await _ in pipeline.bus.messages {}
      return true
    }
    try? await Task.sleep(for: .milliseconds(20))
    task.cancel()
    #expect(await task.value)
  }

  @Test("text that is no pipeline, and unknown elements, are errors")
  func parsing() {
    #expect(throws: ElementError.self) { try Pipeline(parsing: "fakesrc ! nosuchelement") }
    #expect(throws: ElementError.self) { try Pipeline(parsing: "fakesrc !") }
    for value in ["-2", "9999999999", "many"] {
      #expect(throws: ElementError.self) {
        try Element("fakesrc").set("num-buffers", parsing: value)
      }
    }
    #expect(throws: ElementError.self) { try Element("nosuchelement") }
  }

  @Test("a pushed buffer belongs to its receiver alone")
  func pushedBuffer() throws {
    let harness = try #require(Harness("spatialtestfilter"))
    let pad = try #require(harness.element.staticPad("src"))
    let writable = Locked<[Bool]>([])
    gst_pad_add_probe(
      pad.pointer, GST_PAD_PROBE_TYPE_BUFFER,
      { _, info, data in
        if let buffer = info?.pointee.data, let data {
          let object = buffer.assumingMemoryBound(to: GstMiniObject.self)
          let isWritable = gst_mini_object_is_writable(object) != 0
          Unmanaged<Locked<[Bool]>>.fromOpaque(data).takeUnretainedValue()
            .withLock { $0.append(isWritable) }
        }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passUnretained(writable).toOpaque(), nil)
    harness.play()
    harness.setSourceCaps("application/x-test")
    #expect(harness.push(Buffer([1])) == .ok)
    #expect(try #require(harness.pull()).bytes == [1])
    #expect(writable.current == [true])
  }
}
