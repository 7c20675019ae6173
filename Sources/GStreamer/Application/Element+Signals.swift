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

  private func connect(_ signal: String, _ callback: GCallback, _ handler: AnyObject) {
    g_signal_connect_data(
      pointer, signal, callback, Unmanaged.passRetained(handler).toOpaque(),
      { data, _ in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
      }, GConnectFlags(rawValue: 0))
  }
}

/// What a signal's handler holds.
private final class Handler<Argument> {
  let body: (Argument) -> Void

  init(_ body: @escaping (Argument) -> Void) {
    self.body = body
  }
}
