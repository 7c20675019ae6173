// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// The elements, for a program that has them linked in.
public enum SpatialElements {
  /// Makes the elements available to this process, whether or not `libgstspatial.so` is installed;
  /// needs neither a path nor an environment variable. Initialises GStreamer, which may take a
  /// while. Later calls do nothing.
  ///
  /// - Throws: a ``PluginConflict`` where a `libgstspatial.so` of another version is loaded already;
  ///   an ``ElementError`` where GStreamer refuses the elements.
  public static func register() throws {
    initialize()
    try spatialPlugin.registerInProcess()
  }
}
