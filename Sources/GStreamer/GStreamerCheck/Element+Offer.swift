// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer
internal import CGStreamerCheck
public import GStreamer

extension Element {
  /// Sets what the property's range may not hold: GLib then leaves the property as it is, and says so in a
  /// message that is a critical one since 2.84, of which G_DEBUG=fatal-criticals would make the tests' end.
  public func offer(_ property: String, _ value: String) {
    let fatal = g_log_set_always_fatal(cgst_log_errors())
    defer { g_log_set_always_fatal(fatal) }
    set(property, value)
  }
}
