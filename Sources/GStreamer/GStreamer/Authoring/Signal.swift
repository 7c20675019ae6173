// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A GObject signal of an element.
public struct Signal<Owner: AnyObject>: @unchecked Sendable {
  /// Adds the signal to a type; `owner` returns the Swift object of an instance.
  let register: (_ type: GType, _ owner: @escaping (ElementBox) -> Owner?) -> Void
}

// MARK: Actions

extension Signal {
  /// A signal that applications emit, in any thread, to request an action.
  public static func action(
    _ name: String, _ body: @escaping @Sendable (Owner) -> Void
  ) -> Signal {
    Signal { type, owner in
      let action = Action<Void> { box, _ in owner(box).map(body) }
      let callback: @convention(c) (gpointer?, gpointer?) -> Void = { element, data in
        Action<Void>.perform(element, data, ())
      }
      addAction(name, to: type, [], action, unsafeBitCast(callback, to: GCallback.self))
    }
  }

  /// An action with a time as its argument; nil for `GST_CLOCK_TIME_NONE`.
  public static func action(
    _ name: String, at body: @escaping @Sendable (Owner, ClockTime?) -> Void
  ) -> Signal {
    Signal { type, owner in
      let action = Action<ClockTime?> { box, time in owner(box).map { body($0, time) } }
      let callback: @convention(c) (gpointer?, guint64, gpointer?) -> Void = {
        element, time, data in
        Action<ClockTime?>.perform(element, data, ClockTime(cValue: GstClockTime(time)))
      }
      addAction(
        name, to: type, [cgst_type_uint64()], action, unsafeBitCast(callback, to: GCallback.self))
    }
  }

  private static func addAction(
    _ name: String, to type: GType, _ parameters: [GType], _ action: AnyObject,
    _ callback: GCallback
  ) {
    // Types are never unregistered, so neither is the action released.
    let closure = g_cclosure_new(callback, Unmanaged.passRetained(action).toOpaque(), nil)
    var parameters = parameters
    g_signal_newv(
      name, type, cgst_signal_flags(1), closure, nil, nil, nil, cgst_type_none(),
      guint(parameters.count), &parameters)
  }
}

/// The data of a class closure.
private final class Action<Argument> {
  private let body: (ElementBox, Argument) -> Void

  init(_ body: @escaping (ElementBox, Argument) -> Void) { self.body = body }

  static func perform(_ element: gpointer?, _ data: gpointer?, _ argument: Argument) {
    guard let element, let data,
      let box = ElementBox.of(element.assumingMemoryBound(to: GstObject.self))
    else { return }
    Unmanaged<Action>.fromOpaque(data).takeUnretainedValue().body(box, argument)
  }
}

// MARK: Requests

extension Signal {
  /// A signal that asks the application for the stream to write a file to, given the file's
  /// location. The first handler returns a `GOutputStream`.
  public static func outputStream(_ name: String) -> Signal {
    request(name, g_output_stream_get_type())
  }

  /// A signal that asks the application to remove a file, given its location. The first handler
  /// returns whether the file is removed.
  public static func removal(_ name: String) -> Signal {
    request(name, cgst_type_boolean())
  }

  private static func request(_ name: String, _ answer: GType) -> Signal {
    Signal { type, _ in
      var parameters = [cgst_type_string()]
      g_signal_newv(
        name, type, cgst_signal_flags(0), nil, g_signal_accumulator_first_wins, nil, nil, answer, 1,
        &parameters)
    }
  }
}

extension ElementObject {
  /// Returns the application's stream for a file, using a signal declared with `outputStream`; nil
  /// if the signal has no handler.
  ///
  /// - Throws: An ``ElementError`` if the handler returns no stream.
  public func requestOutputStream(
    _ signal: String, location: String
  ) throws -> OutputByteStream? {
    try request(signal, location, g_output_stream_get_type()) { answer in
      guard let stream = g_value_dup_object(answer) else {
        throw ElementError(
          .write, "'\(location)' cannot be written: the application has provided no stream for it.")
      }
      return OutputByteStream(adopting: stream.assumingMemoryBound(to: GOutputStream.self))
    }
  }

  /// Asks the application to remove a file, using a signal declared with `removal`. Returns whether
  /// the file is removed; nil if the signal has no handler.
  public func requestRemoval(_ signal: String, location: String) -> Bool? {
    request(signal, location, cgst_type_boolean()) { g_value_get_boolean($0) != 0 }
  }

  /// Whether the application handles a signal.
  public func hasHandler(of signal: String) -> Bool {
    let id = g_signal_lookup(signal, cgst_type_of(gstElement))
    return id != 0 && g_signal_has_handler_pending(gstElement, id, 0, 1) != 0
  }

  private func request<Answer>(
    _ signal: String, _ location: String, _ answer: GType,
    _ read: (UnsafePointer<GValue>) throws -> Answer
  ) rethrows -> Answer? {
    guard hasHandler(of: signal) else { return nil }
    let id = g_signal_lookup(signal, cgst_type_of(gstElement))
    var values = [GValue(), GValue()]
    g_value_init(&values[0], cgst_type_of(gstElement))
    g_value_set_object(&values[0], gstElement)
    g_value_init(&values[1], cgst_type_string())
    g_value_set_string(&values[1], location)
    var result = GValue()
    g_value_init(&result, answer)
    defer {
      g_value_unset(&values[0])
      g_value_unset(&values[1])
      g_value_unset(&result)
    }
    g_signal_emitv(values, id, 0, &result)
    return try read(&result)
  }
}
