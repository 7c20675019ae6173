// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

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
