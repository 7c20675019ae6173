// SPDX-License-Identifier: MPL-2.0

/// The graph that a pipeline file describes: all elements have names, templates and includes are
/// expanded, parameters are replaced by their values.
public struct ResolvedGraph: Sendable {
  /// A text that may depend on a required parameter without a value.
  public enum Text: Sendable, Equatable {
    case known(String)
    /// Depends on unknown values; the text as written in the file.
    case unknown(String)

    /// The text, evaluated if possible, else as written in the file.
    public var text: String {
      switch self {
      case .known(let text), .unknown(let text): text
      }
    }

    /// The evaluated text; nil if it depends on unknown values.
    public var known: String? { if case .known(let text) = self { text } else { nil } }
  }

  /// An element of the graph.
  public struct Element: Sendable {
    /// Unique in the graph; generated for elements that the file does not name.
    public let name: String
    /// The element type.
    public internal(set) var type: Text
    /// The location of the type in the file.
    public let typeLocation: SourceLocation
    /// The properties to set.
    public internal(set) var properties: [Property]
    /// The location where the file creates the element.
    public let location: SourceLocation
    /// Whether the file names the element; otherwise a step of a link creates it.
    public let isNamed: Bool
    /// Whether only optional links lead to the element. It is then created when the pad of one of
    /// them appears, together with the links that begin at it.
    public internal(set) var isOptional = false
  }

  /// A property to set on an element or a pad.
  public struct Property: Sendable {
    /// The name of the property.
    public let name: String
    /// The location of the name in the file.
    public let nameLocation: SourceLocation
    /// The value to set.
    public let value: Value
    /// The location of the value in the file.
    public let location: SourceLocation
  }

  /// The value of a property.
  public indirect enum Value: Sendable {
    case text(Text, SourceLocation)
    case list([Value])
    case fields([Property])
  }

  /// Properties of an always or request pad.
  public struct Pad: Sendable {
    /// Index in `elements`.
    public let element: Int
    /// Name of the pad.
    public let name: String
    /// The properties to set.
    public let properties: [Property]
    /// The location in the file.
    public let location: SourceLocation
  }

  /// One end of a link.
  public struct End: Sendable, Equatable {
    /// Index in `elements`.
    public let element: Int
    /// Name or template of the pad; nil for any pad that fits.
    public let pad: String?
    /// The location in the file.
    public let location: SourceLocation
  }

  /// A link between two elements.
  public struct Link: Sendable {
    /// The upstream end.
    public let source: End
    /// The downstream end.
    public let sink: End
    /// Caps that select the source pad.
    public let padCaps: Text?
    /// Caps of a capsfilter on the link.
    public let filter: Text?
    /// The location of the filter in the file.
    public let filterLocation: SourceLocation?
    /// The number of the line of `links:`; the links of one line share it and are consecutive.
    public let branch: Int
    /// The number of pads for which the branch is created.
    public let repetition: Repetition
    /// The location of the link in the file.
    public let location: SourceLocation

    /// Whether the branch is created only if its first pad appears.
    public var isOptional: Bool { repetition != .once }
  }

  /// One-sentence description of the pipeline.
  public let description: String?
  /// The elements; links and pads refer to them by index.
  public internal(set) var elements: [Element] = []
  /// The pads with properties.
  public internal(set) var pads: [Pad] = []
  /// The links, in file order.
  public internal(set) var links: [Link] = []
  /// The settings of `run`.
  public let run: RunSettings
  /// Whether tracks that no link takes are left out on purpose, without a warning.
  package internal(set) var leavesTracksOut = false

  /// Returns whether a link is created only if a pad appears: the first pad of its own branch, or
  /// of another branch that leads to its source.
  ///
  /// - Parameter link: index in `links`.
  public func isConditional(_ link: Int) -> Bool {
    links[link].isOptional || elements[links[link].source.element].isOptional
  }
}

extension ResolvedGraph {
  /// Returns the graph with each branch that is created for every pad replaced by `count` optional
  /// branches.
  ///
  /// Elements keep their indexes; those of the additional branches follow them. Branches that begin
  /// at an element of a repeated branch are repeated with it.
  public func repeating(_ count: Int) -> ResolvedGraph {
    var result = self
    result.links = []
    var branches = (links.map(\.branch).max() ?? 0) + 1
    for (index, link) in links.enumerated() {
      result.links.append(link)
      let isEndOfBranch = index + 1 == links.count || links[index + 1].branch != link.branch
      guard link.repetition == .each, isEndOfBranch,
        let first = links.firstIndex(where: { $0.branch == link.branch })
      else { continue }
      let (indexes, elements) = parts(ofBranch: first)
      let copied = indexes.map { links[$0] }
      for number in 2..<max(2, count + 1) {
        result.append(copied, elements, number: number, branches: branches)
        branches += copied.count
      }
    }
    return result
  }

  /// Returns the links and elements that are created with the branch that begins with this link.
  func parts(ofBranch first: Int) -> (links: [Int], elements: [Int]) {
    let branch = links[first].branch
    var found = links.indices.filter { links[$0].branch == branch }
    var made: [Int] = []
    var next = found.map { links[$0].sink.element }.filter { elements[$0].isOptional }
    while let element = next.popLast() {
      guard !made.contains(element) else { continue }
      made.append(element)
      for index in links.indices
      where links[index].source.element == element && links[index].branch != branch {
        // The whole line that begins there is included.
        let line = links.indices.filter { links[$0].branch == links[index].branch }
        for index in line where !found.contains(index) {
          found.append(index)
          let sink = links[index].sink.element
          if elements[sink].isOptional { next.append(sink) }
        }
      }
    }
    return (found, made)
  }

  private mutating func append(
    _ copied: [Link], _ made: [Int], number: Int, branches: Int
  ) {
    let original = self
    var places: [Int: Int] = [:]
    for element in made {
      places[element] = elements.count
      let old = original.elements[element]
      elements.append(
        Element(
          name: "\(old.name):\(number)", type: old.type, typeLocation: old.typeLocation,
          properties: old.properties, location: old.location, isNamed: old.isNamed,
          isOptional: old.isOptional))
      for pad in original.pads where pad.element == element {
        pads.append(
          Pad(
            element: elements.count - 1, name: pad.name, properties: pad.properties,
            location: pad.location))
      }
    }
    func end(_ end: End) -> End {
      End(element: places[end.element] ?? end.element, pad: end.pad, location: end.location)
    }
    var numbers: [Int: Int] = [:]
    for link in copied {
      let branch = numbers[link.branch] ?? branches + numbers.count
      numbers[link.branch] = branch
      links.append(
        Link(
          source: end(link.source), sink: end(link.sink), padCaps: link.padCaps,
          filter: link.filter, filterLocation: link.filterLocation, branch: branch,
          repetition: link.repetition, location: link.location))
    }
  }
}
