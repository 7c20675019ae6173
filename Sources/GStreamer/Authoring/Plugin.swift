public import CGStreamer

/// What a plugin is: the fields of `GST_PLUGIN_DEFINE`.
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

  public init(
    name: String, description: String, version: String, license: String, source: String,
    package: String, origin: String, releaseDate: String
  ) {
    self.name = name
    self.description = description
    self.version = version
    self.license = license
    self.source = source
    self.package = package
    self.origin = origin
    self.releaseDate = releaseDate
  }

  /// The descriptor for `gst_plugin_NAME_get_desc`; it lives as long as the process.
  public func makeDescriptor(_ initialise: GstPluginInitFunc) -> UnsafePointer<GstPluginDesc> {
    let descriptor = UnsafeMutablePointer<GstPluginDesc>.allocate(capacity: 1)
    descriptor.initialize(to: GstPluginDesc())
    descriptor.pointee.major_version = GST_VERSION_MAJOR
    descriptor.pointee.minor_version = GST_VERSION_MINOR
    descriptor.pointee.name = permanent(name)
    descriptor.pointee.description = permanent(description)
    descriptor.pointee.plugin_init = initialise
    descriptor.pointee.version = permanent(version)
    descriptor.pointee.license = permanent(license)
    descriptor.pointee.source = permanent(source)
    descriptor.pointee.package = permanent(package)
    descriptor.pointee.origin = permanent(origin)
    descriptor.pointee.release_datetime = permanent(releaseDate)
    return UnsafePointer(descriptor)
  }
}
