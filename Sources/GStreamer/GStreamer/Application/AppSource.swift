// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An `appsrc`: the beginning of a pipeline, to which a program gives buffers.
package final class AppSource: @unchecked Sendable {
  package let element: Element
  private let depth: UInt64

  /// What it tells the program, in a streaming thread or in that of who searches. Neither may block.
  package struct Callbacks: Sendable {
    /// It wants more.
    package let needData: @Sendable () -> Void
    /// Buffers are to come from this time on. What is given before it wants more is lost.
    package let seekData: (@Sendable (ClockTime) -> Void)?

    /// - Parameter seekData: nil where it cannot be searched.
    package init(
      needData: @escaping @Sendable () -> Void, seekData: (@Sendable (ClockTime) -> Void)? = nil
    ) {
      (self.needData, self.seekData) = (needData, seekData)
    }
  }

  /// What the element's callbacks hold.
  private final class Receiver {
    let callbacks: Callbacks

    init(_ callbacks: Callbacks) {
      self.callbacks = callbacks
    }
  }

  /// - Parameters:
  ///   - element: an `appsrc` of a pipeline that does not run yet.
  ///   - depth: how many buffers wait in it.
  package init(_ element: Element, depth: Int, _ told: Callbacks) {
    self.element = element
    self.depth = UInt64(clamping: max(1, depth))
    let source = Self.source(element)
    element.set("format", "time")
    gst_app_src_set_max_buffers(source, guint64(self.depth))
    // Bytes do not count: one frame may have more than the usual limit.
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
      callbacks.seekData?(ClockTime(time))
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

  /// Says what the buffers from now on are.
  package func setCaps(_ caps: Caps) { gst_app_src_set_caps(Self.source(element), caps.pointer) }

  /// Whether there is room for another buffer.
  package var wantsMore: Bool {
    gst_app_src_get_current_level_buffers(Self.source(element)) < depth
  }

  /// Whether nothing waits.
  package var isEmpty: Bool { gst_app_src_get_current_level_buffers(Self.source(element)) == 0 }

  /// Gives it a buffer. Throws where the pipeline takes no more.
  package func push(_ buffer: Buffer) throws(FlowReturn) {
    let flow = gst_app_src_push_buffer(
      Self.source(element), gst_buffer_ref(buffer.pointer))
    try FlowReturn(rawValue: flow.rawValue).check()
  }

  /// Nothing more comes.
  package func end() { gst_app_src_end_of_stream(Self.source(element)) }
}
