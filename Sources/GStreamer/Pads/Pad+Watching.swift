internal import CGStreamer

/// What passes a pad, for an application that watches it. Both are lent for the call.
public enum Passing {
  case buffer(pts: ClockTime?, duration: ClockTime?, size: Int)
  case event(Event)
}

extension Pad {
  /// Calls `body` with each buffer and each downstream event before it passes the pad, in the
  /// thread that brings it.
  public func watch(_ body: @escaping @Sendable (Passing) -> Void) {
    let what =
      GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
      | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM.rawValue
    let probe: GstPadProbeCallback = { _, info, data in
      guard let info, let content = info.pointee.data, let data else { return GST_PAD_PROBE_OK }
      let watcher = Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue()
      watcher.see(info.pointee.type.rawValue, content)
      return GST_PAD_PROBE_OK
    }
    let watcher = Unmanaged.passRetained(Watcher(body)).toOpaque()
    gst_pad_add_probe(pointer, GstPadProbeType(what), probe, watcher) { data in
      if let data { Unmanaged<Watcher>.fromOpaque(data).release() }
    }
  }
}

private final class Watcher {
  let body: (Passing) -> Void

  init(_ body: @escaping (Passing) -> Void) {
    self.body = body
  }

  func see(_ type: UInt32, _ content: UnsafeMutableRawPointer) {
    if type & GST_PAD_PROBE_TYPE_BUFFER.rawValue != 0 {
      see(content.assumingMemoryBound(to: GstBuffer.self))
    } else if type & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0 {
      let list = OpaquePointer(content)
      for index in 0..<gst_buffer_list_length(list) {
        if let buffer = gst_buffer_list_get(list, index) { see(buffer) }
      }
    } else {
      body(.event(Event(retaining: content.assumingMemoryBound(to: GstEvent.self))))
    }
  }

  /// Buffers are not wrapped: that would add a reference, and elements downstream would copy what
  /// they could have changed in place.
  private func see(_ buffer: UnsafeMutablePointer<GstBuffer>) {
    body(
      .buffer(
        pts: ClockTime(cValue: buffer.pointee.pts),
        duration: ClockTime(cValue: buffer.pointee.duration),
        size: Int(clamping: gst_buffer_get_size(buffer))))
  }
}

extension Pad {
  /// Whether another thread is handing this pad data right now.
  public var isStreaming: Bool {
    guard cgst_pad_stream_trylock(pointer) != 0 else { return true }
    cgst_pad_stream_unlock(pointer)
    return false
  }
}
