// SPDX-License-Identifier: MPL-2.0

/// The version of gst-spatial: plugin, command, package and tarball take it from here.
public enum ProjectVersion {
  /// The project's name in the files it writes.
  public static let name = "gst-spatial"
  /// The version, following semantic versioning.
  public static let current = "0.3.0"
  /// The release date (YYYY-MM-DD), in the form GStreamer expects.
  public static let releaseDate = "2026-11-27"
}
