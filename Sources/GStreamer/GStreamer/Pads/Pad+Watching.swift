// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A buffer that passes a pad, for an application that observes it. Valid only during the call.
public struct PassingBuffer {
  /// Presentation timestamp; nil if unknown.
  public let pts: ClockTime?
  /// Duration; nil if unknown.
  public let duration: ClockTime?
  fileprivate let pad: UnsafeMutablePointer<GstPad>

  /// The current caps of the pad.
  public var caps: Caps? { gst_pad_get_current_caps(pad).map { Caps(adopting: $0) } }

  /// The tags that have passed the pad last, of the stream and of all streams; nil if there were
  /// none.
  public var tags: TagList? { .passed(pad) }
}

extension TagList {
  /// Returns the tags that have passed a pad last, merged; those of the stream take precedence. Nil
  /// if there were none. Each event has those of one scope.
  static func passed(_ pad: UnsafeMutablePointer<GstPad>) -> TagList? {
    var lists: [TagList] = []
    while let event = gst_pad_get_sticky_event(pad, GST_EVENT_TAG, guint(lists.count)),
      let tags = Event(adopting: event).tags
    {
      lists.append(tags)
    }
    let ordered = lists.filter(\.isGlobal) + lists.filter { !$0.isGlobal }
    return ordered.dropFirst().reduce(ordered.first) { $0?.merging($1) }
  }
}

extension Pad {
  /// Calls `body` with each buffer before it passes the pad, in the streaming thread, until `body`
  /// returns false.
  public func watchBuffers(_ body: @escaping @Sendable (PassingBuffer) -> Bool) {
    let what = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    let probe: GstPadProbeCallback = { pad, info, data in
      guard let pad, let info, let content = info.pointee.data, let data else {
        return GST_PAD_PROBE_OK
      }
      let watcher = Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue()
      let isList = info.pointee.type.rawValue & GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue != 0
      let continues =
        isList
        ? watcher.see(list: OpaquePointer(content), pad)
        : watcher.see(content.assumingMemoryBound(to: GstBuffer.self), pad)
      return continues ? GST_PAD_PROBE_OK : GST_PAD_PROBE_REMOVE
    }
    let watcher = Unmanaged.passRetained(Watcher(body)).toOpaque()
    gst_pad_add_probe(pointer, GstPadProbeType(what), probe, watcher) { data in
      if let data { Unmanaged<Watcher>.fromOpaque(data).release() }
    }
  }
}

extension Pad {
  /// Drops all further buffers. Events still pass.
  public func dropBuffers() {
    let what = GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue
    gst_pad_add_probe(
      pointer, GstPadProbeType(what), { _, _, _ in GST_PAD_PROBE_DROP }, nil, nil)
  }
}

private final class Watcher {
  let body: (PassingBuffer) -> Bool

  init(_ body: @escaping (PassingBuffer) -> Bool) {
    self.body = body
  }

  func see(list: OpaquePointer, _ pad: UnsafeMutablePointer<GstPad>) -> Bool {
    var continues = true
    for index in 0..<gst_buffer_list_length(list) where continues {
      if let buffer = gst_buffer_list_get(list, index) { continues = see(buffer, pad) }
    }
    return continues
  }

  /// Buffers are not wrapped: that would add a reference, and downstream elements would have to
  /// copy buffers they could otherwise modify in place.
  func see(
    _ buffer: UnsafeMutablePointer<GstBuffer>, _ pad: UnsafeMutablePointer<GstPad>
  ) -> Bool {
    body(
      PassingBuffer(
        pts: ClockTime(cValue: buffer.pointee.pts),
        duration: ClockTime(cValue: buffer.pointee.duration), pad: pad))
  }
}

extension Pad {
  /// Whether another thread is passing data to this pad right now.
  public var isStreaming: Bool {
    guard cgst_pad_stream_trylock(pointer) != 0 else { return true }
    cgst_pad_stream_unlock(pointer)
    return false
  }
}
