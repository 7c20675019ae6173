// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo

/// An `appsrc`: the start of a pipeline, to which a program passes buffers.
package final class AppSource: @unchecked Sendable {
  package let element: Element
  private let depth: UInt64

  /// Called in a streaming thread, or in the thread that seeks. They must not block.
  package struct Callbacks: Sendable {
    /// The queue has room for more buffers.
    package let needData: @Sendable () -> Void
    /// The next buffer must be the one at this time. Buffers pushed before the next `needData` are
    /// dropped.
    package let seekData: (@Sendable (ClockTime) -> Void)?

    /// - Parameter seekData: Nil if the source is not seekable.
    package init(
      needData: @escaping @Sendable () -> Void, seekData: (@Sendable (ClockTime) -> Void)? = nil
    ) {
      (self.needData, self.seekData) = (needData, seekData)
    }
  }

  /// The data of the element's callbacks.
  private final class Receiver {
    let callbacks: Callbacks

    init(_ callbacks: Callbacks) {
      self.callbacks = callbacks
    }
  }

  /// - Parameters:
  ///   - element: An `appsrc` of a pipeline that is not running yet.
  ///   - depth: Maximum number of queued buffers.
  package init(_ element: Element, depth: Int, _ told: Callbacks) {
    self.element = element
    self.depth = UInt64(clamping: max(1, depth))
    let source = Self.source(element)
    element.set("format", "time")
    gst_app_src_set_max_buffers(source, guint64(self.depth))
    // No limit in bytes: a single frame may exceed the default one.
    gst_app_src_set_max_bytes(source, 0)
    gst_app_src_set_stream_type(
      source, told.seekData == nil ? GST_APP_STREAM_TYPE_STREAM : GST_APP_STREAM_TYPE_SEEKABLE)
    var callbacks = GstAppSrcCallbacks()
    callbacks.need_data = { _, _, data in
      if let data {
        Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue().callbacks.needData()
      }
    }
    callbacks.seek_data = { _, time, data in
      guard let data else { return 0 }
      let callbacks = Unmanaged<Receiver>.fromOpaque(data).takeUnretainedValue().callbacks
      callbacks.seekData?(ClockTime(nanoseconds: time))
      return callbacks.seekData == nil ? 0 : 1
    }
    gst_app_src_set_callbacks(
      source, &callbacks, Unmanaged.passRetained(Receiver(told)).toOpaque()
    ) { data in
      if let data { Unmanaged<Receiver>.fromOpaque(data).release() }
    }
  }

  deinit {
    var none = GstAppSrcCallbacks()
    gst_app_src_set_callbacks(Self.source(element), &none, nil, nil)
  }

  private static func source(_ element: Element) -> UnsafeMutablePointer<GstAppSrc> {
    UnsafeMutableRawPointer(element.pointer).assumingMemoryBound(to: GstAppSrc.self)
  }

  /// Sets the caps of the following buffers.
  package func setCaps(_ caps: Caps) { gst_app_src_set_caps(Self.source(element), caps.pointer) }

  /// Whether there is room for another buffer.
  package var wantsMore: Bool {
    gst_app_src_get_current_level_buffers(Self.source(element)) < depth
  }

  /// Whether the queue is empty.
  package var isEmpty: Bool { gst_app_src_get_current_level_buffers(Self.source(element)) == 0 }

  /// Pushes a buffer. Throws if the pipeline does not accept any more.
  package func push(_ buffer: Buffer) throws(FlowReturn) {
    let flow = gst_app_src_push_buffer(
      Self.source(element), gst_buffer_ref(buffer.pointer))
    try FlowReturn(rawValue: flow.rawValue).check()
  }

  /// Signals the end of the stream.
  package func end() { gst_app_src_end_of_stream(Self.source(element)) }
}
