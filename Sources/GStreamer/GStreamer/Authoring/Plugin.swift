// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What a plugin is: the fields of `GST_PLUGIN_DEFINE`, and what it brings along.
public struct PluginDeclaration: Sendable {
  public let name: String
  public let description: String
  public let version: String
  /// One of the identifiers that GStreamer knows: `LGPL`, `GPL`, ...
  public let license: String
  public let source: String
  public let package: String
  public let origin: String
  /// ISO 8601, such as `2026-11-21`.
  public let releaseDate: String
  /// All that is registered when the plugin is loaded, in this order.
  public let features: [any PluginFeature]

  public init(
    name: String, description: String, version: String, license: String, source: String,
    package: String, origin: String, releaseDate: String, features: [any PluginFeature]
  ) {
    self.name = name
    self.description = description
    self.version = version
    self.license = license
    self.source = source
    self.package = package
    self.origin = origin
    self.releaseDate = releaseDate
    self.features = features
  }

  /// The names of the elements among the features, as in gst-launch.
  public var elementNames: [String] { features.compactMap { ($0 as? any ElementFeature)?.name } }

  /// The `GstPluginDesc` for the `gst_plugin_NAME_get_desc` of a shared object; it lives as long as
  /// the process.
  public func makeDescriptor() -> UnsafeRawPointer {
    Self.described.withLock { $0[name] = self }
    let descriptor = UnsafeMutablePointer<GstPluginDesc>.allocate(capacity: 1)
    descriptor.initialize(to: GstPluginDesc())
    descriptor.pointee.major_version = GST_VERSION_MAJOR
    descriptor.pointee.minor_version = GST_VERSION_MINOR
    descriptor.pointee.name = permanent(name)
    descriptor.pointee.description = permanent(description)
    descriptor.pointee.plugin_init = initialisePlugin
    descriptor.pointee.version = permanent(version)
    descriptor.pointee.license = permanent(license)
    descriptor.pointee.source = permanent(source)
    descriptor.pointee.package = permanent(package)
    descriptor.pointee.origin = permanent(origin)
    descriptor.pointee.release_datetime = permanent(releaseDate)
    return UnsafeRawPointer(descriptor)
  }

  /// Registers a plugin that is linked into the program, as `GST_PLUGIN_STATIC_REGISTER` does; false
  /// where something of it is refused. Call it once, behind ``initialize()``.
  public func registerStatically() -> Bool {
    Self.described.withLock { $0[name] = self }
    return gst_plugin_register_static(
      GST_VERSION_MAJOR, GST_VERSION_MINOR, name, description, initialisePlugin, version, license,
      source, package, origin) != 0
  }

  /// plugin_init gets nothing but the plugin, so its declaration is found by name.
  fileprivate static let described = Locked<[String: PluginDeclaration]>([:])

  fileprivate func register(with plugin: PluginReference) -> Bool {
    // Another copy of the plugin is in the process: GLib would warn of each type. This one is refused.
    guard !hasTypes else { return false }
    // Also where one of them is refused, the others can be used.
    return features.map { $0.register(with: plugin) }.allSatisfy { $0 }
  }
}

private func initialisePlugin(_ plugin: OpaquePointer?) -> gboolean {
  guard let plugin, let name = gst_plugin_get_name(plugin).map({ String(cString: $0) }),
    let declaration = PluginDeclaration.described.withLock({ $0[name] })
  else { return 0 }
  return declaration.register(with: PluginReference(pointer: plugin)) ? 1 : 0
}

/// The plugin that is being loaded.
public struct PluginReference {
  let pointer: OpaquePointer
}

/// An element that a plugin offers.
protocol ElementFeature: PluginFeature {
  var name: String { get }
  /// Of its GType.
  var typeName: String { get }
}

/// Something that a plugin registers: an element, a tag, a kind of meta.
public protocol PluginFeature: Sendable {
  /// Registers it with the process; false where that is refused.
  func register(with plugin: PluginReference) -> Bool
}

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
