// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The description of a plugin: the fields of `GST_PLUGIN_DEFINE`, and its features.
public struct PluginDeclaration: Sendable {
  /// The name, as in `gst_plugin_NAME_get_desc`.
  public let name: String
  /// One sentence on what the plugin contains.
  public let description: String
  /// The version of the plugin.
  public let version: String
  /// One of GStreamer's identifiers, such as `LGPL`.
  public let license: String
  /// The source module.
  public let source: String
  /// The package that ships the plugin.
  public let package: String
  /// The URL of the package.
  public let origin: String
  /// ISO 8601, such as `2026-11-21`.
  public let releaseDate: String
  /// The features to register when the plugin is loaded, in this order.
  public let features: [any PluginFeature]

  /// Declares a plugin.
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

  /// The factory names of the elements among the features.
  public var elementNames: [String] { features.compactMap { ($0 as? any ElementFeature)?.name } }

  /// Creates the `GstPluginDesc` to return from the `gst_plugin_NAME_get_desc` of a shared object;
  /// it is never freed.
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

  /// Registers a plugin that is linked into the program, like `GST_PLUGIN_STATIC_REGISTER`; returns
  /// false if a feature is refused. Call it once, after ``initialize()``.
  public func registerStatically() -> Bool {
    Self.described.withLock { $0[name] = self }
    return gst_plugin_register_static(
      GST_VERSION_MAJOR, GST_VERSION_MINOR, name, description, initialisePlugin, version, license,
      source, package, origin) != 0
  }

  /// plugin_init receives only the plugin, so its declaration is found by name.
  fileprivate static let described = Locked<[String: PluginDeclaration]>([:])

  fileprivate func register(with plugin: PluginReference) -> Bool {
    // Another copy of the plugin is in this process. This one is refused, or GLib would warn about
    // each type.
    guard !hasTypes else { return false }
    // Even if one feature is refused, the others can be used.
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

/// An element offered by a plugin.
protocol ElementFeature: PluginFeature {
  var name: String { get }
  /// Name of its GType.
  var typeName: String { get }
}

/// A feature that a plugin registers: an element, a tag, a custom meta.
public protocol PluginFeature: Sendable {
  /// Registers the feature in this process; returns false if it is refused.
  func register(with plugin: PluginReference) -> Bool
}

/// The error that another copy of a plugin is loaded in this process, with a different version.
public struct PluginConflict: Error, CustomStringConvertible {
  /// The name of the plugin.
  public let name: String
  /// Version of the loaded copy; nil if unknown.
  public let loadedVersion: String?
  /// Path of the loaded copy; nil if unknown.
  public let file: String?
  /// Version of this copy.
  public let wantedVersion: String

  /// The message for users.
  public var description: String {
    "another copy of the plugin '\(name)' is loaded"
      + (file.map { " from '\($0)'" } ?? "")
      + ", version \(loadedVersion ?? "unknown") instead of \(wantedVersion)"
  }
}

extension PluginDeclaration {
  private static let registration = Locked(())

  /// Makes the elements of a plugin that is linked into the program usable, whatever copies of it
  /// are installed. Call it after ``initialize()``; further calls do nothing.
  ///
  /// An installed copy that is not loaded is removed from the registry, so that it is not loaded
  /// later. A loaded one stays, since types cannot be registered twice, and is used if it has the
  /// same version.
  ///
  /// - Throws: A ``PluginConflict`` if a copy of another version is loaded; an ``ElementError`` if
  ///   GStreamer refuses the plugin.
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
      // A loaded copy that the registry does not know.
      guard !hasTypes else { throw conflict(nil, nil) }
      guard registerStatically() else {
        throw ElementError(.missingPlugin, "GStreamer refused to register plugin '\(name)'.")
      }
    }
  }

  private func conflict(_ loaded: String?, _ file: String?) -> PluginConflict {
    PluginConflict(name: name, loadedVersion: loaded, file: file, wantedVersion: version)
  }

  /// Whether this process has registered types of the plugin's elements.
  private var hasTypes: Bool {
    features.contains { feature in
      (feature as? any ElementFeature).map { g_type_from_name($0.typeName) != 0 } ?? false
    }
  }
}
