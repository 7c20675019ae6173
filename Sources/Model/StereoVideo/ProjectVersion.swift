// SPDX-License-Identifier: MPL-2.0

/// The version of gst-spatial: of the plugin, the command, the package and the tarball, which all
/// take it from here.
public enum ProjectVersion {
  /// What the project calls itself in what it writes.
  public static let name = "gst-spatial"
  /// By semantic versioning.
  public static let current = "0.2.0"
  /// The day it was made, as GStreamer asks for it.
  public static let releaseDate = "2026-11-22"
}
