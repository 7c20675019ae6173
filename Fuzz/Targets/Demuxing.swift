import CGStreamer
import Synchronization

/// Plays a movie with `mvhevcdemux`, and seeks in it where it can be.
func demux(_ bytes: [UInt8], byPulling pulls: Bool) {
  guard let element = gst_element_factory_make("mvhevcdemux", nil) else {
    fatalError("there is no mvhevcdemux: is the plugin on GST_PLUGIN_PATH?")
  }
  let session = DemuxSession(element, bytes)
  if pulls { session.pull() } else { session.push() }
  session.close()
}

/// An `mvhevcdemux` between pads of one's own: a source of bytes, and sinks that take all.
private final class DemuxSession {
  private let element: UnsafeMutablePointer<GstElement>
  private let bus = gst_bus_new()
  private let source: UnsafeMutablePointer<GstPad>
  private let bytes: [UInt8]
  private let sinks = Mutex<[Int]>([])

  init(_ element: UnsafeMutablePointer<GstElement>, _ bytes: [UInt8]) {
    self.element = element
    self.bytes = bytes
    gst_object_ref_sink(element)
    gst_element_set_bus(element, bus)
    source = gst_pad_new("source", GST_PAD_SRC)
    gst_object_ref_sink(source)
    let this = Unmanaged.passUnretained(self).toOpaque()
    source.pointee.element_private = this
    let added:
      @convention(c) (
        UnsafeMutablePointer<GstElement>?, UnsafeMutablePointer<GstPad>?, gpointer?
      ) -> Void = { _, pad, data in
        guard let pad, let data else { return }
        Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue().addSink(for: pad)
      }
    g_signal_connect_data(
      element, "pad-added", unsafeBitCast(added, to: GCallback.self), this, nil,
      GConnectFlags(rawValue: 0))
  }

  // MARK: Pads

  private func addSink(for pad: UnsafeMutablePointer<GstPad>) {
    guard let sink = gst_pad_new(nil, GST_PAD_SINK) else { return }
    gst_object_ref_sink(sink)
    sink.pointee.element_private = UnsafeMutableRawPointer(bus)
    gst_pad_set_chain_function_full(
      sink,
      { _, _, buffer in
        gst_buffer_unref(buffer)
        return GST_FLOW_OK
      }, nil, nil)
    gst_pad_set_event_function_full(
      sink,
      { pad, _, event in
        guard let event else { return 0 }
        if event.pointee.type == GST_EVENT_EOS, let bus = pad?.pointee.element_private {
          let structure = gst_structure_new_empty("end")
          gst_bus_post(
            bus.assumingMemoryBound(to: GstBus.self), gst_message_new_application(nil, structure))
        }
        gst_event_unref(event)
        return 1
      }, nil, nil)
    gst_pad_set_active(sink, 1)
    gst_pad_link(pad, sink)
    sinks.withLock { $0.append(Int(bitPattern: sink)) }
  }

  private var sinkPads: [UnsafeMutablePointer<GstPad>] {
    sinks.withLock { $0 }.compactMap { UnsafeMutablePointer(bitPattern: $0) }
  }

  private func linkSource() {
    guard let sink = gst_element_get_static_pad(element, "sink") else { return }
    gst_pad_link(source, sink)
    gst_object_unref(sink)
  }

  // MARK: Push

  func push() {
    linkSource()
    gst_element_set_state(element, GST_STATE_PAUSED)
    gst_pad_set_active(source, 1)
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_BYTES)
    gst_pad_push_event(source, gst_event_new_stream_start("fuzz"))
    gst_pad_push_event(source, gst_event_new_segment(&segment))
    var offset = 0
    var piece = 1 + bytes.count % 61
    while offset < bytes.count {
      let end = min(offset + piece, bytes.count)
      let part = Array(bytes[offset..<end])
      let buffer = gst_buffer_new_memdup(part, gsize(part.count))
      guard gst_pad_push(source, buffer) == GST_FLOW_OK else { break }
      offset = end
      piece = piece % 4093 * 7 + 1
    }
    gst_pad_push_event(source, gst_event_new_eos())
  }

  // MARK: Pull

  func pull() {
    gst_pad_set_getrange_function_full(
      source,
      { pad, _, offset, size, result in
        guard let data = pad?.pointee.element_private else { return GST_FLOW_ERROR }
        return Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue()
          .read(offset, size, result)
      }, nil, nil)
    gst_pad_set_query_function_full(
      source,
      { pad, _, query in
        guard let query, let data = pad?.pointee.element_private else { return 0 }
        return Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue().answer(query)
      }, nil, nil)
    linkSource()
    gst_element_set_state(element, GST_STATE_PAUSED)
    guard waitForEnd(), let sink = sinkPads.first else { return }
    for (rate, start) in [(1.0, gint64(bytes.count) * 100_000), (-1.0, 0)] {
      let flags = GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue
      guard
        gst_pad_push_event(
          sink,
          gst_event_new_seek(
            rate, GST_FORMAT_TIME, GstSeekFlags(flags), GST_SEEK_TYPE_SET, start,
            GST_SEEK_TYPE_NONE, -1)) != 0,
        waitForEnd()
      else { return }
    }
  }

  private func read(
    _ offset: guint64, _ size: guint,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>?
  ) -> GstFlowReturn {
    guard let start = Int(exactly: offset), start < bytes.count else { return GST_FLOW_EOS }
    let end = min(start + Int(size), bytes.count)
    let part = Array(bytes[start..<end])
    // A buffer that is given is to be filled.
    if let given = result?.pointee {
      gst_buffer_fill(given, 0, part, gsize(part.count))
      gst_buffer_set_size(given, gssize(part.count))
    } else {
      result?.pointee = gst_buffer_new_memdup(part, gsize(part.count))
    }
    return GST_FLOW_OK
  }

  private func answer(_ query: UnsafeMutablePointer<GstQuery>) -> gboolean {
    switch query.pointee.type {
    case GST_QUERY_SCHEDULING:
      gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0)
      gst_query_add_scheduling_mode(query, GST_PAD_MODE_PULL)
      return 1
    case GST_QUERY_DURATION:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_duration(query, &format, nil)
      guard format == GST_FORMAT_BYTES else { return 0 }
      gst_query_set_duration(query, format, gint64(bytes.count))
      return 1
    default: return 0
    }
  }

  /// Waits until all pads have ended; false where an error came first.
  private func waitForEnd() -> Bool {
    var ended = 0
    while true {
      let types = GstMessageType(
        GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_APPLICATION.rawValue)
      guard let message = gst_bus_timed_pop_filtered(bus, 10_000_000_000, types) else {
        fatalError("mvhevcdemux hangs")
      }
      defer { gst_message_unref(message) }
      if message.pointee.type == GST_MESSAGE_ERROR { return false }
      ended += 1
      if ended >= sinks.withLock({ $0.count }) { return true }
    }
  }

  // MARK: End

  func close() {
    gst_element_set_state(element, GST_STATE_NULL)
    gst_element_set_bus(element, nil)
    gst_object_unref(element)
    gst_pad_set_active(source, 0)
    gst_object_unref(source)
    for sink in sinkPads {
      gst_pad_set_active(sink, 0)
      gst_object_unref(sink)
    }
    gst_object_unref(bus)
  }
}
