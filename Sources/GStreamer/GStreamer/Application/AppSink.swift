// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// An `appsink`: the end of a pipeline, from which a program takes what comes.
///
/// The element is the queue: it holds at most so many buffers, and then blocks what is upstream.
package final class AppSink: @unchecked Sendable {
  /// How the sink deals with what comes.
  package struct Settings: Sendable {
    /// How many buffers wait for the program.
    package var depth = 2
    /// Buffers come when they are due, by the pipeline's clock, and not as fast as they can be made.
    package var isSynchronised = false
    /// Where nobody takes them, the oldest go, and nothing blocks.
    package var drops = false

    package init() {}
  }

  /// A buffer and what it is.
  package struct Sample: Sendable {
    package let buffer: Buffer
    /// Nil for what is no raw video.
    package let info: VideoInfo?
    /// The buffer's time on the movie's time line, which its PTS is not: movies start with an edit.
    /// What begins before the part that is played has its own time there, too.
    package let streamTime: ClockTime?
    /// On the pipeline's clock, from the moment it began to play.
    package let runningTime: ClockTime?
    /// That the buffer lies in, or partly.
    package let segment: Segment?
  }

  package let element: Element
  private let format = Locked<(caps: Caps, info: VideoInfo?)?>(nil)

  /// - Parameters:
  ///   - element: an `appsink` of a pipeline that does not run yet.
  ///   - waker: told of each buffer and of the end, in a streaming thread.
  package init(_ element: Element, _ settings: Settings, waker: Waker? = nil) {
    self.element = element
    let sink = Self.sink(element)
    gst_app_sink_set_max_buffers(sink, UInt32(clamping: max(1, settings.depth)))
    gst_app_sink_set_drop(sink, settings.drops ? 1 : 0)
    // The end is there when the last buffer came, not when it was taken: teardown would wait.
    gst_app_sink_set_wait_on_eos(sink, 0)
    let base = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstBaseSink.self)
    gst_base_sink_set_sync(base, settings.isSynchronised ? 1 : 0)
    // Two sinks behind one streaming thread would each wait for the other's first buffer.
    gst_base_sink_set_async_enabled(base, settings.isSynchronised ? 1 : 0)
    // It would hold a buffer of the decoder's pool.
    gst_base_sink_set_last_sample_enabled(base, 0)
    if let waker { watch { waker.wake() } }
    takeVideoMeta()
  }

  deinit {
    var none = GstAppSinkCallbacks()
    gst_app_sink_set_callbacks(Self.sink(element), &none, nil, nil)
  }

  private static func sink(_ element: Element) -> UnsafeMutablePointer<GstAppSink> {
    UnsafeMutableRawPointer(element.pointer).assumingMemoryBound(to: GstAppSink.self)
  }

  /// Has each buffer given to `body` when it comes, in the streaming thread: in place of a waker
  /// and of ``pull()``.
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

  /// What the element's callbacks hold.
  private final class Watcher: Sendable {
    let onChange: @Sendable () -> Void

    init(_ onChange: @escaping @Sendable () -> Void) { self.onChange = onChange }
  }

  /// The element takes frames that lie in their buffers as a GstVideoMeta says. Up to 1.22, appsink
  /// does not say so by itself, and decoders and splitters would copy each frame.
  private func takeVideoMeta() {
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

  /// The next buffer; nil where none waits.
  package func pull() -> Sample? { adopt(gst_app_sink_try_pull_sample(Self.sink(element), 0)) }

  /// The buffer that the sink waits with in PAUSED; nil where it does not, or this buffer was taken.
  package func pullPreroll() -> Sample? {
    adopt(gst_app_sink_try_pull_preroll(Self.sink(element), 0))
  }

  /// Sends an event upstream, such as a seek; false where nobody takes it.
  ///
  /// Through the pad, since an element takes events between its changes of state only: one that waits for a
  /// full sink, which waits for ``pull()``, would wait for ever where the same task sends and pulls.
  package func push(_ event: Event) -> Bool { element.staticPad("sink")?.push(event) ?? false }

  /// In PAUSED, goes so many buffers on; the next one prerolls.
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

  /// What `caps` say; read once, since all buffers of a stream have the same ones.
  private func info(_ caps: UnsafeMutablePointer<GstCaps>?) -> VideoInfo? {
    guard let caps else { return nil }
    let handle = Caps(retaining: caps)
    return format.withLock { format in
      if let format, format.caps.pointer == handle.pointer { return format.info }
      let info = VideoInfo(handle)
      format = (handle, info)
      return info
    }
  }

  /// Nothing waits, and nothing more comes.
  package var hasEnded: Bool { gst_app_sink_is_eos(Self.sink(element)) != 0 }
}

/// Wakes the tasks that wait for a pipeline: anything may have happened, and they look for themselves
/// what it was.
package final class Waker: Sendable {
  private struct State {
    var count = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  /// Something has happened. From any thread; never blocks.
  package func wake() {
    let waiting = state.withLock { state in
      state.count &+= 1
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// How often something has happened: to be asked before one looks, and given to `wait`.
  package var count: Int { state.withLock { $0.count } }

  /// Waits until something has happened since the count was that, or the task is cancelled.
  package func wait(since count: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let goesOn = state.withLock { state in
          guard state.count == count, !Task.isCancelled else { return true }
          state.waiting.append(continuation)
          return false
        }
        if goesOn { continuation.resume() }
      }
    } onCancel: {
      wake()
    }
  }

  /// The same, but no longer than `limit`.
  package func wait(since count: Int, atMost limit: Duration) async {
    let timer = Task {
      try await Task.sleep(for: limit)
      wake()
    }
    defer { timer.cancel() }
    await wait(since: count)
  }
}
