// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import StereoVideo

/// A closure that runs once, after a delay, in a thread of the system clock, unless the timer is
/// released first.
public final class Timer: @unchecked Sendable {
  private let id: GstClockID?

  /// - Parameters:
  ///   - delay: The time until it runs.
  ///   - element: An element that `body` uses, which is kept alive while the timer runs.
  ///   - body: The closure.
  public init(
    after delay: ClockTime, for element: any ElementObject, _ body: @escaping @Sendable () -> Void
  ) {
    let clock = gst_system_clock_obtain()
    defer { gst_object_unref(clock) }
    let due = ClockTime(nanoseconds: gst_clock_get_time(clock)) + delay
    let id = gst_clock_new_single_shot_id(clock, due.cValue)
    self.id = id
    let owner = Element(sharing: element.gstElement)
    let callback = Callback<() -> Void> { withExtendedLifetime(owner) { body() } }
    gst_clock_id_wait_async(
      id,
      { _, _, _, context in
        if let context { Callback<() -> Void>.from(context).call() }
        return 1
      }, callback.retained(), releaseCallback)
  }

  deinit {
    // Does not wait: a body that is already running continues.
    gst_clock_id_unschedule(id)
    gst_clock_id_unref(id)
  }
}

/// Calls a closure again and again, in a thread of its own, until the ticker is released.
public final class Ticker: Sendable {
  private let isOver = Monitor(false)

  /// - Parameters:
  ///   - interval: The time between two calls.
  ///   - element: An element that `body` uses, which is kept alive while the thread runs.
  ///   - body: The closure. It may take long.
  public init(
    every interval: ClockTime, for element: any ElementObject,
    _ body: @escaping @Sendable () -> Void
  ) {
    let owner = Element(sharing: element.gstElement)
    let work = Callback<() -> Void> { [isOver] in
      while isOver.wait(atMost: interval, until: { $0 ? true : nil }) == nil {
        withExtendedLifetime(owner) { body() }
      }
    }
    let thread = g_thread_new(
      "ticker",
      { context in
        if let context {
          Callback<() -> Void>.from(context).call()
          releaseCallback(context)
        }
        return nil
      }, work.retained())
    g_thread_unref(thread)
  }

  deinit {
    // Does not wait: a body that is already running continues.
    isOver.change { $0 = true }
  }
}
