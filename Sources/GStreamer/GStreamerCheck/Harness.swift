// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import CGStreamerCheck
public import GStreamer

/// One element between a source and a sink that a test plays: `GstHarness`.
public final class Harness: @unchecked Sendable {
  private let harness: UnsafeMutablePointer<GstHarness>

  /// - Parameters:
  ///   - element: the factory's name.
  ///   - sinkPad: where `push` goes; nil for an element that is not fed.
  ///   - sourcePad: where `pull` gets buffers; nil for an element that gives none.
  public init?(_ element: String, sinkPad: String? = "sink", sourcePad: String? = "src") {
    guard let harness = gst_harness_new_with_padnames(element, sinkPad, sourcePad) else {
      return nil
    }
    self.harness = harness
    // The harness leaves its element's first reference floating, for the next `Element` to take.
    if g_object_is_floating(harness.pointee.element) != 0 {
      gst_object_ref_sink(harness.pointee.element)
    }
  }

  /// A further harness at another pad of the same element.
  public init?(sharing other: Harness, sinkPad: String? = nil, sourcePad: String?) {
    guard
      let harness = gst_harness_new_with_element(
        other.harness.pointee.element, sinkPad, sourcePad)
    else { return nil }
    self.harness = harness
  }

  deinit {
    gst_harness_teardown(harness)
  }

  public var element: Element { Element(retaining: harness.pointee.element) }

  /// The caps of what the element gives, once it has said them.
  public var sourceCaps: Caps? {
    harness.pointee.sinkpad.flatMap { Pad(retaining: $0).currentCaps }
  }

  public func setSourceCaps(_ caps: String) {
    gst_harness_set_src_caps_str(harness, caps)
  }

  public func setSinkCaps(_ caps: String) {
    gst_harness_set_sink_caps_str(harness, caps)
  }

  /// Makes the sink take GstVideoMeta in its answer to ALLOCATION.
  public func takeVideoMeta() {
    gst_harness_add_propose_allocation_meta(harness, gst_video_meta_api_get_type(), nil)
  }

  /// Starts the element: to PLAYING.
  public func play() {
    gst_harness_play(harness)
  }

  public func push(_ buffer: Buffer) -> FlowReturn {
    FlowReturn(rawValue: gst_harness_push(harness, gst_buffer_ref(buffer.pointer)).rawValue)
  }

  @discardableResult
  public func push(_ event: Event) -> Bool {
    gst_harness_push_event(harness, gst_event_ref(event.pointer)) != 0
  }

  /// Sends an event up from the sink.
  @discardableResult
  public func pushUpstream(_ event: Event) -> Bool {
    gst_harness_push_upstream_event(harness, gst_event_ref(event.pointer)) != 0
  }

  /// The next event that reached the source, if one is there.
  public func tryPullUpstreamEvent() -> Event? {
    gst_harness_try_pull_upstream_event(harness).map { Event(adopting: $0) }
  }

  /// The next buffer, waiting up to a minute; nil where none comes.
  public func pull() -> Buffer? {
    gst_harness_pull(harness).map { Buffer(adopting: $0) }
  }

  /// The next buffer if one is there.
  public func tryPull() -> Buffer? {
    gst_harness_try_pull(harness).map { Buffer(adopting: $0) }
  }

  /// The next event that reached the sink, if one is there.
  public func tryPullEvent() -> Event? {
    gst_harness_try_pull_event(harness).map { Event(adopting: $0) }
  }
}
