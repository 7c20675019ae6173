// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// A plugin that GStreamer does not find by itself.
public enum PluginFile {
  /// Sees to it that the elements of the plugin in a file can be made; throws where the file is
  /// none. Where GStreamer has found the file by itself, it is not loaded before it is needed.
  public static func load(_ path: String) throws {
    guard !isKnown(path) else { return }
    var error: UnsafeMutablePointer<GError>?
    let plugin = gst_plugin_load_file(path, &error)
    defer { g_clear_error(&error) }
    guard let plugin else {
      throw ElementError(
        .missingPlugin, error.map { String(cString: $0.pointee.message) } ?? "No plugin: \(path)")
    }
    gst_object_unref(UnsafeMutableRawPointer(plugin))
  }

  private static func isKnown(_ path: String) -> Bool {
    guard let plugin = gst_registry_lookup(gst_registry_get(), path) else { return false }
    defer { gst_object_unref(UnsafeMutableRawPointer(plugin)) }
    guard let filename = gst_plugin_get_filename(plugin) else { return false }
    var (known, asked) = (stat(), stat())
    return stat(filename, &known) == 0 && stat(path, &asked) == 0
      && known.st_dev == asked.st_dev && known.st_ino == asked.st_ino
  }
}
