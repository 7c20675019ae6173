// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import PipelineFile

/// GStreamer's registry, as the check of pipeline files asks it.
public final class InstalledElements: ElementRegistry, Sendable {
  private struct Cache {
    var types: [String: ElementType?] = [:]
    var caps: [String: Caps] = [:]
    var intersections: [String: Bool] = [:]
  }

  private let cache = Locked(Cache())
  private let properties = LoadedProperties()

  /// Initialises GStreamer where that has not been done.
  public init() {
    initialize()
  }

  public func elementType(_ name: String) -> ElementType? {
    if let known = cache.withLock({ $0.types[name] }) { return known }
    let type = ElementFactory.named(name).map { factory in
      ElementType(name: name, padTemplates: factory.padTemplates.map(FilePadTemplate.init)) {
        [properties] in properties.of(factory, named: name)
      }
    }
    cache.withLock { $0.types[name] = .some(type) }
    return type
  }

  public var elementTypeNames: [String] { ElementFactory.names.sorted() }

  public func package(providing elementType: String) -> String? {
    DebianPackages.package(providing: elementType)
  }

  public func problem(inCaps caps: String) -> String? {
    guard PadChoice(caps) == nil else { return nil }
    let type = caps.prefix { $0 != "," && $0 != "(" && $0 != ";" }
    return type.contains("/")
      ? "after the media type, fields are written as ', name=value'"
      : "it begins with a media type such as video/x-raw"
  }

  public func problem(inStructure structure: String) -> String? {
    StructureView.isStructure(structure)
      ? nil : "a structure is written as 'name, field=value, field=value'"
  }

  public func capsIntersect(_ one: String, _ other: String) -> Bool {
    let key = "\(one)\u{0}\(other)"
    if let known = cache.withLock({ $0.intersections[key] }) { return known }
    guard let first = PadChoice(one), let second = PadChoice(other) else { return false }
    let result = first.canIntersect(second)
    cache.withLock { $0.intersections[key] = result }
    return result
  }

  public func converter(from source: String, to sink: String) -> String? {
    guard let given = caps(source), let taken = caps(sink) else { return nil }
    return UsualConverter.name(from: given, to: taken)
  }

  private func caps(_ text: String) -> Caps? {
    if let known = cache.withLock({ $0.caps[text] }) { return known }
    guard let caps = Caps(written: text) else { return nil }
    cache.withLock { $0.caps[text] = caps }
    return caps
  }
}

/// The properties of elements whose plugins have been loaded: that takes long for some.
private final class LoadedProperties: Sendable {
  private let known = Locked<[String: ElementType.Properties]>([:])

  func of(_ factory: ElementFactory, named name: String) -> ElementType.Properties {
    if let known = known.withLock({ $0[name] }) { return known }
    let found = factory.properties
    let properties = ElementType.Properties(
      ofElement: found?.ofElement.map(PropertyDescription.init) ?? [],
      ofPads: found?.ofPads.mapValues { $0.map(PropertyDescription.init) } ?? [:])
    known.withLock { $0[name] = properties }
    return properties
  }
}

extension PropertyDescription {
  fileprivate init(_ specification: PropertySpecification) {
    func nicks(_ nicks: [PropertySpecification.Nick]) -> [PropertyType.Nick] {
      nicks.map { .init(nick: $0.nick, value: $0.value) }
    }
    let type: PropertyType =
      switch specification.kind {
      case .boolean: .boolean
      case .integer(let range): .integer(range)
      case .unsigned(let range): .unsigned(range)
      case .number(let range): .number(range)
      case .string: .string
      case .enumeration(let values): .enumeration(nicks(values))
      case .flags(let values): .flags(nicks(values))
      case .caps: .caps
      case .fraction: .fraction
      case .structure: .structure
      case .array: .array
      case .other(let name): .other(name)
      }
    self.init(
      name: specification.name, type: type, isWritable: specification.isWritable,
      unit: PropertyUnit(describedBy: specification.blurb))
  }
}

extension FilePadTemplate {
  fileprivate init(_ template: GStreamer.PadTemplate) {
    let presence: Presence =
      switch template.presence {
      case .always: .always
      case .sometimes: .sometimes
      case .request: .request
      }
    self.init(
      name: template.name, direction: template.direction == .source ? .source : .sink,
      presence: presence, caps: template.caps.description)
  }
}
