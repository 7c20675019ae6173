// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An `appsink`: the end of a pipeline, from which a program takes buffers.
///
/// The element queues a limited number of buffers, and blocks upstream when it is full.
package final class AppSink: @unchecked Sendable {
  /// How the sink queues buffers.
  package struct Settings: Sendable {
    /// Maximum number of queued buffers.
    package var depth = 2
    /// Whether buffers arrive in real time, by the pipeline's clock, instead of as fast as
    /// possible.
    package var isSynchronised = false
    /// Whether a full queue drops the oldest buffer instead of blocking.
    package var drops = false

    package init() {}
  }

  /// A buffer with its format and times.
  package struct Sample: Sendable {
    package let buffer: Buffer
    /// Nil for anything but raw video.
    package let info: VideoInfo?
    /// The buffer's stream time, which differs from its PTS: movies start with an edit. It is given
    /// even for a buffer that starts before the segment.
    package let streamTime: ClockTime?
    /// The buffer's running time; nil outside the segment.
    package let runningTime: ClockTime?
    /// The segment that contains the buffer, at least in part.
    package let segment: Segment?
  }

  package let element: Element
  private let format = Locked<(caps: Caps, info: VideoInfo?)?>(nil)

  /// - Parameters:
  ///   - element: An `appsink` of a pipeline that is not running yet.
  ///   - waker: Woken for each buffer and at the end, in a streaming thread.
  package init(_ element: Element, _ settings: Settings, waker: Waker? = nil) {
    self.element = element
    let sink = Self.sink(element)
    gst_app_sink_set_max_buffers(sink, UInt32(clamping: max(1, settings.depth)))
    gst_app_sink_set_drop(sink, settings.drops ? 1 : 0)
    // EOS is reached when the last buffer has arrived, not when it has been taken: teardown would
    // wait.
    gst_app_sink_set_wait_on_eos(sink, 0)
    let base = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstBaseSink.self)
    gst_base_sink_set_sync(base, settings.isSynchronised ? 1 : 0)
    // Two sinks after one streaming thread would each wait for the other's first buffer.
    gst_base_sink_set_async_enabled(base, settings.isSynchronised ? 1 : 0)
    // The last sample would keep a buffer of the decoder's pool.
    gst_base_sink_set_last_sample_enabled(base, 0)
    if let waker { watch { waker.wake() } }
    proposeVideoMeta()
  }

  deinit {
    var none = GstAppSinkCallbacks()
    gst_app_sink_set_callbacks(Self.sink(element), &none, nil, nil)
  }

  private static func sink(_ element: Element) -> UnsafeMutablePointer<GstAppSink> {
    UnsafeMutableRawPointer(element.pointer).assumingMemoryBound(to: GstAppSink.self)
  }

  /// Passes each buffer to `body` as it arrives, in the streaming thread, instead of waking a waker
  /// for ``pull()``.
  package func deliver(to body: @escaping @Sendable (Sample) -> Void) {
    watch { [weak self] in
      if let sample = self?.pull() { body(sample) }
    }
  }

  private func watch(_ onChange: @escaping @Sendable () -> Void) {
    var callbacks = GstAppSinkCallbacks()
    callbacks.eos = { _, data in
      if let data { Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue().onChange() }
    }
    callbacks.new_sample = { _, data in
      if let data { Unmanaged<Watcher>.fromOpaque(data).takeUnretainedValue().onChange() }
      return GST_FLOW_OK
    }
    gst_app_sink_set_callbacks(
      Self.sink(element), &callbacks, Unmanaged.passRetained(Watcher(onChange)).toOpaque()
    ) { data in
      if let data { Unmanaged<Watcher>.fromOpaque(data).release() }
    }
  }

  /// The data of the element's callbacks.
  private final class Watcher: Sendable {
    fileprivate let onChange: @Sendable () -> Void

    init(_ onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }
  }

  /// Announces support of GstVideoMeta. Up to 1.22, appsink does not do so itself, and decoders and
  /// splitters would copy each frame.
  private func proposeVideoMeta() {
    guard let pad = element.staticPad("sink") else { return }
    let what = GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM.rawValue | GST_PAD_PROBE_TYPE_PUSH.rawValue
    gst_pad_add_probe(
      pad.pointer, GstPadProbeType(what),
      { _, info, _ in
        guard let query = info?.pointee.data?.assumingMemoryBound(to: GstQuery.self),
          query.pointee.type == GST_QUERY_ALLOCATION
        else { return GST_PAD_PROBE_OK }
        gst_query_add_allocation_meta(query, gst_video_meta_api_get_type(), nil)
        return GST_PAD_PROBE_HANDLED
      }, nil, nil)
  }

  /// Removes and returns the next buffer; nil if the queue is empty.
  package func pull() -> Sample? { adopt(gst_app_sink_try_pull_sample(Self.sink(element), 0)) }

  /// Returns the preroll buffer in PAUSED; nil if there is none or it was already taken.
  package func pullPreroll() -> Sample? {
    adopt(gst_app_sink_try_pull_preroll(Self.sink(element), 0))
  }

  /// Sends an event upstream, such as a seek; returns false if it is not handled.
  ///
  /// It is sent through the pad because an element handles events only between its state changes. A
  /// state change can wait for a full sink, which waits for ``pull()``; a task that both sends and
  /// pulls would then wait forever.
  package func push(_ event: Event) -> Bool { element.staticPad("sink")?.push(event) ?? false }

  /// In PAUSED, steps forward by `count` buffers; the next one prerolls.
  package func skip(_ count: Int) {
    gst_element_send_event(
      element.pointer, gst_event_new_step(GST_FORMAT_BUFFERS, guint64(max(0, count)), 1, 1, 0))
  }

  /// Takes over the caller's reference.
  private func adopt(_ sample: OpaquePointer?) -> Sample? {
    guard let sample else { return nil }
    defer {
      gst_mini_object_unref(
        UnsafeMutableRawPointer(sample).assumingMemoryBound(to: GstMiniObject.self))
    }
    guard let pointer = gst_sample_get_buffer(sample) else { return nil }
    let buffer = Buffer(retaining: pointer)
    let segment = gst_sample_get_segment(sample).map { Segment($0.pointee) }
    return Sample(
      buffer: buffer, info: info(gst_sample_get_caps(sample)),
      streamTime: buffer.pts.flatMap { segment?.unclippedStreamTime($0) },
      runningTime: buffer.pts.flatMap { segment?.runningTime($0) }, segment: segment)
  }

  /// Returns the format in `caps`. It is parsed once, since all buffers of a stream share the same
  /// caps object.
  private func info(_ caps: UnsafeMutablePointer<GstCaps>?) -> VideoInfo? {
    guard let caps else { return nil }
    let address = UInt(bitPattern: caps)
    let known = format.withLock { format -> VideoInfo?? in
      format.flatMap { UInt(bitPattern: $0.caps.pointer) == address ? .some($0.info) : nil }
    }
    if let known { return known }
    let handle = Caps(retaining: caps)
    let info = VideoInfo(handle)
    format.withLock { $0 = (handle, info) }
    return info
  }

  /// Whether the queue is empty and no more buffers follow.
  package var hasEnded: Bool { gst_app_sink_is_eos(Self.sink(element)) != 0 }
}

/// Wakes the tasks that wait for a pipeline. They must check for themselves what has changed.
package final class Waker: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Wakes all waiting tasks. Callable from any thread; never blocks.
  package func wake() {
    let waiting = state.withLock { state in
      state.count &+= 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// The number of wake-ups so far, to be read before checking for changes and then passed to
  /// `wait`.
  package var count: Int { state.withLock { $0.count } }

  /// Waits until there have been more than `count` wake-ups, or the task is cancelled.
  package func wait(since count: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let continues = state.withLock { state in
          guard state.count == count, !Task.isCancelled else { return true }
          state.waiting.append(continuation)
          return false
        }
        if continues { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }

  /// Waits like ``wait(since:)``, but at most for `limit`.
  package func wait(since count: Int, atMost limit: Duration) async {
    let timer = Task {
      try await Task.sleep(for: limit)
      wake()
    }
    defer { timer.cancel() }
    await wait(since: count)
  }
}
