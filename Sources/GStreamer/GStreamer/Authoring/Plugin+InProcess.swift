// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// Another copy of a plugin is loaded into the process, and is not of the version that is wanted.
public struct PluginConflict: Error, CustomStringConvertible {
  public let name: String
  /// The version of the copy that is loaded; nil where it does not say.
  public let loadedVersion: String?
  /// Its file; nil where it has none.
  public let file: String?
  public let wantedVersion: String

  public var description: String {
    "another copy of the plugin '\(name)' is loaded"
      + (file.map { " from '\($0)'" } ?? "")
      + ", version \(loadedVersion ?? "unknown") and not \(wantedVersion)"
  }
}

extension PluginDeclaration {
  private static let registration = Locked(())

  /// Sees to it that a program that has the plugin linked in can use its elements, whatever copies
  /// of it are installed. Call it behind ``initialize()``; later calls do nothing.
  ///
  /// A copy that is installed but not loaded gives way, so that nothing loads it later. One that is
  /// loaded stays, since types cannot be registered twice, and is used if it has the same version.
  ///
  /// - Throws: a ``PluginConflict`` where a copy of another version is loaded; an ``ElementError``
  ///   where GStreamer refuses the plugin.
  public func registerInProcess() throws {
    try Self.registration.withLock { _ in
      let registry = gst_registry_get()
      while let plugin = gst_registry_find_plugin(registry, name) {
        defer { gst_object_unref(UnsafeMutableRawPointer(plugin)) }
        guard gst_plugin_is_loaded(plugin) != 0 else {
          gst_registry_remove_plugin(registry, plugin)
          continue
        }
        let loaded = gst_plugin_get_version(plugin).map { String(cString: $0) }
        guard loaded == version else {
          throw conflict(loaded, gst_plugin_get_filename(plugin).map { String(cString: $0) })
        }
        return
      }
      // A copy that is loaded although the registry does not know it.
      guard !hasTypes else { throw conflict(nil, nil) }
      guard registerStatically() else {
        throw ElementError(.missingPlugin, "GStreamer refuses the plugin '\(name)'.")
      }
    }
  }

  private func conflict(_ loaded: String?, _ file: String?) -> PluginConflict {
    PluginConflict(name: name, loadedVersion: loaded, file: file, wantedVersion: version)
  }

  /// Whether the process has types of the plugin's elements.
  var hasTypes: Bool {
    features.contains { feature in
      (feature as? any ElementFeature).map { g_type_from_name($0.typeName) != 0 } ?? false
    }
  }
}
