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

extension Element {
  /// Sets a property from a text: a number, `true`, a nick, caps, a structure, `<a, b>`.
  ///
  /// - Throws: an ``ElementError`` where there is no such property, or the text is none of its
  ///   values.
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
      throw ElementError(.settings, "'\(text)' is no value of '\(property)'.")
    }
    // What is out of range, GObject would leave out, with a warning in the log.
    guard g_param_value_validate(spec, &value) == 0 else {
      throw ElementError(.settings, "'\(text)' is out of the range of '\(property)'.")
    }
    g_object_set_property(object, property, &value)
  }
}

extension Pad {
  /// Sets a property of the pad from a text, as ``Element/set(_:parsing:)`` does.
  public func set(_ property: String, parsing text: String) throws {
    try Element.set(property, parsing: text, on: cast(pointer))
  }
}

/// Signals by which elements tell that their pads change. The closures are called in the thread
/// that changes them, often a streaming thread.
extension Element {
  /// Calls `body` with each pad that appears from now on.
  public func onPadAdded(_ body: @escaping @Sendable (Pad) -> Void) {
    let handler: @convention(c) (gpointer?, UnsafeMutablePointer<GstPad>?, gpointer?) -> Void = {
      _, pad, data in
      guard let pad, let data else { return }
      Unmanaged<Handler<Pad>>.fromOpaque(data).takeUnretainedValue().body(Pad(retaining: pad))
    }
    connect("pad-added", unsafeBitCast(handler, to: GCallback.self), Handler(body))
  }

  /// Calls `body` when the element has made all the pads that it will make.
  public func onNoMorePads(_ body: @escaping @Sendable () -> Void) {
    let handler: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
      guard let data else { return }
      Unmanaged<Handler<Void>>.fromOpaque(data).takeUnretainedValue().body(())
    }
    connect("no-more-pads", unsafeBitCast(handler, to: GCallback.self), Handler(body))
  }

  /// Emits an action of the element, such as `split-at-running-time` with a `.uint64`.
  ///
  /// - Throws: an ``ElementError`` where the element has no such action, or one with other arguments.
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
      throw ElementError(.settings, "'\(action)' of \(name) takes other arguments.")
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

/// What a signal's handler holds.
private final class Handler<Argument> {
  let body: (Argument) -> Void

  init(_ body: @escaping (Argument) -> Void) {
    self.body = body
  }
}

extension Element {
  /// The buffer that a sink shows, with its place in the stream; nil where it shows none.
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
