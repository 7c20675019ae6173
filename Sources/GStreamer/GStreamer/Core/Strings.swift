// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// A Swift string from a C string that GLib gave away.
func adopt(_ string: UnsafeMutablePointer<CChar>?) -> String? {
  guard let string else { return nil }
  defer { g_free(string) }
  return String(cString: string)
}

/// A C string that lives as long as the process: type names, nicks, descriptions.
func permanent(_ string: String) -> UnsafePointer<CChar> {
  UnsafePointer(g_intern_string(string))
}
