// SPDX-License-Identifier: MPL-2.0

package import CGStreamer
internal import StereoVideo

/// A reference to an element of an application's pipeline.
public class Element: @unchecked Sendable {
  package let pointer: UnsafeMutablePointer<GstElement>

  /// Adds a reference; takes over a floating one.
  package init(retaining pointer: UnsafeMutablePointer<GstElement>) {
    self.pointer = pointer
    gst_object_ref_sink(pointer)
  }

  /// Adds a reference; a floating one stays with its owner, such as a test harness.
  init(sharing pointer: UnsafeMutablePointer<GstElement>) {
    self.pointer = pointer
    gst_object_ref(pointer)
  }

  /// Creates an element; throws if there is no factory of that name.
  public convenience init(_ factory: String, name: String? = nil) throws {
    guard let pointer = gst_element_factory_make(factory, name) else {
      throw ElementError(.missingPlugin, "There is no element \(factory).")
    }
    self.init(retaining: pointer)
  }

  deinit {
    gst_object_unref(pointer)
  }

  /// The name of the element in its bin.
  public var name: String { adopt(gst_object_get_name(cast(pointer))) ?? "" }

  /// Sets a property from text in `gst-launch-1.0` syntax.
  public func set(_ property: String, _ value: String) {
    gst_util_set_object_arg(cast(pointer), property, value)
  }

  /// Returns a property's value; nil if there is no such property or `Value` does not support its
  /// type.
  public func get(_ property: String) -> Value? {
    var value = GValue()
    guard let spec = g_object_class_find_property(objectClass, property) else { return nil }
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    g_object_get_property(cast(pointer), property, &value)
    return Value(&value)
  }

  private var objectClass: UnsafeMutablePointer<GObjectClass> { cast(pointer.elementClass) }

  /// Sets tags of an element that has the interface `GstTagSetter`; does nothing for any other.
  public func setTags(_ tags: TagList) {
    guard cgst_is_a(pointer, gst_tag_setter_get_type()) != 0 else { return }
    gst_tag_setter_merge_tags(OpaquePointer(pointer), tags.pointer, GST_TAG_MERGE_REPLACE)
  }

  /// Returns an existing pad; nil if there is none of that name.
  public func staticPad(_ name: String) -> Pad? {
    gst_element_get_static_pad(pointer, name).map { Pad(adopting: $0) }
  }

  /// Requests a pad; nil if the element does not provide it.
  public func requestPad(_ name: String) -> Pad? {
    gst_element_request_pad_simple(pointer, name).map { Pad(adopting: $0) }
  }

  /// Starts a state change, which may continue in other threads; returns false if it fails
  /// immediately.
  @discardableResult
  public func setState(_ state: State) -> Bool {
    gst_element_set_state(pointer, state.cValue) != GST_STATE_CHANGE_FAILURE
  }

  /// Waits for a state change to finish; returns false if it fails or takes longer than `timeout`.
  public func waitForState(timeout: ClockTime) -> Bool {
    stateChange(timeout: timeout) == .done
  }

  /// The progress of a state change.
  public enum StateChange: Sendable {
    case done, underWay, failed
  }

  /// Waits for a state change to finish, at most for `timeout`.
  public func stateChange(timeout: ClockTime) -> StateChange {
    switch gst_element_get_state(pointer, nil, nil, timeout.cValue) {
    case GST_STATE_CHANGE_SUCCESS: .done
    case GST_STATE_CHANGE_FAILURE: .failed
    default: .underWay
    }
  }

  /// Sends an event to the element; returns false if it is not handled.
  @discardableResult
  public func send(_ event: Event) -> Bool {
    gst_element_send_event(pointer, event.retainedPointer()) != 0
  }

  /// The current position in stream time; nil if unknown.
  public var position: ClockTime? {
    var position: gint64 = 0
    guard gst_element_query_position(pointer, GST_FORMAT_TIME, &position) != 0 else { return nil }
    return ClockTime(exactly: position)
  }

  /// Duration; nil if unknown.
  public var duration: ClockTime? {
    var duration: gint64 = 0
    guard gst_element_query_duration(pointer, GST_FORMAT_TIME, &duration) != 0 else { return nil }
    return ClockTime(exactly: duration)
  }

  /// Does a flushing seek to a stream time.
  public func seek(to time: ClockTime, flags: SeekFlags = []) -> Bool {
    gst_element_seek_simple(
      pointer, GST_FORMAT_TIME, flags.union(.flush).cValue, gint64(clamping: time.nanoseconds)) != 0
  }
}

extension Element {
  /// Sets a property from text: a number, `true`, a nick, caps, a structure, `<a, b>`.
  ///
  /// - Throws: An ``ElementError`` if there is no such property or the text is not a valid value.
  public func set(_ property: String, parsing text: String) throws {
    try Self.set(property, parsing: text, on: cast(pointer))
  }

  static func set(
    _ property: String, parsing text: String, on object: UnsafeMutablePointer<GObject>
  ) throws {
    let objectClass = UnsafeMutableRawPointer(object).assumingMemoryBound(
      to: UnsafeMutablePointer<GObjectClass>.self
    ).pointee
    guard let spec = g_object_class_find_property(objectClass, property) else {
      throw ElementError(.settings, "There is no property '\(property)'.")
    }
    var value = GValue()
    g_value_init(&value, spec.pointee.value_type)
    defer { g_value_unset(&value) }
    if spec.pointee.value_type == cgst_type_string() {
      g_value_set_string(&value, text)
    } else if gst_value_deserialize_with_pspec(&value, text, spec) == 0 {
      throw ElementError(.settings, "'\(text)' is not a valid value of '\(property)'.")
    }
    // GObject would ignore a value out of range, with a warning in the log.
    guard g_param_value_validate(spec, &value) == 0 else {
      throw ElementError(.settings, "'\(text)' is out of range for '\(property)'.")
    }
    g_object_set_property(object, property, &value)
  }
}

extension Pad {
  /// Sets a property of the pad from text, like ``Element/set(_:parsing:)``.
  public func set(_ property: String, parsing text: String) throws {
    try Element.set(property, parsing: text, on: cast(pointer))
  }
}

/// Signals about pads. The closures are called in the thread that adds the pads, often a streaming
/// thread.
extension Element {
  /// Calls `body` with each pad that is added from now on.
  public func onPadAdded(_ body: @escaping @Sendable (Pad) -> Void) {
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GstPad>?, gpointer?) -> Void = {
      _, pad, data in
      guard let pad, let data else { return }
      Unmanaged<Handler<Pad>>.fromOpaque(data).takeUnretainedValue().body(Pad(retaining: pad))
    }
    connect("pad-added", unsafeBitCast(handler, to: GCallback.self), Handler(body))
  }

  /// Calls `body` when the element has added all its sometimes pads.
  public func onNoMorePads(_ body: @escaping @Sendable () -> Void) {
    let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
      guard let data else { return }
      Unmanaged<Handler<Void>>.fromOpaque(data).takeUnretainedValue().body(())
    }
    connect("no-more-pads", unsafeBitCast(handler, to: GCallback.self), Handler(body))
  }

  /// Emits an action signal of the element, such as `split-at-running-time` with a `.uint64`.
  ///
  /// - Throws: An ``ElementError`` if the element has no such action, or if it has other
  ///   parameters.
  public func emit(_ action: String, _ arguments: [Value] = []) throws {
    let id = g_signal_lookup(action, cgst_type_of(pointer))
    var query = GSignalQuery()
    g_signal_query(id, &query)
    guard id != 0, cgst_signal_is_action(&query) != 0 else {
      throw ElementError(.settings, "\(name) has no action '\(action)'.")
    }
    let types = (0..<Int(query.n_params)).map { query.param_types[$0] }
    var values = [GValue()]
    g_value_init(&values[0], cgst_type_of(pointer))
    g_value_set_object(&values[0], pointer)
    defer { for index in values.indices { g_value_unset(&values[index]) } }
    for argument in arguments {
      argument.withGValue { value in
        var copy = GValue()
        g_value_init(&copy, value.pointee.g_type)
        g_value_copy(value, &copy)
        values.append(copy)
      }
    }
    guard values.dropFirst().map({ $0.g_type }) == types else {
      throw ElementError(.settings, "The arguments do not match those of '\(action)' of \(name).")
    }
    g_signal_emitv(values, id, 0, nil)
  }

  private func connect(_ signal: String, _ callback: GCallback, _ handler: AnyObject) {
    g_signal_connect_data(
      pointer, signal, callback, Unmanaged.passRetained(handler).toOpaque(),
      { data, _ in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
      }, cgst_no_connect_flags())
  }
}

/// The data of a signal handler.
private final class Handler<Argument> {
  let body: (Argument) -> Void

  init(_ body: @escaping (Argument) -> Void) {
    self.body = body
  }
}

extension Element {
  /// The buffer that a sink shows last, with its stream time; nil if there is none.
  public var lastBuffer: (buffer: Buffer, streamTime: ClockTime?)? {
    var value = GValue()
    g_value_init(&value, gst_sample_get_type())
    defer { g_value_unset(&value) }
    g_object_get_property(cast(pointer), "last-sample", &value)
    guard let boxed = g_value_get_boxed(&value) else { return nil }
    let sample = OpaquePointer(boxed)
    guard let pointer = gst_sample_get_buffer(sample) else { return nil }
    let buffer = Buffer(retaining: pointer)
    let segment = gst_sample_get_segment(sample).map { Segment($0.pointee) }
    return (buffer, buffer.pts.flatMap { segment?.streamTime($0) })
  }
}
