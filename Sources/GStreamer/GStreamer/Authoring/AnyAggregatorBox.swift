// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
import Synchronization

/// An element that combines several streams into one: `GstAggregator`.
class AnyAggregatorBox: ElementBox, @unchecked Sendable {
  /// The monitor of the request pads' queues.
  let samples = SampleMonitor()
  /// Whether request pads queue samples in batches.
  private let queuesSamples = Atomic(false)
  var aggregator: UnsafeMutablePointer<GstAggregator> { cast(pointer) }
  private var parent: UnsafeMutablePointer<GstAggregatorClass> {
    parentClass.assumingMemoryBound(to: GstAggregatorClass.self)
  }

  /// Returns the current sink pads.
  static func sinkPads(of element: UnsafeMutablePointer<GstElement>) -> [AggregatorPad] {
    var pads: [AggregatorPad] = []
    withUnsafeMutablePointer(to: &pads) { pads in
      _ = gst_element_foreach_sink_pad(
        element,
        { _, pad, data in
          if let pad {
            data?.assumingMemoryBound(to: [AggregatorPad].self).pointee
              .append(AggregatorPad(retaining: pad))
          }
          return 1
        }, pads)
    }
    return pads
  }

  /// Called when every sink pad has a buffer or is at EOS, or, in a live pipeline, on timeout.
  /// Takes the available buffers and finishes any output. Throws `.needData` to wait for more
  /// input, `.eos` at the end.
  func aggregate(timeout: Bool) throws { throw FlowReturn.eos }

  private func runAggregate(timeout: Bool) -> GstFlowReturn {
    let queuesSamples = queuesSamples.load(ordering: .acquiring)
    if queuesSamples { samples.waitForSamples() }
    let flow = self.flow { () throws in try aggregate(timeout: timeout) }
    if queuesSamples, flow != GST_FLOW_OK, flow != FlowReturn.needData.cValue {
      for pad in Self.sinkPads(of: pointer) { SampleQueue.of(pad.pointer)?.discard(flow) }
    }
    return flow
  }

  /// Sets the amount of media that each sink pad queues before `aggregate`.
  func setQueuedDuration(_ duration: ClockTime) {
    queuesSamples.store(duration > 0, ordering: .releasing)
    for pad in Self.sinkPads(of: pointer) { SampleQueue.of(pad.pointer)?.setDuration(duration) }
    var value = GValue()
    g_value_init(&value, cgst_type_uint64())
    g_value_set_uint64(&value, duration.cValue)
    g_object_set_property(cast(pointer), "min-upstream-latency", &value)
    // The property takes effect only with a query.
    let query = gst_query_new_latency()
    gst_pad_query(aggregator.pointee.srcpad, query)
    gst_query_unref(query)
  }

  /// Returns the running time until which pads without data are waited for; nil to wait without
  /// limit.
  func deadline() -> ClockTime? { nil }

  /// Lets the element end a stream that has lost its last sink pad: GstAggregator waits for data
  /// and does not call it any more. It may take long and so runs in a thread of GStreamer's.
  private func endWithoutPads() {
    gst_element_call_async(
      pointer,
      { pointer, _ in
        guard let pointer, let element = ElementBox.of(cast(pointer)) as? AnyAggregatorBox else {
          return
        }
        let flow = element.flow { () throws in try element.aggregate(timeout: false) }
        guard flow == GST_FLOW_EOS else { return }
        gst_pad_push_event(element.aggregator.pointee.srcpad, gst_event_new_eos())
      }, nil, nil)
  }

  /// Returns the name for a requested pad of a template. Throws if there cannot be another pad.
  func padName(template: String, requested: String?) throws -> String {
    requested ?? template
  }

  /// Returns what the buffers of a new request pad go through; nil for nothing.
  func padFilter(name: String) -> (any BufferFilter)? { nil }

  /// Handles a serialized event after the buffers before it have been taken. Returns whether it was
  /// handled.
  func sinkEvent(_ pad: AggregatorPad, _ event: Event) throws -> Bool {
    forwardSinkEvent(pad, event)
  }

  /// Answers a query at a sink pad. Returns whether it was answered.
  func sinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    forwardSinkQuery(pad, query)
  }

  /// Handles an event that arrives at the source pad. Returns whether it was handled.
  func sourceEvent(_ event: Event) -> Bool { forwardSourceEvent(event) }

  /// Discards queued data for a flushing seek.
  func flush() throws {}

  /// Called at the end of the flush for which `unlock` was called.
  func unlockStop() {}

  /// Handles an event with the base class.
  func forwardSinkEvent(_ pad: AggregatorPad, _ event: Event) -> Bool {
    parent.pointee.sink_event(aggregator, pad.aggregatorPad, event.retainedPointer()) != 0
  }

  /// Handles an event that arrived at the source pad with the base class, except for a flushing
  /// seek that upstream cannot do: the base class would stop its thread, learn that the seek is
  /// refused, and never start the thread again.
  func forwardSourceEvent(_ event: Event) -> Bool {
    if let seek = event.seek, seek.flags.contains(.flush) {
      let isSeekable = Self.sinkPads(of: pointer).contains { pad in
        let query = Query.seeking(seek.format)
        return pad.queryPeer(query) && query.isSeekable
      }
      guard isSeekable else { return false }
      unlock()
      let isDone = parent.pointee.src_event(aggregator, event.retainedPointer()) != 0
      if !isDone { unlockStop() }
      return isDone
    }
    return parent.pointee.src_event(aggregator, event.retainedPointer()) != 0
  }

  /// Answers a query with the base class.
  func forwardSinkQuery(_ pad: AggregatorPad, _ query: borrowing Query) -> Bool {
    parent.pointee.sink_query(aggregator, pad.aggregatorPad, query.pointer) != 0
  }

  /// Adds a sink pad that always exists.
  static func addAlwaysPad(
    _ template: String, to element: UnsafeMutablePointer<GstElement>
  ) throws {
    guard let created = makePad(of: element, template: template, name: template) else {
      throw ElementError(.pad, "The pad \(template) could not be created.")
    }
    gst_element_add_pad(element, cast(created))
  }

  private static func makePad(
    of element: UnsafeMutablePointer<GstElement>, template templateName: String,
    name padName: String
  ) -> UnsafeMutablePointer<GstAggregatorPad>? {
    guard let template = gst_element_class_get_pad_template(element.elementClass, templateName)
    else { return nil }
    var name = GValue()
    g_value_init(&name, cgst_type_string())
    g_value_set_string(&name, padName)
    var direction = GValue()
    g_value_init(&direction, gst_pad_direction_get_type())
    g_value_set_enum(&direction, Int32(bitPattern: template.pointee.direction.rawValue))
    var padTemplate = GValue()
    g_value_init(&padTemplate, gst_pad_template_get_type())
    g_value_set_object(&padTemplate, template)
    defer {
      g_value_unset(&name)
      g_value_unset(&direction)
      g_value_unset(&padTemplate)
    }
    var names: [UnsafePointer<CChar>?] = [
      permanent("name"), permanent("direction"), permanent("template"),
    ]
    let values = [name, direction, padTemplate]
    let type = gst_aggregator_pad_get_type()
    return g_object_new_with_properties(type, 3, &names, values).map { cast($0) }
  }

  /// Streams are synchronized by running time.
  private static func checkFormat(_ segment: Segment, of pad: AggregatorPad) throws {
    guard segment.isInTime else {
      let format =
        gst_format_get_name(segment.format.cValue).map { String(cString: $0) } ?? "unknown units"
      throw ElementError(
        .format,
        "The stream on \(pad.name) is in \(format), not in time; insert a parser for its "
          + "format upstream, such as rawvideoparse for raw video.")
    }
  }

  private static func of(_ pointer: UnsafeMutablePointer<GstAggregator>?) -> AnyAggregatorBox? {
    guard let pointer else { return nil }
    return ElementBox.of(cast(pointer)) as? AnyAggregatorBox
  }

  static func fill(_ klass: UnsafeMutableRawPointer) {
    let aggregatorClass = klass.assumingMemoryBound(to: GstAggregatorClass.self)
    aggregatorClass.pointee.start = { AnyAggregatorBox.of($0)?.runStart() == true ? 1 : 0 }
    aggregatorClass.pointee.stop = { pointer in
      AnyAggregatorBox.of(pointer)?.runStop()
      return 1
    }
    aggregatorClass.pointee.aggregate = { pointer, timeout in
      guard let element = AnyAggregatorBox.of(pointer) else { return GST_FLOW_ERROR }
      return element.runAggregate(timeout: timeout != 0)
    }
    aggregatorClass.pointee.get_next_time = { pointer in
      (AnyAggregatorBox.of(pointer)?.deadline()).cValue
    }
    aggregatorClass.pointee.parent_class.release_pad = { pointer, pad in
      guard let pointer, let element = ElementBox.of(cast(pointer)) as? AnyAggregatorBox else {
        return
      }
      element.parent.pointee.parent_class.release_pad(pointer, pad)
      if AnyAggregatorBox.sinkPads(of: pointer).isEmpty { element.endWithoutPads() }
    }
    aggregatorClass.pointee.flush = { pointer in
      guard let element = AnyAggregatorBox.of(pointer) else { return GST_FLOW_ERROR }
      return element.flow { () throws in try element.flush() }
    }
    aggregatorClass.pointee.create_new_pad = { pointer, template, requested, _ in
      guard let element = AnyAggregatorBox.of(pointer),
        let template = template?.pointee.name_template.map({ String(cString: $0) })
      else { return nil }
      let requested = requested.map { String(cString: $0) }
      guard let name = try? element.padName(template: template, requested: requested),
        let pad = AnyAggregatorBox.makePad(
          of: element.pointer, template: template, name: name)
      else { return nil }
      SampleQueue.install(at: cast(pad), element.samples)
      if let filter = element.padFilter(name: name) { Pad.addFilter(filter, to: cast(pad)) }
      return pad
    }
    aggregatorClass.pointee.sink_event_pre_queue = { pointer, pad, event in
      guard let pointer, let pad, let event, let element = AnyAggregatorBox.of(pointer) else {
        return GST_FLOW_ERROR
      }
      SampleQueue.of(cast(pad))?.passes(event)
      return element.parent.pointee.sink_event_pre_queue(pointer, pad, event)
    }
    aggregatorClass.pointee.sink_event = { pointer, pad, event in
      guard let event else { return 0 }
      let owned = Event(adopting: event)
      guard let pad, let element = AnyAggregatorBox.of(pointer) else { return 0 }
      let aggregatorPad = AggregatorPad(retaining: cast(pad))
      element.logEvent(owned, at: aggregatorPad)
      if owned.type == GST_EVENT_FLUSH_START { element.unlock() }
      if owned.type == GST_EVENT_FLUSH_STOP { element.unlockStop() }
      // The base class clips the event to the segment, and needs one for that.
      if owned.type == GST_EVENT_GAP, !aggregatorPad.segment.isInTime { return 1 }
      return element.answer {
        if let segment = owned.segment {
          // Sent by an encoder that rewrites the header of its file at the end; here there is no
          // file.
          if segment.format == .bytes, aggregatorPad.segment.isInTime { return true }
          try AnyAggregatorBox.checkFormat(segment, of: aggregatorPad)
        }
        return try element.sinkEvent(aggregatorPad, owned)
      }
    }
    aggregatorClass.pointee.src_event = { pointer, event in
      guard let event else { return 0 }
      let owned = Event(adopting: event)
      return AnyAggregatorBox.of(pointer)?.sourceEvent(owned) == true ? 1 : 0
    }
    aggregatorClass.pointee.sink_query = { pointer, pad, query in
      guard let pad, let query, let element = AnyAggregatorBox.of(pointer) else { return 0 }
      return element.sinkQuery(AggregatorPad(retaining: cast(pad)), Query(borrowing: query)) ? 1 : 0
    }
    // The output caps depend only on the input and are set with setSourceCaps.
    aggregatorClass.pointee.negotiate = nil
  }
}
