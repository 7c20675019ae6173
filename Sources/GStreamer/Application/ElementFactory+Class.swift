internal import CGStreamer

/// What the class of an element says before one is made.
extension ElementFactory {
  /// The factory of this name, or nil where none is installed.
  public static func named(_ name: String) -> ElementFactory? {
    guard let pointer = gst_element_factory_find(name) else { return nil }
    // The registry keeps its own reference.
    defer { gst_object_unref(UnsafeMutableRawPointer(pointer)) }
    return ElementFactory(retaining: pointer)
  }

  /// The names of all that are installed.
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

  /// A pad template of the class.
  public struct Template: Sendable {
    public let template: PadTemplate
    /// What its pads have besides what all pads have.
    public let properties: [PropertySpecification]
  }

  /// The templates and the properties of the class, which is loaded for that; nil where its plugin
  /// cannot be loaded.
  public var description: (templates: [Template], properties: [PropertySpecification])? {
    guard let loaded = gst_plugin_feature_load(pointer) else { return nil }
    defer { gst_object_unref(UnsafeMutableRawPointer(loaded)) }
    let type = gst_element_factory_get_element_type(loaded)
    guard let raw = g_type_class_ref(type) else { return nil }
    defer { g_type_class_unref(raw) }
    let list = gst_element_class_get_pad_template_list(
      raw.assumingMemoryBound(to: GstElementClass.self))
    var templates: [Template] = []
    var item = list
    while let current = item {
      if let data = current.pointee.data {
        templates.append(Template(data.assumingMemoryBound(to: GstPadTemplate.self)))
      }
      item = current.pointee.next
    }
    return (templates, PropertySpecification.all(of: type, without: gst_object_get_type()))
  }
}

extension ElementFactory.Template {
  fileprivate init(_ pointer: UnsafeMutablePointer<GstPadTemplate>) {
    let presence: PadTemplate.Presence =
      switch pointer.pointee.presence {
      case GST_PAD_SOMETIMES: .sometimes
      case GST_PAD_REQUEST: .request
      default: .always
      }
    template = PadTemplate(
      String(cString: pointer.pointee.name_template),
      pointer.pointee.direction == GST_PAD_SRC ? .source : .sink, presence,
      caps: Caps(adopting: gst_pad_template_get_caps(pointer)))
    let padType = pointer.pointee.ABI.abi.gtype
    properties =
      padType == 0 || padType == cgst_type_none()
      ? [] : PropertySpecification.all(of: padType, without: gst_pad_get_type())
  }
}
