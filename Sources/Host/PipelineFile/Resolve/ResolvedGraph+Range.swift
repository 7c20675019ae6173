// SPDX-License-Identifier: MPL-2.0

extension ResolvedGraph {
  /// The types of elements whose source pads give decoded pictures.
  private static let decoders: Set<String> = ["decodebin", "decodebin3", "mvcdec", "mvhevcdec"]

  /// Returns the graph without the branches for audio, texts and metadata: those that are made for
  /// each pad, or only if there is one.
  package func withPicturesAlone() -> ResolvedGraph {
    var result = self
    let others = Set(links.filter(\.isOptional).map(\.branch))
    result.links.removeAll { link in
      others.contains(link.branch) || elements[link.source.element].isOptional
    }
    result.leavesTracksOut = true
    return result
  }

  /// The links on which decoded pictures leave their decoder, in the order of the file, without
  /// those of optional branches.
  package var pictureLinks: [Int] {
    links.indices.filter { index in
      let source = elements[links[index].source.element]
      return !isConditional(index) && source.type.known.map(Self.decoders.contains) == true
    }
  }

  /// The types of the decoders that pictures come from, one for each of ``pictureLinks``.
  package var pictureDecoders: [String] {
    pictureLinks.map { elements[links[$0].source.element].type.text }
  }

  /// Returns the graph with an element on each of the ``pictureLinks``.
  ///
  /// - Parameters:
  ///   - type: the element's type.
  ///   - properties: returns the properties of the element on the link of this number, from 0.
  package func insertingAfterDecoders(
    _ type: String, properties: (Int) -> [(name: String, value: String)]
  ) -> ResolvedGraph {
    inserting(type, on: pictureLinks, properties: properties)
  }

  /// Returns the graph with a source for HTTP in place of one for files, if its location is a URL.
  package func reading(_ input: String) -> ResolvedGraph {
    guard input.contains("://") else { return self }
    var result = self
    for (index, element) in elements.enumerated() where element.type.known == "filesrc" {
      let isInput = element.properties.contains { property in
        guard property.name == "location", case .text(let text, _) = property.value else {
          return false
        }
        return text.known == input
      }
      guard isInput else { continue }
      result.elements[index].type = .known("souphttpsrc")
    }
    return result
  }

  /// Returns the graph with properties of all elements of a type set, whatever the file sets them
  /// to.
  package func setting(
    _ properties: [(name: String, value: String)], ofType type: String
  ) -> ResolvedGraph {
    var result = self
    for (index, element) in elements.enumerated() where element.type.known == type {
      let place = element.location
      let others = element.properties.filter { property in
        !properties.contains { $0.name == property.name }
      }
      result.elements[index].properties =
        others
        + properties.map {
          Property(
            name: $0.name, nameLocation: place, value: .text(.known($0.value), place),
            location: place)
        }
    }
    return result
  }

  /// Returns the graph with an element on each of some links.
  ///
  /// - Parameters:
  ///   - type: the element's type.
  ///   - chosen: the indices of the links.
  ///   - properties: returns the properties of the element on the link of this number, from 0.
  package func inserting(
    _ type: String, on chosen: [Int], properties: (Int) -> [(name: String, value: String)]
  ) -> ResolvedGraph {
    var result = self
    result.links = []
    for (index, link) in links.enumerated() {
      guard let number = chosen.firstIndex(of: index) else {
        result.links.append(link)
        continue
      }
      let place = link.location
      result.elements.append(
        Element(
          name: "\(type)\(number)", type: .known(type), typeLocation: place,
          properties: properties(number).map { property in
            Property(
              name: property.name, nameLocation: place,
              value: .text(.known(property.value), place), location: place)
          }, location: place, isNamed: false, isOptional: isConditional(index)))
      let inserted = End(element: result.elements.count - 1, pad: nil, location: place)
      result.links.append(
        Link(
          source: link.source, sink: inserted, padCaps: link.padCaps, filter: nil,
          filterLocation: nil, branch: link.branch, repetition: link.repetition, location: place))
      result.links.append(
        Link(
          source: inserted, sink: link.sink, padCaps: nil, filter: link.filter,
          filterLocation: link.filterLocation, branch: link.branch, repetition: link.repetition,
          location: place))
    }
    return result
  }
}
