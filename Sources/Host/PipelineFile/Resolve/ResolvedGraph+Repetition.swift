// SPDX-License-Identifier: MPL-2.0

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
