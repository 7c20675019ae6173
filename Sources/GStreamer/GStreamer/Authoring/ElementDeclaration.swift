// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// What an element is: the first page of its manual.
public struct ElementDeclaration<Implementation: ElementImplementation>: ElementFeature,
  @unchecked Sendable
{
  public let name: String
  public let typeName: String
  public let longName: String
  public let klass: String
  public let description: String
  public let author: String
  public let rank: ElementRank
  public let padTemplates: [PadTemplate]
  public let properties: [Property<Implementation>]
  public let signals: [Signal<Implementation>]
  public let interfaces: [ElementInterface]
  let baseClass: BaseClass
  let make: (ElementInstance) throws -> ElementBox
  /// The Swift object whose properties are set.
  let owner: (ElementBox) -> Implementation?

  /// Registers the element with a plugin; false where GStreamer refuses the type.
  public func register(with plugin: PluginReference) -> Bool {
    let type = ElementClass.register(self)
    guard type != 0 else { return false }
    return gst_element_register(plugin.pointer, name, rank.rawValue, type) != 0
  }

  /// Registers the element with the process alone, of no plugin; false where GStreamer refuses the type
  /// or the name.
  public func registerInProcess() -> Bool {
    let type = ElementClass.register(self)
    return type != 0 && gst_element_register(nil, name, rank.rawValue, type) != 0
  }

  /// The type alone, for a part of other elements that no plugin offers.
  public var part: any PluginFeature { PartDeclaration { ElementClass.register(self) != 0 } }
}

extension ElementDeclaration where Implementation: ElementImplementation {
  /// - Parameters:
  ///   - name: as in gst-launch, such as `sbssplit`.
  ///   - typeName: the GType, such as `GstSBSSplit`.
  ///   - longName: for people, in title case.
  ///   - klass: GStreamer's class keywords, such as `Codec/Muxer`.
  ///   - description: one sentence on what it does.
  ///   - author: name and address.
  ///   - rank: how willing autopluggers are to use the element.
  ///   - padTemplates: what pads it has or may get.
  ///   - properties: in the order in which gst-inspect lists them.
  ///   - signals: what applications may emit, or are asked.
  ///   - interfaces: GObject interfaces besides.
  public init(
    name: String, typeName: String, longName: String, klass: String, description: String,
    author: String, rank: ElementRank = .none, padTemplates: [PadTemplate],
    properties: [Property<Implementation>] = [], signals: [Signal<Implementation>] = [],
    interfaces: [ElementInterface] = []
  ) {
    let superclass = Implementation.superclass
    self.init(
      name: name, typeName: typeName, longName: longName, klass: klass, description: description,
      author: author, rank: rank, padTemplates: padTemplates, properties: properties,
      signals: signals, interfaces: interfaces, baseClass: superclass.base,
      make: superclass.makeBox,
      owner: { ElementCore<Implementation>.of($0)?.implementation })
  }
}

private struct PartDeclaration: PluginFeature, @unchecked Sendable {
  let register: () -> Bool

  func register(with plugin: PluginReference) -> Bool { register() }
}

/// GObject interfaces that need no code of the element.
public enum ElementInterface: Sendable {
  /// `GstTagSetter`: applications set tags that the element merges with those of its streams.
  case tagSetter
  /// `GstTocSetter`: applications name the chapters of what the element makes.
  case tocSetter
  /// `GstPreset`: named sets of property values.
  case preset

  var type: GType {
    switch self {
    case .tagSetter: gst_tag_setter_get_type()
    case .tocSetter: gst_toc_setter_get_type()
    case .preset: gst_preset_get_type()
    }
  }
}

/// What all objects of one registered type share.
final class ElementClass: @unchecked Sendable {
  let declare: (UnsafeMutableRawPointer) -> Void
  let make: (ElementInstance) throws -> ElementBox
  let getProperty: (Int, ElementBox, UnsafeMutablePointer<GValue>) -> Void
  let setProperty: (Int, ElementBox, UnsafePointer<GValue>) -> Void
  /// The class structure of the base class, once the class is there.
  private(set) var parentClass: UnsafeMutableRawPointer?

  private init<Implementation>(_ declaration: ElementDeclaration<Implementation>) {
    declare = { Self.fill($0, declaration) }
    make = declaration.make
    let properties = declaration.properties
    let owner = declaration.owner
    getProperty = { index, object, value in
      guard properties.indices.contains(index), let owner = owner(object) else { return }
      properties[index].get(owner, value)
    }
    setProperty = { index, object, value in
      guard properties.indices.contains(index), let owner = owner(object) else { return }
      properties[index].set?(owner, value)
    }
  }

  /// What the layer knows of the class of an object.
  static func of(_ object: UnsafeMutablePointer<GObject>) -> ElementClass? {
    object.pointee.g_type_instance.g_class.flatMap { ClassSlot.of($0).load() }
  }

  /// Registers a type of its own for the declaration and returns it; 0 on failure.
  static func register<Implementation>(
    _ declaration: ElementDeclaration<Implementation>
  ) -> GType {
    let base = declaration.baseClass
    let shared = Unmanaged.passRetained(ElementClass(declaration))
    var info = GTypeInfo()
    info.class_size = UInt16(truncatingIfNeeded: ClassSlot.classSize)
    info.class_init = { klass, data in
      guard let klass, let data else { return }
      let shared = Unmanaged<ElementClass>.fromOpaque(data).takeUnretainedValue()
      ClassSlot.of(klass).store(data)
      shared.parentClass = g_type_class_peek_parent(klass)
      shared.declare(klass)
    }
    info.class_data = UnsafeRawPointer(shared.toOpaque())
    info.instance_size = UInt16(truncatingIfNeeded: InstanceSlot.instanceSize)
    info.instance_init = { instance, klass in
      guard let instance, let klass, let shared = ClassSlot.of(klass).load(),
        let parentClass = shared.parentClass
      else { return }
      let object = UnsafeMutableRawPointer(instance)
      let element = object.assumingMemoryBound(to: GstElement.self)
      let born = ElementInstance(element, parentClass: parentClass)
      do {
        InstanceSlot.of(object).store(try shared.make(born))
      } catch {
        UnmadeElement.note(ElementError(error), of: element)
      }
    }
    let type = g_type_register_static(base.type, declaration.typeName, &info, cgst_no_type_flags())
    guard type != 0 else {
      shared.release()
      return 0
    }
    for interface in declaration.interfaces {
      var info = GInterfaceInfo()
      g_type_add_interface_static(type, interface.type, &info)
    }
    return type
  }

  private static func fill<Implementation>(
    _ klass: UnsafeMutableRawPointer, _ declaration: ElementDeclaration<Implementation>
  ) {
    let objectClass = klass.assumingMemoryBound(to: GObjectClass.self)
    objectClass.pointee.finalize = finalizeElement
    objectClass.pointee.get_property = getElementProperty
    objectClass.pointee.set_property = setElementProperty
    for (index, property) in declaration.properties.enumerated() {
      g_object_class_install_property(objectClass, guint(index + 1), property.makeSpec())
    }
    let type = cgst_type_of_class(klass)
    for signal in declaration.signals { signal.register(type, declaration.owner) }

    let elementClass = klass.assumingMemoryBound(to: GstElementClass.self)
    gst_element_class_set_metadata(
      elementClass, permanent(declaration.longName), permanent(declaration.klass),
      permanent(declaration.description), permanent(declaration.author))
    for template in declaration.padTemplates {
      gst_element_class_add_pad_template(
        elementClass, template.make(padType: declaration.baseClass.padType(template)))
    }

    switch declaration.baseClass {
    case .element: ElementBox.fillRequestPads(elementClass)
    case .bin: break
    case .baseTransform: AnyTransformBox.fill(klass)
    case .pushSource: AnyPushSourceBox.fill(klass)
    case .aggregator: AnyAggregatorBox.fill(klass)
    }
    ElementBox.fillChangeState(
      elementClass, startsHere: [.element, .bin].contains(declaration.baseClass))
  }
}

private let finalizeElement: @convention(c) (UnsafeMutablePointer<GObject>?) -> Void = { object in
  guard let object else { return }
  let slot = InstanceSlot.of(UnsafeMutableRawPointer(object))
  let parentClass = ElementClass.of(object)?.parentClass
  slot.release()
  parentClass?.assumingMemoryBound(to: GObjectClass.self).pointee.finalize(object)
}

private let getElementProperty:
  @convention(c) (
    UnsafeMutablePointer<GObject>?, guint, UnsafeMutablePointer<GValue>?,
    UnsafeMutablePointer<GParamSpec>?
  ) -> Void = { object, id, value, _ in
    guard let object, let value, let element = ElementBox.of(cast(object)) else { return }
    ElementClass.of(object)?.getProperty(Int(id) - 1, element, value)
  }

private let setElementProperty:
  @convention(c) (
    UnsafeMutablePointer<GObject>?, guint, UnsafePointer<GValue>?, UnsafeMutablePointer<GParamSpec>?
  ) -> Void = { object, id, value, _ in
    guard let object, let value, let element = ElementBox.of(cast(object)) else { return }
    ElementClass.of(object)?.setProperty(Int(id) - 1, element, value)
    element.core.settingsChanged()
  }

/// How willing autopluggers are to use an element: `GstRank`.
public struct ElementRank: RawRepresentable, Hashable, Sendable {
  public let rawValue: UInt32

  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ rank: GstRank) {
    self.init(rawValue: UInt32(rank.rawValue))
  }

  /// `GST_RANK_NONE`: never by themselves.
  public static let none = ElementRank(GST_RANK_NONE)
  /// `GST_RANK_PRIMARY`: the usual one.
  public static let primary = ElementRank(GST_RANK_PRIMARY)

  /// Just above this one.
  public var above: ElementRank { ElementRank(rawValue: rawValue &+ 1) }
}
