// SPDX-License-Identifier: MPL-2.0

/// Builds the graph of a file that has passed stage 2.
final class GraphBuilder {
  private let file: PipelineFile
  private let reporter: Reporter
  private let values: ParameterValues
  private let names: NameTable
  private var graph: ResolvedGraph
  private var indexes: [String: Int] = [:]
  private var scopes: [ValueScope] = []
  private var counts: [String: Int] = [:]

  init(_ file: PipelineFile, _ values: ParameterValues, _ reporter: Reporter) {
    self.file = file
    self.reporter = reporter
    self.values = values
    names = NameTable(file.units, reporter)
    graph = ResolvedGraph(description: file.description, run: file.run)
  }

  /// Builds the graph.
  ///
  /// - Parameter given: the values of the main file's parameters.
  func build(given: [String: [ParameterValues.Given]]) -> ResolvedGraph {
    for included in file.units {
      var unitGiven = given
      if let parent = included.parent {
        unitGiven = values.given(
          included.arguments, in: scopes[parent], for: included.unit.parameters)
      }
      scopes.append(values.scope(included.unit.parameters, given: unitGiven, enclosing: nil))
    }
    addNamedElements()
    for (included, scope) in zip(file.units, scopes) {
      for pad in included.unit.pads {
        guard let element = indexes[pad.element.text] else { continue }
        graph.pads.append(
          .init(
            element: element, name: pad.pad, properties: properties(pad.properties, scope),
            location: pad.location))
      }
    }
    var branch = 0
    for (included, scope) in zip(file.units, scopes) {
      for link in included.unit.links {
        for scope in scope.scopes(for: link) {
          guard graph.elements.count <= ModelCheck.elementLimit else {
            reporter.error(
              "links for each value of a list make more than \(ModelCheck.elementLimit) elements",
              at: link.text.location)
            return graph
          }
          add(link, scope, branch: branch)
          branch += 1
        }
      }
    }
    markOptionalElements()
    return graph
  }

  private func addNamedElements() {
    for (included, scope) in zip(file.units, scopes) {
      for element in included.unit.elements {
        addElement(element.specification, element.name.text, element.name.location, scope)
      }
    }
  }

  @discardableResult
  private func addElement(
    _ specification: ElementSpecification, _ name: String, _ location: SourceLocation,
    _ scope: ValueScope, isNamed: Bool = true
  ) -> Int {
    graph.elements.append(
      .init(
        name: name, type: text(specification.type, scope) ?? .unknown(specification.type.source),
        typeLocation: specification.type.location,
        properties: properties(specification.properties, scope), location: location,
        isNamed: isNamed))
    indexes[name] = graph.elements.count - 1
    return graph.elements.count - 1
  }

  /// Nil if the text is unset or an error was reported.
  private func text(_ text: InterpolatedText, _ scope: ValueScope) -> ResolvedGraph.Text? {
    switch scope.evaluate(text, reporter) {
    case .text(let value): return .known(value)
    case .unknown: return .unknown(text.source)
    case .list:
      reporter.error(
        "a list cannot stand here", at: text.location,
        help: "it can be the value of a property, or of another list")
      return nil
    case .unset, nil: return nil
    }
  }

  private func properties(
    _ assignments: [PropertyAssignment], _ scope: ValueScope
  ) -> [ResolvedGraph.Property] {
    assignments.compactMap { assignment in
      value(assignment.value, scope).map {
        .init(
          name: assignment.name.text, nameLocation: assignment.name.location, value: $0,
          location: assignment.value.location)
      }
    }
  }

  private func value(_ value: PropertyValue, _ scope: ValueScope) -> ResolvedGraph.Value? {
    switch value {
    case .text(let text):
      switch scope.evaluate(text, reporter) {
      case .text(let value): return .text(.known(value), text.location)
      case .list(let items): return .list(items.map { .text(.known($0), text.location) })
      case .unknown: return .text(.unknown(text.source), text.location)
      case .unset, nil: return nil
      }
    case .list(let items, _): return .list(items.compactMap { self.value($0, scope) })
    case .fields(let fields, _): return .fields(properties(fields, scope))
    }
  }

  // MARK: Links

  private enum Part {
    case element(ResolvedGraph.End, padCaps: ResolvedGraph.Text?)
    case filter(ResolvedGraph.Text, SourceLocation)
  }

  private func add(_ link: LinkDeclaration, _ scope: ValueScope, branch: Int) {
    var repetition = Repetition.once
    if case .named(let first)? = link.steps.first?.content { repetition = first.repetition }
    var previous: (end: ResolvedGraph.End, padCaps: ResolvedGraph.Text?)?
    var filter: (text: ResolvedGraph.Text, location: SourceLocation)?
    for part in link.steps.flatMap({ parts($0, scope, prefix: "") }) {
      switch part {
      case .filter(let text, let location): filter = (text, location)
      case .element(let end, let padCaps):
        if let previous {
          graph.links.append(
            .init(
              source: previous.end, sink: end, padCaps: previous.padCaps, filter: filter?.text,
              filterLocation: filter?.location, branch: branch, repetition: repetition,
              location: link.text.location))
        }
        previous = (end, padCaps)
        filter = nil
      }
    }
  }

  private func parts(_ step: LinkStep, _ scope: ValueScope, prefix: String) -> [Part] {
    func new(_ specification: ElementSpecification) -> [Part] {
      let name = freshName(prefix + (specification.type.literal ?? "element"))
      let element = addElement(specification, name, step.location, scope, isNamed: false)
      return [.element(.init(element: element, pad: nil, location: step.location), padCaps: nil)]
    }
    switch step.content {
    case .caps(let caps):
      return text(caps, scope).map { [.filter($0, step.location)] } ?? []
    case .element(let specification): return new(specification)
    case .named(let named):
      if case .template(let template, let unit) = names[named.name.text] {
        return parts(template, unit, named, scope, prefix: prefix)
      }
      if prefix.isEmpty, let element = indexes[named.name.text] {
        let caps = named.caps.flatMap { text(InterpolatedText($0, reporter), scope) }
        let end = ResolvedGraph.End(
          element: element, pad: named.pad?.text, location: step.location)
        return [.element(end, padCaps: caps)]
      }
      let arguments = named.arguments.map(ArgumentParser(reporter: reporter).arguments) ?? []
      return new(
        ElementSpecification(
          type: InterpolatedText(literal: named.name.text, at: named.name.location),
          properties: arguments.map { PropertyAssignment(name: $0.name, value: .text($0.value)) }))
    }
  }

  private func parts(
    _ template: Template, _ unit: Int, _ named: NamedStep, _ scope: ValueScope, prefix: String
  ) -> [Part] {
    let arguments = named.arguments.map(ArgumentParser(reporter: reporter).arguments) ?? []
    let given = values.given(arguments, in: scope, for: template.parameters)
    let inner = values.scope(template.parameters, given: given, enclosing: scopes[unit])
    let prefix = prefix + template.name.text + "-"
    return template.chain.flatMap { parts($0, inner, prefix: prefix) }
  }

  private func freshName(_ base: String) -> String {
    let base = Name.isValid(base) ? base : "element"
    while true {
      let number = counts[base, default: 0] + 1
      counts[base] = number
      let name = "\(base)-\(number)"
      if indexes[name] == nil { return name }
    }
  }

  /// Marks elements that only optional links lead to: they are created with one of those links,
  /// together with the links that begin at them.
  private func markOptionalElements() {
    var required = [Int](repeating: 0, count: graph.elements.count)
    var isTarget = [Bool](repeating: false, count: graph.elements.count)
    var following = [[Int]](repeating: [], count: graph.elements.count)
    for (index, link) in graph.links.enumerated() {
      isTarget[link.sink.element] = true
      guard !link.isOptional else { continue }
      required[link.sink.element] += 1
      following[link.source.element].append(index)
    }
    var found = graph.elements.indices.filter { isTarget[$0] && required[$0] == 0 }
    while let element = found.popLast() {
      graph.elements[element].isOptional = true
      for index in following[element] {
        let sink = graph.links[index].sink.element
        required[sink] -= 1
        if required[sink] == 0 { found.append(sink) }
      }
    }
  }
}
