// SPDX-License-Identifier: MPL-2.0

/// What stage 3 asks about the elements that are installed. GStreamer's registry answers in
/// programs, a table in tests.
public protocol ElementRegistry {
  /// The element type of this name; nil if none is installed.
  func elementType(_ name: String) -> ElementType?
  /// All that are installed, for suggestions.
  var elementTypeNames: [String] { get }
  /// The package that holds an element type that is not installed, where it is known.
  func package(providing elementType: String) -> String?
  /// What is wrong with the text of caps; nil where it is right.
  func problem(inCaps caps: String) -> String?
  /// What is wrong with the text of a structure; nil where it is right.
  func problem(inStructure structure: String) -> String?
  /// Whether something can be both; each is the text of caps without mistakes.
  func capsIntersect(_ one: String, _ other: String) -> Bool
  /// The type of element that usually turns one into the other; nil if there is none.
  func converter(from source: String, to sink: String) -> String?
}

/// What is known of a type of element.
public struct ElementType: Sendable {
  /// What only the element's code says, which may have to be loaded for that.
  public struct Properties: Sendable {
    public let ofElement: [PropertyDescription]
    /// What pads have besides what all pads have, by the name of their template.
    public let ofPads: [String: [PropertyDescription]]

    public init(
      ofElement: [PropertyDescription], ofPads: [String: [PropertyDescription]] = [:]
    ) {
      self.ofElement = ofElement
      self.ofPads = ofPads
    }
  }

  public let name: String
  public let padTemplates: [PadDescription]
  private let loadProperties: @Sendable () -> Properties

  /// - Parameter properties: called each time that they are asked for.
  public init(
    name: String, padTemplates: [PadDescription], properties: @escaping @Sendable () -> Properties
  ) {
    self.name = name
    self.padTemplates = padTemplates
    loadProperties = properties
  }

  public var properties: [PropertyDescription] { loadProperties().ofElement }

  /// What the pads of a template have besides what all pads have.
  public func properties(ofPads template: PadDescription) -> [PropertyDescription] {
    loadProperties().ofPads[template.name] ?? []
  }
}

public struct PropertyDescription: Sendable {
  public let name: String
  public let type: PropertyType
  public let isWritable: Bool
  /// What a whole number counts, where the element says so.
  public let unit: PropertyUnit?

  public init(
    name: String, type: PropertyType, isWritable: Bool = true, unit: PropertyUnit? = nil
  ) {
    self.name = name
    self.type = type
    self.isWritable = isWritable
    self.unit = unit
  }
}

/// What a property's number counts.
public enum PropertyUnit: Sendable, Equatable {
  case bytes
  /// Of so many nanoseconds.
  case time(Int64)

  /// As elements describe it: "Max. amount of data in the queue (in ns, 0=disable)".
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
    // Rates, such as bytes in a second, have two.
    let rates: Set<Substring> = [
      "bit", "bits", "kbit", "kbits", "bitrate", "rate", "per", "frames",
    ]
    guard named.count == 1, rates.isDisjoint(with: words) else { return nil }
    self = named[0].1
  }

  /// A quantity with its unit (`10s`, `100MB`) as the number that the property takes; nil where it
  /// is none, or none of this kind.
  public func number(_ text: String) -> String? {
    guard text.contains(where: { $0.isLetter || $0 == ":" }) else { return nil }
    switch self {
    case .bytes: return Quantity.bytes(text).map { String($0) }
    case .time(let unit): return Quantity.nanoseconds(text).map { String($0 / unit) }
    }
  }
}

/// What values a property takes.
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
  /// What a file cannot write, by the name of its type: an object, a pointer.
  case other(String)

  public struct Nick: Sendable {
    public let nick: String
    public let value: Int64

    public init(nick: String, value: Int64) {
      self.nick = nick
      self.value = value
    }
  }
}

public struct PadDescription: Sendable {
  public enum Direction: String, Sendable {
    case source
    case sink
  }

  public enum Presence: String, Sendable {
    /// Each element of the type has the pad.
    case always
    /// The pad appears when the element has found something for it.
    case sometimes
    /// The pad is made when a link asks for it.
    case request
  }

  /// `src`, `audio_%u`
  public let name: String
  public let direction: Direction
  public let presence: Presence
  /// The text of the template's caps.
  public let caps: String

  public init(name: String, direction: Direction, presence: Presence, caps: String) {
    self.name = name
    self.direction = direction
    self.presence = presence
    self.caps = caps
  }

  /// Whether a pad of this template may have this name: `audio_0` and `audio_%u` for `audio_%u`.
  public func matches(_ pad: String) -> Bool {
    guard pad != name else { return true }
    let parts = name.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
    guard presence != .always, parts.count == 2, let kind = parts[1].first else { return false }
    let tail = parts[1].dropFirst()
    guard pad.hasPrefix(parts[0]), pad.count > parts[0].count + tail.count else { return false }
    let middle = pad.dropFirst(parts[0].count)
    switch kind {
    // A template may have several numbers: "src_%u_%u".
    case "u", "d": return middle.allSatisfy { $0.isNumber || $0 == "_" || $0 == "-" }
    default: return true
    }
  }
}

/// What stage 3 asks about files.
public protocol FileProbe {
  func state(of path: String) -> FileState
  /// The path without symbolic links, `.` and `..`: the same for each path to a file. The file
  /// itself need not exist.
  func canonicalPath(of path: String) -> String
}

public enum FileState: Sendable {
  case file(isReadable: Bool, isWritable: Bool)
  case folder(isWritable: Bool)
  case missing
}
