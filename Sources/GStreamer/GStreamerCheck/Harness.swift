// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import CGStreamerCheck
public import GStreamer

/// One element between a source and a sink that a test plays: `GstHarness`.
///
/// Its source is live, and the element's clock stands still unless the test moves it.
public final class Harness: @unchecked Sendable {
  private let harness: UnsafeMutablePointer<GstHarness>
  /// The clock of the element.
  public let clock: TestClock

  /// Creates an element in a harness; nil if there is no such factory.
  ///
  /// - Parameters:
  ///   - element: the factory's name.
  ///   - sinkPad: the pad that `push` sends to; nil for an element without input.
  ///   - sourcePad: the pad that `pull` takes buffers from; nil for an element without output.
  public init?(_ element: String, sinkPad: String? = "sink", sourcePad: String? = "src") {
    guard let harness = gst_harness_new_with_padnames(element, sinkPad, sourcePad) else {
      return nil
    }
    self.harness = harness
    clock = TestClock(of: harness)
    // The harness leaves its element's first reference floating, for the next `Element` to take.
    if g_object_is_floating(harness.pointee.element) != 0 {
      gst_object_ref_sink(harness.pointee.element)
    }
  }

  /// Creates a harness for other pads of another harness's element.
  public init?(sharing other: Harness, sinkPad: String? = nil, sourcePad: String?) {
    guard
      let harness = gst_harness_new_with_element(
        other.harness.pointee.element, sinkPad, sourcePad)
    else { return nil }
    self.harness = harness
    clock = other.clock
  }

  deinit {
    gst_harness_teardown(harness)
  }

  /// The element in the harness.
  public var element: Element { Element(retaining: harness.pointee.element) }

  /// The element's output caps; nil before the first caps event.
  public var sourceCaps: Caps? {
    harness.pointee.sinkpad.flatMap { Pad(retaining: $0).currentCaps }
  }

  /// Sets the caps of the buffers that `push` sends.
  public func setSourceCaps(_ caps: String) {
    gst_harness_set_src_caps_str(harness, caps)
  }

  /// Sets the caps that the harness's sink accepts.
  public func setSinkCaps(_ caps: String) {
    gst_harness_set_sink_caps_str(harness, caps)
  }

  /// Makes the harness's sink propose GstVideoMeta in ALLOCATION queries.
  public func proposeVideoMeta() {
    gst_harness_add_propose_allocation_meta(harness, gst_video_meta_api_get_type(), nil)
  }

  /// Sets the element to PLAYING.
  public func play() {
    gst_harness_play(harness)
  }

  /// Sends a buffer to the element's sink pad.
  public func push(_ buffer: Buffer) -> FlowReturn {
    FlowReturn(rawValue: gst_harness_push(harness, gst_buffer_ref(buffer.pointer)).rawValue)
  }

  /// Sends an event to the element's sink pad. Returns whether it was handled.
  @discardableResult
  public func push(_ event: Event) -> Bool {
    gst_harness_push_event(harness, gst_event_ref(event.pointer)) != 0
  }

  /// Sends an event upstream to the element's source pad. Returns whether it was handled.
  @discardableResult
  public func pushUpstream(_ event: Event) -> Bool {
    gst_harness_push_upstream_event(harness, gst_event_ref(event.pointer)) != 0
  }

  /// Returns the next event that the element has sent upstream; nil if there is none.
  public func tryPullUpstreamEvent() -> Event? {
    gst_harness_try_pull_upstream_event(harness).map { Event(adopting: $0) }
  }

  /// Returns the next buffer after waiting for up to a minute; nil if none arrives.
  public func pull() -> Buffer? {
    gst_harness_pull(harness).map { Buffer(adopting: $0) }
  }

  /// Returns the next buffer without waiting; nil if there is none.
  public func tryPull() -> Buffer? {
    gst_harness_try_pull(harness).map { Buffer(adopting: $0) }
  }

  /// Returns the next event that the element has sent downstream; nil if there is none.
  public func tryPullEvent() -> Event? {
    gst_harness_try_pull_event(harness).map { Event(adopting: $0) }
  }
}

extension TestClock {
  /// A clock for the element of a harness.
  fileprivate convenience init(of harness: UnsafeMutablePointer<GstHarness>) {
    gst_harness_use_testclock(harness)
    self.init(adopting: gst_harness_get_testclock(harness))
  }
}

extension Element {
  /// Sets a property to a value that may be out of its range. GLib then keeps the old value and
  /// logs a message, since 2.84 a critical one, which would abort the tests under
  /// `G_DEBUG=fatal-criticals`; it does not here.
  public func offer(_ property: String, _ value: String) {
    let fatal = g_log_set_always_fatal(cgst_log_errors())
    defer { g_log_set_always_fatal(fatal) }
    set(property, value)
  }
}
