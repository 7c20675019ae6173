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

extension ResolvedGraph {
  /// The graph with `count` optional branches in place of each one that is made for every pad.
  ///
  /// Elements keep their positions; those of the further branches come behind them. What begins at
  /// an element that a branch makes is repeated with it.
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

  /// The links and the elements that are made for the branch that begins with this link.
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
        // The whole line that begins there goes with it.
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
