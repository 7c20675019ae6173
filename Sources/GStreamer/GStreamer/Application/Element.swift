// SPDX-License-Identifier: MPL-2.0

package import CGStreamer

/// A reference to an element of an application's pipeline.
public class Element: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstElement>

  /// Adds a reference; a floating one is taken over.
  package init(retaining pointer: UnsafeMutablePointer<GstElement>) {
    self.pointer = pointer
    gst_object_ref_sink(pointer)
  }

  /// A new element of a registered type; throws where there is none of that name.
  public convenience init(_ factory: String, name: String? = nil) throws {
    guard let pointer = gst_element_factory_make(factory, name) else {
      throw ElementError(.missingPlugin, "There is no element \(factory).")
    }
    self.init(retaining: pointer)
  }

  deinit {
    gst_object_unref(pointer)
  }

  public var name: String { adopt(gst_object_get_name(cast(pointer))) ?? "" }

  /// Sets a property from what gst-launch would be given for it.
  public func set(_ property: String, _ value: String) {
    gst_util_set_object_arg(cast(pointer), property, value)
  }

  /// A property's value; nil for one that is absent or of a type that `Value` does not know.
  public func get(_ property: String) -> Value? {
    var value = GValue()
    guard let spec = g_object_class_find_property(objectClass, property) else { return nil }
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    g_object_get_property(cast(pointer), property, &value)
    return Value(&value)
  }

  private var objectClass: UnsafeMutablePointer<GObjectClass> { cast(pointer.elementClass) }

  /// A pad that is there, or nil.
  public func staticPad(_ name: String) -> Pad? {
    gst_element_get_static_pad(pointer, name).map { Pad(adopting: $0) }
  }

  /// A pad made on request, or nil where the element gives none.
  public func requestPad(_ name: String) -> Pad? {
    gst_element_request_pad_simple(pointer, name).map { Pad(adopting: $0) }
  }

  /// Starts a change of state; false where it fails at once. It may go on in other threads.
  @discardableResult
  public func setState(_ state: State) -> Bool {
    gst_element_set_state(pointer, state.cValue) != GST_STATE_CHANGE_FAILURE
  }

  /// Waits for a change of state to end; false where it failed or takes longer than `timeout`.
  public func waitForState(timeout: ClockTime) -> Bool {
    stateChange(timeout: timeout) == .done
  }

  /// How far a change of state is.
  public enum StateChange: Sendable {
    case done, underWay, failed
  }

  /// Waits for a change of state to end, but no longer than `timeout`.
  public func stateChange(timeout: ClockTime) -> StateChange {
    switch gst_element_get_state(pointer, nil, nil, GstClockTime(timeout)) {
    case GST_STATE_CHANGE_SUCCESS: .done
    case GST_STATE_CHANGE_FAILURE: .failed
    default: .underWay
    }
  }

  @discardableResult
  public func send(_ event: Event) -> Bool {
    gst_element_send_event(pointer, event.retainedPointer()) != 0
  }

  /// The stream time that is played, or nil where the element does not know.
  public var position: ClockTime? {
    var position: gint64 = 0
    guard gst_element_query_position(pointer, GST_FORMAT_TIME, &position) != 0 else { return nil }
    return ClockTime(exactly: position)
  }

  /// How long the stream is, or nil where the element does not know.
  public var duration: ClockTime? {
    var duration: gint64 = 0
    guard gst_element_query_duration(pointer, GST_FORMAT_TIME, &duration) != 0 else { return nil }
    return ClockTime(exactly: duration)
  }

  /// Jumps to a stream time, dropping what is under way.
  public func seek(to time: ClockTime, flags: SeekFlags = []) -> Bool {
    gst_element_seek_simple(
      pointer, GST_FORMAT_TIME, flags.union(.flush).cValue, gint64(clamping: time)) != 0
  }
}
