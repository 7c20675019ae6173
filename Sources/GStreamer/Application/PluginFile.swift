internal import CGStreamer

/// A plugin that GStreamer does not find by itself.
public enum PluginFile {
  /// Loads the plugin in a file, so that its elements can be made; throws where the file is none.
  public static func load(_ path: String) throws {
    var error: UnsafeMutablePointer<GError>?
    let plugin = gst_plugin_load_file(path, &error)
    defer { g_clear_error(&error) }
    guard let plugin else {
      throw ElementError(
        .missingPlugin, error.map { String(cString: $0.pointee.message) } ?? "No plugin: \(path)")
    }
    gst_object_unref(UnsafeMutableRawPointer(plugin))
  }
}
