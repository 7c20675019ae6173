// SPDX-License-Identifier: MPL-2.0

internal import CGStreamer

/// The description of an element: the first page of its manual.
public struct ElementDeclaration<Implementation: ElementImplementation>: ElementFeature,
  @unchecked Sendable
{
  /// The factory name, such as `sbssplit`.
  public let name: String
  /// The name of the GType, such as `GstSBSSplit`.
  public let typeName: String
  /// A name for users, in title case.
  public let longName: String
  /// GStreamer's classification keywords, such as `Codec/Muxer`.
  public let klass: String
  /// One sentence on what the element does.
  public let description: String
  /// Name and e-mail address.
  public let author: String
  /// The autoplugging priority.
  public let rank: ElementRank
  /// The pads that the element has or may have.
  public let padTemplates: [PadTemplate]
  /// The properties, in the order of `gst-inspect-1.0`.
  public let properties: [Property<Implementation>]
  /// Actions for applications, and requests to them.
  public let signals: [Signal<Implementation>]
  /// Additional GObject interfaces.
  public let interfaces: [ElementInterface]
  let baseClass: BaseClass
  let make: (ElementInstance) throws -> ElementBox
  /// Returns the Swift object whose properties are set.
  let owner: (ElementBox) -> Implementation?

  /// Registers the element with a plugin; returns false if GStreamer refuses the type.
  public func register(with plugin: PluginReference) -> Bool {
    let type = ElementClass.register(self)
    guard type != 0 else { return false }
    return gst_element_register(plugin.pointer, name, rank.rawValue, type) != 0
  }

  /// Registers the element in this process, without a plugin; returns false if GStreamer refuses
  /// the type or the name.
  public func registerInProcess() -> Bool {
    let type = ElementClass.register(self)
    return type != 0 && gst_element_register(nil, name, rank.rawValue, type) != 0
  }

  /// A feature that registers only the type, for a part of other elements that is not offered as an
  /// element.
  public var part: any PluginFeature { PartDeclaration { ElementClass.register(self) != 0 } }
}

extension ElementDeclaration where Implementation: ElementImplementation {
  /// Declares an element.
  ///
  /// - Parameters:
  ///   - name: Factory name, such as `sbssplit`.
  ///   - typeName: Name of the GType, such as `GstSBSSplit`.
  ///   - longName: A name for users, in title case.
  ///   - klass: GStreamer's classification keywords, such as `Codec/Muxer`.
  ///   - description: One sentence on what the element does.
  ///   - author: Name and e-mail address.
  ///   - rank: Autoplugging priority.
  ///   - padTemplates: The pads that the element has or may have.
  ///   - properties: The properties, in the order of `gst-inspect-1.0`.
  ///   - signals: Actions for applications, and requests to them.
  ///   - interfaces: Additional GObject interfaces.
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

/// GObject interfaces that need no code in the element.
public enum ElementInterface: Sendable {
  /// `GstTagSetter`: applications set tags, which the element merges with those of its streams.
  case tagSetter
  /// `GstTocSetter`: applications set the chapters of the element's output.
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

/// The data common to all instances of a registered type.
final class ElementClass: @unchecked Sendable {
  let declare: (UnsafeMutableRawPointer) -> Void
  let make: (ElementInstance) throws -> ElementBox
  let log: DebugCategory
  fileprivate let getProperty: (Int, ElementBox, UnsafeMutablePointer<GValue>) -> Void
  fileprivate let setProperty: (Int, ElementBox, UnsafePointer<GValue>) -> Void
  /// The class structure of the base class; nil before class initialization.
  private(set) var parentClass: UnsafeMutableRawPointer?

  private init<Implementation>(_ declaration: ElementDeclaration<Implementation>) {
    declare = { Self.fill($0, declaration) }
    make = declaration.make
    log = DebugCategory(declaration.name, declaration.longName)
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

  /// Returns the data of an object's class.
  static func of(_ object: UnsafeMutablePointer<GObject>) -> ElementClass? {
    object.pointee.g_type_instance.g_class.flatMap { ClassSlot.of($0).load() }
  }

  /// Registers a GType for the declaration and returns it; 0 on failure.
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
      let newInstance = ElementInstance(element, parentClass: parentClass, log: shared.log)
      do {
        InstanceSlot.of(object).store(try shared.make(newInstance))
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

/// The autoplugging priority of an element: `GstRank`.
public struct ElementRank: RawRepresentable, Hashable, Sendable {
  /// The value of `GstRank`.
  public let rawValue: UInt32

  /// Creates a rank from its value.
  public init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  init(_ rank: GstRank) {
    self.init(rawValue: UInt32(rank.rawValue))
  }

  /// `GST_RANK_NONE`: never autoplugged.
  public static let none = ElementRank(GST_RANK_NONE)
  /// `GST_RANK_MARGINAL`: chosen if no other element fits.
  public static let marginal = ElementRank(GST_RANK_MARGINAL)
  /// `GST_RANK_PRIMARY`: the default choice.
  public static let primary = ElementRank(GST_RANK_PRIMARY)

  /// The next higher rank.
  public var above: ElementRank { ElementRank(rawValue: rawValue &+ 1) }
}
