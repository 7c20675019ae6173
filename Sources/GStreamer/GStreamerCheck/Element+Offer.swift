// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import CGStreamerCheck
public import GStreamer

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
