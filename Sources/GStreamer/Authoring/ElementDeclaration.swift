public import CGStreamer

/// What an element is: the first page of its manual.
public struct ElementDeclaration<Implementation: ElementSubclass>: PluginFeature,
  @unchecked Sendable
{
  public let name: String
  public let typeName: String
  public let baseClass: BaseClass
  public let longName: String
  public let klass: String
  public let description: String
  public let author: String
  public let rank: GstRank
  public let padTemplates: [PadTemplate]
  public let properties: [Property<Implementation>]
  public let interfaces: [ElementInterface]

  /// - Parameters:
  ///   - name: as in gst-launch, such as `sbssplit`.
  ///   - typeName: the GType, such as `GstSBSSplit`.
  ///   - longName: for people, in title case.
  ///   - klass: GStreamer's class keywords, such as `Codec/Muxer`.
  ///   - rank: how willing autopluggers are to use the element.
  public init(
    name: String, typeName: String, baseClass: BaseClass, longName: String, klass: String,
    description: String, author: String, rank: GstRank = GST_RANK_NONE,
    padTemplates: [PadTemplate], properties: [Property<Implementation>] = [],
    interfaces: [ElementInterface] = []
  ) {
    self.name = name
    self.typeName = typeName
    self.baseClass = baseClass
    self.longName = longName
    self.klass = klass
    self.description = description
    self.author = author
    self.rank = rank
    self.padTemplates = padTemplates
    self.properties = properties
    self.interfaces = interfaces
  }

  /// Registers the element with a plugin; false where GStreamer refuses the type.
  public func register(with plugin: PluginReference) -> Bool {
    let type = ElementClass.register(self)
    guard type != 0 else { return false }
    return gst_element_register(plugin.pointer, name, rank.rawValue, type) != 0
  }
}

/// GObject interfaces that need no code of the element.
public enum ElementInterface: Sendable {
  /// `GstTagSetter`: applications set tags that the element merges with those of its streams.
  case tagSetter
  /// `GstPreset`: named sets of property values.
  case preset

  var type: GType {
    switch self {
    case .tagSetter: gst_tag_setter_get_type()
    case .preset: gst_preset_get_type()
    }
  }
}

/// What all objects of one registered type share.
final class ElementClass: @unchecked Sendable {
  let declare: (UnsafeMutableRawPointer) -> Void
  let make: (ElementInstance) throws -> ElementSubclass
  let getProperty: (Int, ElementSubclass, UnsafeMutablePointer<GValue>) -> Void
  let setProperty: (Int, ElementSubclass, UnsafePointer<GValue>) -> Void
  /// The class structure of the base class, once the class is there.
  private(set) var parentClass: UnsafeMutableRawPointer?

  private init<Implementation: ElementSubclass>(
    _ declaration: ElementDeclaration<Implementation>
  ) {
    declare = { Self.fill($0, declaration) }
    make = { try Implementation($0) }
    let properties = declaration.properties
    getProperty = { index, object, value in
      guard properties.indices.contains(index), let owner = object as? Implementation else {
        return
      }
      properties[index].get(owner, value)
    }
    setProperty = { index, object, value in
      guard properties.indices.contains(index), let owner = object as? Implementation else {
        return
      }
      properties[index].set?(owner, value)
    }
  }

  private static let quark = g_quark_from_static_string(permanent("gst-spatial-element-class"))

  static func of(_ type: GType) -> ElementClass? {
    g_type_get_qdata(type, quark).map {
      Unmanaged<ElementClass>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Registers a type of its own for the declaration and returns it; 0 on failure.
  static func register<Implementation: ElementSubclass>(
    _ declaration: ElementDeclaration<Implementation>
  ) -> GType {
    let base = declaration.baseClass
    let shared = Unmanaged.passRetained(ElementClass(declaration))
    var info = GTypeInfo()
    info.class_size = UInt16(truncatingIfNeeded: base.query.class_size)
    info.class_init = { klass, data in
      guard let klass, let data else { return }
      let shared = Unmanaged<ElementClass>.fromOpaque(data).takeUnretainedValue()
      shared.parentClass = g_type_class_peek_parent(klass)
      shared.declare(klass)
    }
    info.class_data = UnsafeRawPointer(shared.toOpaque())
    info.instance_size = UInt16(truncatingIfNeeded: InstanceSlot.instanceSize)
    info.instance_init = { instance, klass in
      guard let instance, let klass, let shared = ElementClass.of(cgst_type_of_class(klass)),
        let parentClass = shared.parentClass
      else { return }
      let object = UnsafeMutableRawPointer(instance)
      let element = object.assumingMemoryBound(to: GstElement.self)
      let born = ElementInstance(element: element, parentClass: parentClass)
      guard let implementation = try? shared.make(born) else { return }
      InstanceSlot.of(object).store(implementation)
    }
    let type = g_type_register_static(base.type, declaration.typeName, &info, GTypeFlags(0))
    guard type != 0 else {
      shared.release()
      return 0
    }
    g_type_set_qdata(type, quark, shared.toOpaque())
    for interface in declaration.interfaces {
      var info = GInterfaceInfo()
      g_type_add_interface_static(type, interface.type, &info)
    }
    return type
  }

  private static func fill<Implementation: ElementSubclass>(
    _ klass: UnsafeMutableRawPointer, _ declaration: ElementDeclaration<Implementation>
  ) {
    let objectClass = klass.assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.finalize = finalizeElement
    objectClass.pointee.get_property = getElementProperty
    objectClass.pointee.set_property = setElementProperty
    for (index, property) in declaration.properties.enumerated() {
      g_object_class_install_property(objectClass, guint(index + 1), property.makeSpec())
    }

    let elementClass = klass.assumingMemoryBound(to: GstElementClass.self)
    gst_element_class_set_metadata(
      elementClass, permanent(declaration.longName), permanent(declaration.klass),
      permanent(declaration.description), permanent(declaration.author))
    for template in declaration.padTemplates {
      gst_element_class_add_pad_template(
        elementClass, template.make(padType: declaration.baseClass.padType(template)))
    }

    switch declaration.baseClass {
    case .element, .bin: elementClass.pointee.change_state = changeElementState
    case .baseTransform: (Implementation.self as? BaseTransformSubclass.Type)?.fill(klass)
    case .pushSource: (Implementation.self as? PushSourceSubclass.Type)?.fill(klass)
    case .aggregator: (Implementation.self as? AggregatorSubclass.Type)?.fill(klass)
    }
  }
}

private let finalizeElement: @convention(c) (UnsafeMutablePointer<GObject>?) -> Void = { object in
  guard let object else { return }
  let slot = InstanceSlot.of(UnsafeMutableRawPointer(object))
  let parentClass = ElementClass.of(cgst_type_of(object))?.parentClass
  slot.release()
  parentClass?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize(object)
}

private let getElementProperty:
  @convention(c) (
    UnsafeMutablePointer<GObject>?, guint, UnsafeMutablePointer<GValue>?,
    UnsafeMutablePointer<GParamSpec>?
  ) -> Void = { object, id, value, _ in
    guard let object, let value, let element = ElementSubclass.of(cast(object)) else { return }
    ElementClass.of(cgst_type_of(object))?.getProperty(Int(id) - 1, element, value)
  }

private let setElementProperty:
  @convention(c) (
    UnsafeMutablePointer<GObject>?, guint, UnsafePointer<GValue>?, UnsafeMutablePointer<GParamSpec>?
  ) -> Void = { object, id, value, _ in
    guard let object, let value, let element = ElementSubclass.of(cast(object)) else { return }
    ElementClass.of(cgst_type_of(object))?.setProperty(Int(id) - 1, element, value)
    element.settingsChanged()
  }

private let changeElementState:
  @convention(c) (UnsafeMutablePointer<GstElement>?, GstStateChange) -> GstStateChangeReturn = {
    pointer, transition in
    guard let pointer, let element = ElementSubclass.of(cast(pointer)) else {
      return GST_STATE_CHANGE_FAILURE
    }
    if transition == GST_STATE_CHANGE_READY_TO_PAUSED, !element.runStart() {
      return GST_STATE_CHANGE_FAILURE
    }
    let parent = element.parentClass.assumingMemoryBound(to: GstElementClass.self)
    let result = parent.pointee.change_state(pointer, transition)
    if transition == GST_STATE_CHANGE_PAUSED_TO_READY { element.stop() }
    return result
  }
