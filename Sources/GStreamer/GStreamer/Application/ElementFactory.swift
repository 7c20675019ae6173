// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// An element factory in the registry: `GstElementFactory`.
public final class ElementFactory: @unchecked Sendable {
  let pointer: OpaquePointer

  init(retaining pointer: OpaquePointer) {
    self.pointer = pointer
    gst_object_ref(UnsafeMutableRawPointer(pointer))
  }

  deinit {
    gst_object_unref(UnsafeMutableRawPointer(pointer))
  }

  /// The factory name, such as `videotestsrc`.
  public var name: String { adopt(gst_object_get_name(UnsafeMutablePointer(pointer))) ?? "" }

  /// Returns the video decoders with a rank above NONE whose sink pad accepts `caps`, highest rank
  /// first.
  public static func videoDecoders(for caps: Caps) -> [ElementFactory] {
    let all = gst_element_factory_list_get_elements(
      cgst_factory_type_video_decoder(), GST_RANK_MARGINAL)
    let matching = gst_element_factory_list_filter(all, caps.pointer, GST_PAD_SINK, 0)
    defer {
      gst_plugin_feature_list_free(all)
      gst_plugin_feature_list_free(matching)
    }
    var factories: [ElementFactory] = []
    var item = matching
    while let current = item {
      if let data = current.pointee.data {
        factories.append(
          ElementFactory(retaining: OpaquePointer(data)))
      }
      item = current.pointee.next
    }
    return factories
  }

  /// The rank by which autoplugging elements choose between factories. A change lasts as long as
  /// the process.
  public var rank: UInt32 {
    get { gst_plugin_feature_get_rank(pointer) }
    set { gst_plugin_feature_set_rank(pointer, newValue) }
  }

  /// Creates an element; nil if that fails.
  public func make() -> Element? {
    gst_element_factory_create(pointer, nil).map { Element(retaining: $0) }
  }
}

/// Class information that is available without an instance.
extension ElementFactory {
  /// Returns the factory of this name; nil if it is not installed.
  public static func named(_ name: String) -> ElementFactory? {
    guard let pointer = gst_element_factory_find(name) else { return nil }
    // The registry keeps its own reference.
    defer { gst_object_unref(UnsafeMutableRawPointer(pointer)) }
    return ElementFactory(retaining: pointer)
  }

  /// Whether a decoder is installed for a format, or none is needed because it is raw.
  public static func hasDecoder(for caps: Caps) -> Bool {
    if caps.mediaType?.hasSuffix("/x-raw") ?? false { return true }
    // GST_ELEMENT_FACTORY_TYPE_DECODER, which is a macro.
    let decoders = gst_element_factory_list_get_elements(1, GST_RANK_MARGINAL)
    defer { gst_plugin_feature_list_free(decoders) }
    let fitting = gst_element_factory_list_filter(decoders, caps.pointer, GST_PAD_SINK, 0)
    defer { gst_plugin_feature_list_free(fitting) }
    return fitting != nil
  }

  /// The names of all installed factories.
  public static var names: [String] {
    let list = gst_registry_get_feature_list(gst_registry_get(), gst_element_factory_get_type())
    defer { gst_plugin_feature_list_free(list) }
    var names: [String] = []
    var item = list
    while let current = item {
      if let feature = current.pointee.data,
        let name = adopt(gst_object_get_name(feature.assumingMemoryBound(to: GstObject.self)))
      {
        names.append(name)
      }
      item = current.pointee.next
    }
    return names
  }

  /// The pad templates, from the registry, without loading the plugin.
  public var padTemplates: [PadTemplate] {
    var templates: [PadTemplate] = []
    var item = gst_element_factory_get_static_pad_templates(pointer)
    while let current = item {
      if let data = current.pointee.data {
        let template = data.assumingMemoryBound(to: GstStaticPadTemplate.self)
        let presence: PadTemplate.Presence =
          switch template.pointee.presence {
          case GST_PAD_SOMETIMES: .sometimes
          case GST_PAD_REQUEST: .request
          default: .always
          }
        templates.append(
          PadTemplate(
            String(cString: template.pointee.name_template),
            template.pointee.direction == GST_PAD_SRC ? .source : .sink, presence,
            caps: Caps(adopting: gst_static_pad_template_get_caps(template))))
      }
      item = UnsafePointer(current.pointee.next)
    }
    return templates
  }

  /// The properties of the class, and the additional properties and the offset of its pads by name
  /// of their template. Loads the plugin; nil if that fails.
  public var properties:
    (ofElement: [PropertySpecification], ofPads: [String: [PropertySpecification]])?
  {
    guard let loaded = gst_plugin_feature_load(pointer) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(loaded)) }
    let type = gst_element_factory_get_element_type(loaded)
    guard let raw = g_type_class_ref(type) else { return nil }
    defer { g_type_class_unref(raw) }
    let list = gst_element_class_get_pad_template_list(
      raw.assumingMemoryBound(to: GstElementClass.self))
    var ofPads: [String: [PropertySpecification]] = [:]
    var item = list
    while let current = item {
      if let template = current.pointee.data?.assumingMemoryBound(to: GstPadTemplate.self) {
        let padType = template.pointee.ABI.abi.gtype
        var properties = [PropertySpecification.padOffset]
        if padType != 0, padType != cgst_type_none() {
          properties += PropertySpecification.all(of: padType, without: gst_pad_get_type())
        }
        ofPads[String(cString: template.pointee.name_template)] = properties
      }
      item = current.pointee.next
    }
    return (PropertySpecification.all(of: type, without: gst_object_get_type()), ofPads)
  }
}

/// A plugin outside GStreamer's search path.
public enum PluginFile {
  /// Makes the elements of the plugin in a file available; throws if it is not a plugin. If the
  /// registry already has the file, it is loaded only on demand.
  public static func load(_ path: String) throws {
    guard !isKnown(path) else { return }
    var error: UnsafeMutablePointer<GError>?
    let plugin = gst_plugin_load_file(path, &error)
    defer { g_clear_error(&error) }
    guard let plugin else {
      throw ElementError(
        .missingPlugin, error.map { String(cString: $0.pointee.message) } ?? "No plugin in \(path)")
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
