// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Initialises the library once; later calls do nothing. Applications call it before anything
/// else. A plugin does not: its host has done so.
public func initialize() {
  gst_init(nil, nil)
}

/// The version of the library that is running, such as "1.22.0".
public var libraryVersion: String {
  var major: UInt32 = 0
  var minor: UInt32 = 0
  var micro: UInt32 = 0
  var nano: UInt32 = 0
  gst_version(&major, &minor, &micro, &nano)
  return "\(major).\(minor).\(micro)"
}

/// The thread that calls this, as a number that no other living thread has.
public var currentThread: UInt { UInt(bitPattern: g_thread_self()) }

/// The processors that this process may use.
public enum Processors {
  /// How many there are, at least 1.
  public static var count: Int { max(1, Int(g_get_num_processors())) }
}
