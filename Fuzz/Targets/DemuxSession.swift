// SPDX-License-Identifier: MPL-2.0

public import CGStreamer
import StereoVideo
import Synchronization

/// How an `mvhevcdemux` gets its input, and what upstream does wrong.
public struct Upstream: Sendable {
  /// Whether the demuxer works in pull mode.
  public var byPulling: Bool
  /// Whether upstream can seek to any byte in push mode.
  public var isSeekable = false
  /// Whether upstream reports the file size.
  public var knowsSize = true
  /// The caps that upstream sends; nil for none.
  public var caps: String?
  /// Size of each pushed buffer; nil for varying sizes from 1 on.
  public var chunkSize: Int?
  /// Sizes of the first pushed buffers.
  public var firstChunks: [Int] = []
  /// Maximum number of bytes that a read returns, whatever is requested.
  public var longestRead = Int.max
  /// The flow return in place of the byte at this offset. In push mode the input ends there, except
  /// for `GST_FLOW_FLUSHING`: then a flush and the whole file again follow.
  public var failure: (offset: Int, flow: GstFlowReturn)?
  /// Seeks to send when everything has been played; pull mode only.
  public var seeks: [SeekRequest] = []

  /// Creates an upstream without errors.
  public init(byPulling: Bool) {
    self.byPulling = byPulling
  }

  /// A seek event.
  public struct SeekRequest: Sendable {
    /// Playback rate.
    public var rate: Double
    /// `GstSeekFlags`.
    public var flags: UInt32
    /// In nanoseconds; -1 for none.
    public var start: Int
    /// In nanoseconds; -1 for none.
    public var stop: Int

    /// Creates a seek event.
    public init(rate: Double, flags: GstSeekFlags, start: Int, stop: Int = -1) {
      (self.rate, self.flags, self.start, self.stop) = (rate, flags.rawValue, start, stop)
    }
  }
}

/// The output of an `mvhevcdemux`.
public struct DemuxOutcome: Sendable {
  /// The posted errors with their debug texts.
  public var errors: [String] = []
  /// The posted warnings with their debug texts.
  public var warnings: [String] = []
  /// Number of buffers pushed by each pad.
  public var buffers: [String: Int] = [:]
  /// Pads that have sent EOS or segment-done.
  public var endedPads: Set<String> = []
  /// Whether neither an end nor an error came in time.
  public var hangs = false

  /// Number of buffers pushed by all pads.
  public var bufferCount: Int { buffers.values.reduce(0, +) }

  /// Whether there was no error, but also no output or not all pads ended.
  public var isSilent: Bool {
    guard errors.isEmpty else { return false }
    return bufferCount == 0 || endedPads.count < buffers.count
  }
}

/// An `mvhevcdemux` between a source pad that provides bytes and sink pads that accept everything.
final class DemuxSession {
  private let element: UnsafeMutablePointer<GstElement>
  private let bus = gst_bus_new()
  private let source: UnsafeMutablePointer<GstPad>
  private let bytes: [UInt8]
  private let upstream: Upstream
  /// Pads that stay unlinked.
  private let unlinked: Set<String>

  private struct Sinks {
    var pads: [Int] = []
    var outcome = DemuxOutcome()
    /// Whether EOS has been received; pads then accept only a flush.
    var hasEOS = false
  }
  private let sinks = Mutex(Sinks())
  /// The offset that upstream has been asked to continue at.
  private let wanted = Mutex<Int?>(nil)

  /// Plays bytes to the end.
  static func play(
    _ bytes: [UInt8], _ upstream: Upstream, leaving unlinked: Set<String>
  ) -> DemuxOutcome {
    guard let element = gst_element_factory_make("mvhevcdemux", nil) else {
      fatalError("element mvhevcdemux not found: is the plugin on GST_PLUGIN_PATH?")
    }
    let session = DemuxSession(element, bytes, upstream, unlinked)
    if upstream.byPulling { session.pull() } else { session.push() }
    session.close()
    return session.sinks.withLock { $0.outcome }
  }

  private init(
    _ element: UnsafeMutablePointer<GstElement>, _ bytes: [UInt8], _ upstream: Upstream,
    _ unlinked: Set<String>
  ) {
    self.element = element
    self.unlinked = unlinked
    self.bytes = bytes
    self.upstream = upstream
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
    let answer: GstPadQueryFunction = { pad, _, query in
      guard let query, let data = pad?.pointee.element_private else { return 0 }
      return Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue().answer(query)
    }
    gst_pad_set_query_function_full(source, answer, nil, nil)
    gst_pad_set_event_function_full(
      source,
      { pad, _, event in
        guard let event else { return 0 }
        defer { gst_event_unref(event) }
        guard let data = pad?.pointee.element_private else { return 0 }
        return Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue().seek(event) ? 1 : 0
      }, nil, nil)
  }

  // MARK: Pads

  private func addSink(for pad: UnsafeMutablePointer<GstPad>) {
    let name = Self.name(pad)
    guard !unlinked.contains(name), let sink = gst_pad_new(name, GST_PAD_SINK) else { return }
    gst_object_ref_sink(sink)
    sink.pointee.element_private = Unmanaged.passUnretained(self).toOpaque()
    gst_pad_set_chain_function_full(
      sink,
      { pad, _, buffer in
        gst_buffer_unref(buffer)
        guard let pad, let data = pad.pointee.element_private else { return GST_FLOW_ERROR }
        Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue().sinks.withLock {
          $0.outcome.buffers[DemuxSession.name(pad), default: 0] += 1
        }
        return GST_FLOW_OK
      }, nil, nil)
    gst_pad_set_event_function_full(
      sink,
      { pad, _, event in
        guard let event else { return 0 }
        defer { gst_event_unref(event) }
        guard let pad, let data = pad.pointee.element_private else { return 0 }
        let session = Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue()
        switch event.pointee.type {
        case GST_EVENT_EOS, GST_EVENT_SEGMENT_DONE:
          session.sinks.withLock { $0.hasEOS = event.pointee.type == GST_EVENT_EOS }
          session.end(DemuxSession.name(pad))
        case GST_EVENT_FLUSH_STOP:
          session.sinks.withLock { _ = $0.outcome.endedPads.remove(DemuxSession.name(pad)) }
        default: break
        }
        return 1
      }, nil, nil)
    gst_pad_set_active(sink, 1)
    sinks.withLock {
      $0.pads.append(Int(bitPattern: sink))
      $0.outcome.buffers[name] = 0
    }
    gst_pad_link(pad, sink)
  }

  private static func name(_ pad: UnsafeMutablePointer<GstPad>) -> String {
    pad.withMemoryRebound(to: GstObject.self, capacity: 1) {
      $0.pointee.name.map { String(cString: $0) } ?? ""
    }
  }

  private func end(_ pad: String) {
    let isLast = sinks.withLock {
      $0.outcome.endedPads.insert(pad).inserted
        && $0.outcome.endedPads.count == $0.outcome.buffers.count
    }
    if isLast { postEnd() }
  }

  private func postEnd() {
    gst_bus_post(bus, gst_message_new_application(nil, gst_structure_new_empty("end")))
  }

  private func linkSource() {
    guard let sink = gst_element_get_static_pad(element, "sink") else { return }
    gst_pad_link(source, sink)
    gst_object_unref(sink)
  }

  // MARK: Push

  private func push() {
    linkSource()
    gst_element_set_state(element, GST_STATE_PAUSED)
    gst_pad_set_active(source, 1)
    gst_pad_push_event(source, gst_event_new_stream_start("fuzz"))
    if let caps = upstream.caps.flatMap({ gst_caps_from_string($0) }) {
      gst_pad_push_event(source, gst_event_new_caps(caps))
      gst_caps_unref(caps)
    }
    pushSegment()
    if pushBytes(upTo: upstream.failure?.offset ?? bytes.count),
      upstream.failure?.flow == GST_FLOW_FLUSHING
    {
      gst_pad_push_event(source, gst_event_new_flush_start())
      gst_pad_push_event(source, gst_event_new_flush_stop(1))
      pushSegment()
      _ = pushBytes(upTo: bytes.count)
    }
    gst_pad_push_event(source, gst_event_new_eos())
    readMessages()
  }

  private func pushSegment(at start: Int = 0) {
    var segment = GstSegment()
    gst_segment_init(&segment, upstream.caps == nil ? GST_FORMAT_BYTES : GST_FORMAT_TIME)
    segment.start = guint64(start)
    segment.time = guint64(start)
    gst_pad_push_event(source, gst_event_new_segment(&segment))
  }

  /// Continues at another byte if the event is a seek to one.
  private func seek(_ event: UnsafeMutablePointer<GstEvent>) -> Bool {
    var format = GST_FORMAT_UNDEFINED
    var start: gint64 = 0
    guard upstream.isSeekable, event.pointee.type == GST_EVENT_SEEK else { return false }
    gst_event_parse_seek(event, nil, &format, nil, nil, &start, nil, nil)
    guard format == GST_FORMAT_BYTES, (0...bytes.count).contains(start) else { return false }
    let number = gst_event_get_seqnum(event)
    for reaction in [gst_event_new_flush_start(), gst_event_new_flush_stop(1)] {
      gst_event_set_seqnum(reaction, number)
      gst_pad_push_event(source, reaction)
    }
    pushSegment(at: start)
    wanted.withLock { $0 = start }
    return true
  }

  /// Returns whether all bytes were accepted.
  private func pushBytes(upTo limit: Int) -> Bool {
    var offset = 0
    var first = upstream.firstChunks[...]
    var chunk = first.popFirst() ?? upstream.chunkSize ?? 1 + bytes.count % 61
    while offset < limit {
      let end = min(offset + max(1, chunk), limit)
      let part = Array(bytes[offset..<end])
      guard gst_pad_push(source, gst_buffer_new_memdup(part, gsize(part.count))) == GST_FLOW_OK
      else { return false }
      offset = wanted.withLock { $0.take() } ?? end
      chunk = first.popFirst() ?? upstream.chunkSize ?? chunk % 4093 * 7 + 1
    }
    return true
  }

  // MARK: Pull

  private func pull() {
    gst_pad_set_getrange_function_full(
      source,
      { pad, _, offset, size, result in
        guard let data = pad?.pointee.element_private else { return GST_FLOW_ERROR }
        return Unmanaged<DemuxSession>.fromOpaque(data).takeUnretainedValue()
          .read(offset, size, result)
      }, nil, nil)
    linkSource()
    gst_element_set_state(element, GST_STATE_PAUSED)
    guard waitForEnd() else { return }
    for seek in upstream.seeks {
      guard let sink = sinks.withLock({ $0.pads.first }),
        let pad = UnsafeMutablePointer<GstPad>(bitPattern: sink)
      else { return }
      let flushes = seek.flags & GST_SEEK_FLAG_FLUSH.rawValue != 0
      if !flushes, sinks.withLock({ $0.hasEOS }) { continue }
      sinks.withLock { $0.outcome.endedPads = [] }
      let isSent = gst_pad_push_event(
        pad,
        gst_event_new_seek(
          seek.rate, GST_FORMAT_TIME, GstSeekFlags(seek.flags), GST_SEEK_TYPE_SET, seek.start,
          seek.stop < 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, seek.stop))
      if isSent != 0, !waitForEnd() { return }
    }
  }

  private func read(
    _ offset: guint64, _ size: guint,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<GstBuffer>?>?
  ) -> GstFlowReturn {
    guard let start = Int(exactly: offset), start < bytes.count else { return GST_FLOW_EOS }
    let end = min(start + min(Int(size), upstream.longestRead), bytes.count)
    if let failure = upstream.failure, end > failure.offset {
      // In pull mode, nothing reports this flow return.
      if failure.flow == GST_FLOW_FLUSHING { postEnd() }
      return failure.flow
    }
    let part = Array(bytes[start..<end])
    // A buffer passed in must be filled.
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
    case GST_QUERY_SCHEDULING where upstream.byPulling:
      gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEEKABLE, 1, -1, 0)
      gst_query_add_scheduling_mode(query, GST_PAD_MODE_PULL)
      return 1
    case GST_QUERY_SEEKING where upstream.isSeekable:
      gst_query_set_seeking(query, GST_FORMAT_BYTES, 1, 0, gint64(bytes.count))
      return 1
    case GST_QUERY_DURATION where upstream.knowsSize:
      var format = GST_FORMAT_UNDEFINED
      gst_query_parse_duration(query, &format, nil)
      guard format == GST_FORMAT_BYTES else { return 0 }
      gst_query_set_duration(query, format, gint64(bytes.count))
      return 1
    default: return 0
    }
  }

  // MARK: Messages

  /// Maximum time in which nothing comes; only meant to detect hangs.
  private static let patience: GstClockTime = 120_000_000_000

  /// Waits until all pads have ended; returns false after an error, or if nothing comes any more.
  private func waitForEnd() -> Bool {
    let types =
      GST_MESSAGE_ERROR.rawValue | GST_MESSAGE_WARNING.rawValue | GST_MESSAGE_APPLICATION.rawValue
    var count = 0
    while true {
      guard let message = gst_bus_timed_pop_filtered(bus, Self.patience, GstMessageType(types))
      else {
        let isMoving = sinks.withLock { sinks in
          defer { count = sinks.outcome.bufferCount }
          sinks.outcome.hangs = sinks.outcome.bufferCount == count
          return !sinks.outcome.hangs
        }
        guard isMoving else { return false }
        continue
      }
      defer { gst_message_unref(message) }
      note(message)
      if message.pointee.type == GST_MESSAGE_ERROR { return false }
      if message.pointee.type == GST_MESSAGE_APPLICATION { return true }
    }
  }

  /// Reads the posted messages.
  private func readMessages() {
    while let message = gst_bus_pop(bus) {
      note(message)
      gst_message_unref(message)
    }
  }

  private func note(_ message: UnsafeMutablePointer<GstMessage>) {
    var error: UnsafeMutablePointer<GError>?
    var debug: UnsafeMutablePointer<gchar>?
    switch message.pointee.type {
    case GST_MESSAGE_ERROR: gst_message_parse_error(message, &error, &debug)
    case GST_MESSAGE_WARNING: gst_message_parse_warning(message, &error, &debug)
    default: return
    }
    var text = error?.pointee.message.map { String(cString: $0) } ?? ""
    if let debug { text += " | " + String(cString: debug) }
    g_clear_error(&error)
    g_free(debug)
    sinks.withLock {
      if message.pointee.type == GST_MESSAGE_ERROR {
        $0.outcome.errors.append(text)
      } else {
        $0.outcome.warnings.append(text)
      }
    }
  }

  // MARK: End

  private func close() {
    gst_element_set_state(element, GST_STATE_NULL)
    readMessages()
    gst_element_set_bus(element, nil)
    gst_object_unref(element)
    gst_pad_set_active(source, 0)
    gst_object_unref(source)
    for pad in sinks.withLock({ $0.pads }) {
      guard let sink = UnsafeMutablePointer<GstPad>(bitPattern: pad) else { continue }
      gst_pad_set_active(sink, 0)
      gst_object_unref(sink)
    }
    gst_object_unref(bus)
  }
}
