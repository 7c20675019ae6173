// SPDX-License-Identifier: MPL-2.0

/// The queries of stage 3 about installed elements, answered by GStreamer's registry in programs
/// and by a table in tests.
public protocol ElementRegistry {
  /// Returns the element type with this name; nil if it is not installed.
  func elementType(_ name: String) -> ElementType?
  /// The names of all installed element types, for suggestions.
  var elementTypeNames: [String] { get }
  /// Returns the package that contains an element type that is not installed; nil if unknown.
  func package(providing elementType: String) -> String?
  /// Returns the problem with the text of caps; nil if it is valid.
  func problem(inCaps caps: String) -> String?
  /// Returns the problem with the text of a structure; nil if it is valid.
  func problem(inStructure structure: String) -> String?
  /// Returns whether two caps intersect; both texts are valid caps.
  func capsIntersect(_ one: String, _ other: String) -> Bool
  /// Returns the element type that usually converts one format into the other; nil if there is
  /// none.
  func converter(from source: String, to sink: String) -> String?
  /// Returns caps of a single structure without each of their fields in turn, with the name of the
  /// field; empty for other caps.
  func withoutFields(_ caps: String) -> [(field: String, rest: String)]
}

/// The pads and properties of an element type.
public struct ElementType: Sendable {
  /// The properties, for which the element's plugin may have to be loaded.
  public struct Properties: Sendable {
    /// Properties of the element.
    public let ofElement: [PropertyDescription]
    /// Properties of pads beyond those that all pads have, by pad template name.
    public let ofPads: [String: [PropertyDescription]]

    /// Creates a set of properties.
    public init(
      ofElement: [PropertyDescription], ofPads: [String: [PropertyDescription]] = [:]
    ) {
      self.ofElement = ofElement
      self.ofPads = ofPads
    }
  }

  /// Name of the element type.
  public let name: String
  /// The element's pad templates.
  public let padTemplates: [PadDescription]
  private let loadProperties: @Sendable () -> Properties

  /// Creates an element type.
  ///
  /// - Parameter properties: called for each access to the properties.
  public init(
    name: String, padTemplates: [PadDescription], properties: @escaping @Sendable () -> Properties
  ) {
    self.name = name
    self.padTemplates = padTemplates
    loadProperties = properties
  }

  /// Properties of the element; may load its plugin.
  public var properties: [PropertyDescription] { loadProperties().ofElement }

  /// Returns the properties that pads of a template have in addition to those of all pads; may load
  /// the element's plugin.
  public func properties(ofPads template: PadDescription) -> [PropertyDescription] {
    loadProperties().ofPads[template.name] ?? []
  }
}

/// A property of an element or a pad.
public struct PropertyDescription: Sendable {
  /// Name of the property.
  public let name: String
  /// The type of its values.
  public let type: PropertyType
  /// Whether it can be set.
  public let isWritable: Bool
  /// The unit of an integer; nil if the element does not state it.
  public let unit: PropertyUnit?

  /// Creates a property description.
  public init(
    name: String, type: PropertyType, isWritable: Bool = true, unit: PropertyUnit? = nil
  ) {
    self.name = name
    self.type = type
    self.isWritable = isWritable
    self.unit = unit
  }
}

/// The unit of a property's value.
public enum PropertyUnit: Sendable, Equatable {
  case bytes
  /// Multiples of this number of nanoseconds.
  case time(Int64)

  /// Derives the unit from a property's description: "Max. amount of data in the queue (in ns,
  /// 0=disable)". Nil unless it states exactly one.
  public init?(describedBy text: String) {
    let words = text.lowercased().split { !$0.isLetter }
    let units: [(Set<Substring>, PropertyUnit)] = [
      (["ns", "nanosecond", "nanoseconds", "nanosec"], .time(1)),
      (["us", "microsecond", "microseconds"], .time(1000)),
      (["ms", "millisecond", "milliseconds", "milisecond"], .time(1_000_000)),
      (["second", "seconds", "sec", "secs"], .time(1_000_000_000)),
      (["byte", "bytes"], .bytes),
    ]
    let named = units.filter { unit in words.contains { unit.0.contains($0) } }
    // Rates, such as bytes per second, mention two units.
    let rates: Set<Substring> = [
      "bit", "bits", "kbit", "kbits", "bitrate", "rate", "per", "frames",
    ]
    guard named.count == 1, rates.isDisjoint(with: words) else { return nil }
    self = named[0].1
  }

  /// Converts a quantity with its unit (`10s`, `100MB`) to the number that the property takes; nil
  /// if the text is not a quantity of this kind.
  public func number(_ text: String) -> String? {
    guard text.contains(where: { $0.isLetter || $0 == ":" }) else { return nil }
    switch self {
    case .bytes: return Quantity.bytes(text).map { String($0) }
    case .time(let unit): return Quantity.signedNanoseconds(text).map { String($0 / unit) }
    }
  }
}

/// The type of a property's values.
public enum PropertyType: Sendable {
  case boolean
  case integer(ClosedRange<Int64>)
  case unsigned(ClosedRange<UInt64>)
  case number(ClosedRange<Double>)
  case string
  /// One nick.
  case enumeration([Nick])
  /// Nicks joined by `+`.
  case flags([Nick])
  case caps
  /// `30000/1001`
  case fraction
  case structure
  /// A list of values of any type.
  case array
  /// A type that a file cannot express, such as an object or a pointer; the name of the type.
  case other(String)

  /// A value of an enumeration or flags type.
  public struct Nick: Sendable {
    /// The name in files.
    public let nick: String
    /// The number that GStreamer uses.
    public let value: Int64

    /// Creates a value.
    public init(nick: String, value: Int64) {
      self.nick = nick
      self.value = value
    }
  }
}

/// A pad template of an element.
public struct PadDescription: Sendable {
  /// The direction of a pad: whether it outputs or receives data.
  public enum Direction: String, Sendable {
    case source
    case sink
  }

  /// The availability of a pad.
  public enum Presence: String, Sendable {
    /// Each element of the type has the pad.
    case always
    /// The pad appears when the element finds a stream for it.
    case sometimes
    /// The pad is created when a link requests it.
    case request
  }

  /// The name or name pattern: `src`, `audio_%u`.
  public let name: String
  /// The direction of the pads.
  public let direction: Direction
  /// The availability of the pads.
  public let presence: Presence
  /// The template's caps as text.
  public let caps: String

  /// Creates a pad template.
  public init(name: String, direction: Direction, presence: Presence, caps: String) {
    self.name = name
    self.direction = direction
    self.presence = presence
    self.caps = caps
  }

  /// Returns whether a pad of this template may have this name: `audio_0` and `audio_%u` for
  /// `audio_%u`.
  public func matches(_ pad: String) -> Bool {
    guard pad != name else { return true }
    let parts = name.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard presence != .always, parts.count == 2, let kind = parts[1].first else { return false }
    let tail = parts[1].dropFirst()
    guard pad.hasPrefix(parts[0]), pad.count > parts[0].count + tail.count else { return false }
    let middle = pad.dropFirst(parts[0].count)
    switch kind {
    // A template may contain several numbers: "src_%u_%u".
    case "u", "d": return middle.allSatisfy { $0.isNumber || $0 == "_" || $0 == "-" }
    default: return true
    }
  }
}

/// The queries of stage 3 about files.
public protocol FileProbe {
  /// Returns the kind and accessibility of a file or folder.
  func state(of path: String) -> FileState
  /// Returns the path without symbolic links, `.` and `..`, which is the same for all paths to a
  /// file. The file need not exist.
  func canonicalPath(of path: String) -> String
}

/// The kind and accessibility of a file or folder.
public enum FileState: Sendable {
  case file(isReadable: Bool, isWritable: Bool)
  case folder(isWritable: Bool)
  case missing
}
