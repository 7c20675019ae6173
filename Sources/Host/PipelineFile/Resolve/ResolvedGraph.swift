// SPDX-License-Identifier: MPL-2.0

/// The graph that a pipeline file stands for: each element has a name, templates and includes are
/// expanded, parameters have their values.
public struct ResolvedGraph: Sendable {
  /// A text in which a required parameter may still be unknown.
  public enum Text: Sendable, Equatable {
    case known(String)
    /// As the file writes it.
    case unknown(String)

    /// The text as it is known, or as the file writes it.
    public var text: String {
      switch self {
      case .known(let text), .unknown(let text): text
      }
    }

    public var known: String? { if case .known(let text) = self { text } else { nil } }
  }

  public struct Element: Sendable {
    /// Unique in the graph; made up for elements that the file does not name.
    public let name: String
    public let type: Text
    public let typeLocation: SourceLocation
    public let properties: [Property]
    /// Where the file makes the element.
    public let location: SourceLocation
    /// The file names the element, or else it is made by a step of a link.
    public let isNamed: Bool
    /// Only optional links lead to the element: it is made when the pad of one of them appears,
    /// together with the links that begin at it.
    public internal(set) var isOptional = false
  }

  public struct Property: Sendable {
    public let name: String
    public let nameLocation: SourceLocation
    public let value: Value
    public let location: SourceLocation
  }

  public indirect enum Value: Sendable {
    case text(Text, SourceLocation)
    case list([Value])
    case fields([Property])
  }

  /// Properties of a pad that exists always or is requested by a link.
  public struct Pad: Sendable {
    /// Position in `elements`.
    public let element: Int
    public let name: String
    public let properties: [Property]
    public let location: SourceLocation
  }

  public struct End: Sendable, Equatable {
    /// Position in `elements`.
    public let element: Int
    /// Name or template of the pad; nil for any that fits.
    public let pad: String?
    public let location: SourceLocation
  }

  public struct Link: Sendable {
    public let source: End
    public let sink: End
    /// What the source pad must offer to be the one.
    public let padCaps: Text?
    /// What the buffers must be.
    public let filter: Text?
    public let filterLocation: SourceLocation?
    /// The links of one line of the file have one number; they follow each other.
    public let branch: Int
    /// For how many pads the branch is made.
    public let repetition: Repetition
    /// The line of the file.
    public let location: SourceLocation

    /// The branch is made only if its first pad appears.
    public var isOptional: Bool { repetition != .once }
  }

  public let description: String?
  public internal(set) var elements: [Element] = []
  public internal(set) var pads: [Pad] = []
  public internal(set) var links: [Link] = []
  public let run: RunSettings

  /// Whether a link is made only if some pad appears: that of its own branch, or of another one
  /// that leads to its source.
  ///
  /// - Parameter link: position in `links`.
  public func isConditional(_ link: Int) -> Bool {
    links[link].isOptional || elements[links[link].source.element].isOptional
  }
}
