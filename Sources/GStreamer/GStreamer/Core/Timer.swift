// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Something that is done once, after a time, in a thread of GStreamer's clocks, unless the timer is
/// released before.
public final class Timer: @unchecked Sendable {
  private let id: GstClockID?

  /// - Parameters:
  ///   - delay: in nanoseconds.
  ///   - element: what `body` works on; it is kept for as long as the timer runs.
  ///   - body: what is done.
  public init(
    after delay: ClockTime, for element: any ElementObject, _ body: @escaping @Sendable () -> Void
  ) {
    let clock = gst_system_clock_obtain()
    defer { gst_object_unref(clock) }
    let due = gst_clock_get_time(clock).addingReportingOverflow(GstClockTime(delay))
    let id = gst_clock_new_single_shot_id(clock, due.overflow ? .max - 1 : due.partialValue)
    self.id = id
    let owner = Element(retaining: element.gstElement)
    let callback = Callback<() -> Void> { withExtendedLifetime(owner) { body() } }
    gst_clock_id_wait_async(
      id,
      { _, _, _, context in
        if let context { Callback<() -> Void>.from(context).call() }
        return 1
      }, callback.retained(), releaseCallback)
  }

  deinit {
    // Waits for nothing: a body that runs just now goes on.
    gst_clock_id_unschedule(id)
    gst_clock_id_unref(id)
  }
}
