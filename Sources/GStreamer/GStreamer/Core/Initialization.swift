// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Initializes the library; further calls do nothing. Applications must call it first. Plugins need
/// not: their host has done so.
public func initialize() {
  gst_init(nil, nil)
}

/// The version of the library at run time, such as "1.22.0".
public var libraryVersion: String {
  var major: UInt32 = 0
  var minor: UInt32 = 0
  var micro: UInt32 = 0
  var nano: UInt32 = 0
  gst_version(&major, &minor, &micro, &nano)
  return "\(major).\(minor).\(micro)"
}

/// The calling thread, as a number that no other running thread has.
public var currentThread: UInt { UInt(bitPattern: g_thread_self()) }

/// The processors available to this process.
public enum Processors {
  /// Their number, at least 1.
  public static var count: Int { max(1, Int(g_get_num_processors())) }
}

/// The name of the windows that video sinks open, after the title of the stream, if it has one.
public enum WindowName {
  private static let isSet = Locked(false)

  /// Sets the name. A process can do so once: GLib keeps it as that of the application.
  public static func set(_ name: String) {
    let isFirst = isSet.withLock { isSet in
      defer { isSet = true }
      return !isSet
    }
    if isFirst { g_set_application_name(name) }
  }
}
