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
