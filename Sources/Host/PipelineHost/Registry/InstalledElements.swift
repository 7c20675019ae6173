// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import PipelineFile
internal import SpatialElements

/// GStreamer's registry with this project's elements, for checking pipeline files.
public final class InstalledElements: ElementRegistry, Sendable {
  private struct Cache {
    var types: [String: ElementType?] = [:]
    var caps: [String: Caps] = [:]
    var intersections: [String: Bool] = [:]
  }

  private let cache = Locked(Cache())
  private let properties = LoadedProperties()

  /// Initialises GStreamer if necessary, and registers the elements that are linked into the
  /// program: neither the plugin nor a path to it is needed.
  public init() {
    // A plugin of another version that is loaded already has the elements, too.
    try? SpatialElements.register()
  }

  /// Looks up the element factory; the result is cached.
  public func elementType(_ name: String) -> ElementType? {
    if let known = cache.withLock({ $0.types[name] }) { return known }
    let type = ElementFactory.named(name).map { factory in
      ElementType(name: name, padTemplates: factory.padTemplates.map(PadDescription.init)) {
        [properties] in properties.of(factory, named: name)
      }
    }
    cache.withLock { $0.types[name] = .some(type) }
    return type
  }

  /// The names of all element factories, sorted.
  public var elementTypeNames: [String] { ElementFactory.names.sorted() }

  /// Returns the Debian package with the element, for well-known elements.
  public func package(providing elementType: String) -> String? {
    DebianPackages.package(providing: elementType)
  }

  /// Parses the caps; returns how to write them if that fails.
  public func problem(inCaps caps: String) -> String? {
    guard PadFilter(caps) == nil else { return nil }
    let type = caps.prefix { $0 != "," && $0 != "(" && $0 != ";" }
    return type.contains("/")
      ? "after the media type, fields are written as ', name=value'"
      : "caps begin with a media type such as video/x-raw"
  }

  /// Parses the structure; returns how to write it if that fails.
  public func problem(inStructure structure: String) -> String? {
    StructureView.isStructure(structure)
      ? nil : "a structure is written as 'name, field=value, field=value'"
  }

  /// Returns whether the caps intersect; false if one cannot be parsed. The result is cached.
  public func capsIntersect(_ one: String, _ other: String) -> Bool {
    let key = "\(one)\u{0}\(other)"
    if let known = cache.withLock({ $0.intersections[key] }) { return known }
    guard let first = PadFilter(one), let second = PadFilter(other) else { return false }
    let result = first.canIntersect(second)
    cache.withLock { $0.intersections[key] = result }
    return result
  }

  /// Returns a well-known converter, decoder or encoder; nil if none fits.
  public func converter(from source: String, to sink: String) -> String? {
    guard let given = caps(source), let taken = caps(sink) else { return nil }
    return UsualConverter.name(from: given, to: taken)
  }

  /// Returns parsed caps without each of their fields in turn.
  public func withoutFields(_ caps: String) -> [(field: String, rest: String)] {
    guard !caps.contains(";"), let parsed = self.caps(caps), let structure = parsed.first else {
      return []
    }
    return structure.fieldNames.map { ($0, parsed.with(removing: [$0]).description) }
  }

  private func caps(_ text: String) -> Caps? {
    if let known = cache.withLock({ $0.caps[text] }) { return known }
    guard let caps = Caps(written: text) else { return nil }
    cache.withLock { $0.caps[text] = caps }
    return caps
  }
}

/// A cache of element properties: loading their plugins takes long in some cases.
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

extension PadDescription {
  fileprivate init(_ template: PadTemplate) {
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

/// The element that people put between two others whose caps do not fit.
enum UsualConverter {
  private static let decoded = ["video/x-raw", "audio/x-raw"]

  /// Returns the element's type; nil if there is no usual one.
  static func name(from source: Caps, to sink: Caps) -> String? {
    guard !source.isAny, !sink.isAny, let given = source.mediaType, let taken = sink.mediaType
    else { return nil }
    if given == taken { return adapter(given, source, sink) }
    if decoded.contains(taken) {
      return decoded.contains(given) || !isMedia(given) ? nil : "decodebin"
    }
    return decoded.contains(given) ? encoder(sink, kind: given.prefix(5)) : nil
  }

  private static func isMedia(_ type: String) -> Bool {
    ["video/", "audio/", "image/", "application/"].contains { type.hasPrefix($0) }
  }

  /// Returns the element that converts the fields in which two caps of the same media type differ.
  private static func adapter(_ type: String, _ source: Caps, _ sink: Caps) -> String? {
    let adapters: [(fields: [String], element: String)] =
      switch type {
      case "video/x-raw":
        [
          (["format", "colorimetry", "chroma-site"], "videoconvert"),
          (["width", "height", "pixel-aspect-ratio"], "videoscale"), (["framerate"], "videorate"),
          (["interlace-mode"], "deinterlace"),
        ]
      case "audio/x-raw":
        [
          (["format", "channels", "channel-mask", "layout"], "audioconvert"),
          (["rate"], "audioresample"),
        ]
      case "video/x-h264": [(["stream-format", "alignment", "parsed"], "h264parse")]
      case "video/x-h265": [(["stream-format", "alignment", "parsed"], "h265parse")]
      case "audio/mpeg": [(["stream-format", "framed", "parsed"], "aacparse")]
      default: []
      }
    return adapters.first {
      source.with(removing: $0.fields).canIntersect(sink.with(removing: $0.fields))
    }?
    .element
  }

  private static func encoder(_ sink: Caps, kind: Substring) -> String? {
    let encoders: [(output: String, element: String)] =
      kind == "video"
      ? [
        ("video/x-h265", "x265enc"), ("video/x-h264", "x264enc"), ("image/jpeg", "jpegenc"),
        ("image/png", "pngenc"),
      ]
      : [
        ("audio/mpeg, mpegversion=4", "avenc_aac"), ("audio/x-opus", "opusenc"),
        ("audio/x-flac", "flacenc"),
      ]
    return encoders.first { Caps(parsing: $0.output)?.canIntersect(sink) == true }?.element
  }
}
