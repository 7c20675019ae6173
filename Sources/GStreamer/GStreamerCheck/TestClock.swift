// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import CGStreamerCheck
internal import Foundation
public import GStreamer
import StereoVideo

/// A clock whose time a test moves: `GstTestClock`. It begins at 0.
///
/// A wait for this clock ends when a test says so, and never before: even a wait for a time that
/// has already come lasts until ``crank()`` or ``advance(to:)`` ends it. So a deadline
/// passes because the test let it pass, however slow the machine is.
///
/// A live `GstAggregator` waits for the clock only while some pad has no data. Data that comes to a
/// pad takes that wait back before the push returns. So after pushes that have returned, what is
/// pending here is what the element waits for with all that data, and a test that cranks then
/// cannot hit an earlier wait.
public final class TestClock: @unchecked Sendable {
  private let clock: UnsafeMutablePointer<GstTestClock>
  private var isSystemClock = false
  private let isOver = Locked(false)

  /// Creates a clock at time 0.
  public init() {
    initialize()
    clock = UnsafeMutableRawPointer(gst_test_clock_new()).assumingMemoryBound(
      to: GstTestClock.self)
  }

  /// Takes over the caller's reference.
  init(adopting clock: UnsafeMutablePointer<GstTestClock>) {
    self.clock = clock
  }

  deinit {
    isOver.withLock { $0 = true }
    if isSystemClock { gst_system_clock_set_default(nil) }
    gst_object_unref(clock)
  }

  private var base: UnsafeMutablePointer<GstClock> {
    UnsafeMutableRawPointer(clock).assumingMemoryBound(to: GstClock.self)
  }

  /// Makes this the clock of a pipeline, in place of any that its elements offer. Running time 0 is
  /// the clock's time when the pipeline begins to play.
  public func use(by pipeline: Pipeline) {
    gst_pipeline_use_clock(
      UnsafeMutableRawPointer(pipeline.pointer).assumingMemoryBound(to: GstPipeline.self), base)
  }

  /// Makes this GStreamer's system clock, for timers that run while pipelines do not, until the
  /// object goes.
  public func useAsSystemClock() {
    isSystemClock = true
    gst_system_clock_set_default(base)
  }

  /// Has waits end by themselves from now on when their time has come, as those for other clocks
  /// do. The
  /// time still stands until the test moves it.
  public func endDueWaits() {
    nonisolated(unsafe) let clock = self.clock
    gst_object_ref(clock)
    Thread.detachNewThread { [isOver] in
      while !isOver.current {
        if let id = gst_test_clock_process_next_clock_id(clock) {
          gst_clock_id_unref(id)
        } else {
          Thread.sleep(forTimeInterval: 0.001)
        }
      }
      gst_object_unref(clock)
    }
  }

  /// The time.
  public var time: ClockTime { ClockTime(nanoseconds: gst_clock_get_time(base)) }

  /// The number of waits that are pending.
  public var pendingCount: Int { Int(gst_test_clock_peek_id_count(clock)) }

  /// The time that the earliest pending wait is for; nil if there is none.
  public var nextWait: ClockTime? {
    ClockTime(cValue: gst_test_clock_get_next_entry_time(clock))
  }

  /// Returns when at least this number of waits is pending; gives the time that the earliest is
  /// for.
  ///
  /// - Throws: a ``WaitFailure`` after ``Awaited/hangLimit``.
  @discardableResult
  public func waitForPending(_ count: Int = 1) throws -> ClockTime {
    let limit = guint(Awaited<Void>.hangLimit.components.seconds * 1000)
    guard
      gst_test_clock_timed_wait_for_multiple_pending_ids(clock, guint(count), limit, nil) != 0,
      let time = nextWait
    else { throw WaitFailure(description: "nothing waits for the clock at \(time.seconds) s") }
    return time
  }

  /// Waits until a wait is pending, moves the clock on to the time of the earliest, unless that has
  /// come, and ends it.
  ///
  /// - Returns: the time that the wait was for.
  /// - Throws: a ``WaitFailure`` after ``Awaited/hangLimit``.
  @discardableResult
  public func crank() throws -> ClockTime {
    let time = try waitForPending()
    gst_test_clock_crank(clock)
    return time
  }

  /// Moves the clock on, and ends the waits that are due by then.
  ///
  /// - Returns: the number of waits that it ended.
  @discardableResult
  public func advance(to time: ClockTime) -> Int {
    gst_test_clock_set_time(clock, time.cValue)
    var count = 0
    while let id = gst_test_clock_process_next_clock_id(clock) {
      gst_clock_id_unref(id)
      count += 1
    }
    return count
  }

  /// As ``advance(to:)``, by a duration.
  @discardableResult
  public func advance(by duration: ClockTime) -> Int { advance(to: time + duration) }
}
