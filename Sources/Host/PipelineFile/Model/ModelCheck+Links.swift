// SPDX-License-Identifier: MPL-2.0

extension ModelCheck {
  /// Checks whether each step of a link is allowed in its position.
  func check(_ link: LinkDeclaration, scope: ParameterScope) {
    checkLists(link, scope)
    for (position, step) in link.steps.enumerated() {
      let place = Place(isFirst: position == 0, isLast: position == link.steps.count - 1)
      switch step.content {
      case .caps:
        checkCaps(step, after: position > 0 ? link.steps[position - 1] : nil, place)
      case .element: break
      case .named(let named):
        if named.repetition != .once, !place.isFirst {
          reporter.error(
            "'\(named.repetition.mark)' belongs to the first end of a link", at: step.location,
            help: "it makes the link only if that pad appears")
        }
        check(named, step, place, scope)
      }
    }
  }

  /// Checks a link that is made for each value of a list.
  private func checkLists(_ link: LinkDeclaration, _ scope: ParameterScope) {
    let lists = link.parameterNames.filter(scope.isList)
    guard let list = lists.first else { return }
    if lists.count > 1 {
      reporter.error(
        "a link can refer to one list, not to '\(list)' and '\(lists[1])'",
        at: link.text.location)
    }
    for case .named(let named) in link.steps.map(\.content) {
      guard case .element = names[named.name.text], let pad = named.pad, !pad.text.contains("%")
      else { continue }
      reporter.error(
        "'\(named.name.text).\(pad.text)' can be linked once, but this link is made for each "
          + "value of '\(list)'", at: pad.location,
        help: "name the template of its pads, as in \(named.name.text).sink_%u")
    }
  }

  struct Place {
    let isFirst: Bool
    let isLast: Bool
  }

  private func checkCaps(_ step: LinkStep, after previous: LinkStep?, _ place: Place) {
    if place.isFirst || place.isLast {
      reporter.error(
        "caps must be between two elements", at: step.location,
        help: "they restrict the buffers between them")
    } else if case .caps = previous?.content {
      reporter.error(
        "caps follow caps", at: step.location, help: "write them as one, separated by ','")
    }
  }

  private func check(
    _ named: NamedStep, _ step: LinkStep, _ place: Place, _ scope: ParameterScope
  ) {
    let name = named.name.text
    if let caps = named.caps { checkPadCaps(named, caps, place, scope) }
    switch names[name] {
    case .element:
      linked.insert(name)
      checkElementStep(named, step, place, scope)
    case .template(let template, _):
      checkTemplateUse(named, template, scope)
    case nil:
      checkNewElement(named, step, scope)
    }
    if named.repetition != .once, place.isFirst, !elementNames.contains(name) {
      reporter.error(
        "'\(named.repetition.mark)' must follow an element of the file, and '\(name)' is not one",
        at: step.location)
    }
  }

  private func checkElementStep(
    _ named: NamedStep, _ step: LinkStep, _ place: Place, _ scope: ParameterScope
  ) {
    let name = named.name.text
    if let pad = named.pad {
      if !place.isFirst, !place.isLast {
        reporter.error(
          "'\(name).\(pad.text)' could be either end here", at: step.location,
          help: "end the link at '\(name)' and begin another one there")
      } else if !pad.text.contains("%") {
        usePad("\(name).\(pad.text)", isSource: place.isFirst, step.location)
      }
    }
    guard let arguments = named.arguments else { return }
    reporter.error(
      "the properties of '\(name)' belong in 'elements:'", at: arguments.location,
      help: "write caps that choose one of its pads in brackets, as in \(name)[video/x-raw]")
  }

  /// Checks caps that select a pad of an element of the file.
  private func checkPadCaps(
    _ named: NamedStep, _ text: LocatedText, _ place: Place, _ scope: ParameterScope
  ) {
    let caps = InterpolatedText(text, reporter)
    scope.check(caps)
    let name = named.name.text
    guard elementNames.contains(name) else {
      if case .template? = names[name] {
        reporter.error("'\(name)' is a template, which has no pads to choose", at: text.location)
      }
      return
    }
    if let literal = caps.literal, !literal.contains("/") {
      reporter.error(
        "'\(literal)' is not valid caps", at: text.location,
        help: "caps begin with a media type, as in \(name)[video/x-raw]")
    } else if !place.isFirst, place.isLast {
      reporter.error(
        "caps in brackets choose a pad that a link begins at", at: text.location,
        help: "write '-> \(literal(caps)) -> \(name)' to restrict what arrives there")
    }
  }

  private func literal(_ caps: InterpolatedText) -> String { caps.literal ?? caps.source }

  private func usePad(_ pad: String, isSource: Bool, _ location: SourceLocation) {
    let key = (isSource ? ">" : "<") + pad
    guard let first = usedPads[key] else {
      usedPads[key] = location
      return
    }
    reporter.error(
      "the pad '\(pad)' is linked already", at: location,
      help: isSource ? "use an element of type tee to send a stream to several links" : nil,
      notes: [.init(message: "it is linked here", location: first)])
  }

  private func checkTemplateUse(_ named: NamedStep, _ template: Template, _ scope: ParameterScope) {
    let name = named.name.text
    usedTemplates.insert(name)
    if let pad = named.pad {
      reporter.error(
        "'\(name)' is a template, which has no pad '\(pad.text)'", at: pad.location)
    }
    let arguments = named.arguments.map(ArgumentParser(reporter: reporter).arguments) ?? []
    for argument in arguments { scope.check(argument.value) }
    checkArguments(
      arguments, against: template.parameters, of: "the template '\(name)'",
      at: named.name.location)
  }

  /// Checks a step that creates a new element.
  ///
  /// - Parameter isChain: whether the step is part of a template, which creates an element for each
  ///   use.
  private func checkNewElement(
    _ named: NamedStep, _ step: LinkStep, _ scope: ParameterScope, isChain: Bool = false
  ) {
    let name = named.name.text
    if named.pad != nil {
      reporter.error(
        "no element is named '\(name)'", at: named.name.location,
        help: reporter.didYouMean(name, among: elementNames)
          ?? "'elements:' names elements; a pad belongs to one of them")
      return
    }
    if let caps = named.caps {
      return reporter.error(
        "no element is named '\(name)'", at: named.name.location,
        help: reporter.didYouMean(name, among: elementNames)
          ?? "'[\(caps.text)]' chooses a pad of an element of the file")
    }
    guard let text = named.arguments else { return }
    for argument in ArgumentParser(reporter: reporter).arguments(text) {
      scope.check(argument.value)
      guard argument.name.text == "name" else { continue }
      let label = argument.value.source
      reporter.error(
        isChain
          ? "an element of a template cannot be named '\(label)'"
          : "an element with a name belongs in 'elements:'", at: argument.name.location,
        help: isChain
          ? "each use of the template makes another one; remove 'name='"
          : "write '\(label): { type: \(name) }' there, and '\(label)' here")
    }
  }

  /// Reports loops: data could never leave them.
  func checkLoops() {
    var indexes: [String: Int] = [:]
    var ways: [[Int: SourceLocation]] = []
    func index(_ name: String) -> Int {
      if let index = indexes[name] { return index }
      indexes[name] = ways.count
      ways.append([:])
      return ways.count - 1
    }
    for link in file.units.flatMap(\.unit.links) {
      var previous: Int?
      for step in link.steps {
        let name: String
        switch step.content {
        case .named(let named):
          guard let meaning = names[named.name.text] else { continue }
          if case .template = meaning { continue }
          name = named.name.text
        case .element, .caps: continue
        }
        let current = index(name)
        if let previous, ways[previous][current] == nil {
          ways[previous][current] = step.location
        }
        previous = current
      }
    }
    let namesByIndex = Dictionary(uniqueKeysWithValues: indexes.map { ($1, $0) })
    for cycle in DependencyOrder(ways.map { $0.keys.sorted() }).cycles {
      let circle = (cycle + [cycle[0]]).compactMap { namesByIndex[$0] }
      reporter.error(
        "the links form a loop: \(circle.joined(separator: " -> "))",
        at: ways[cycle[cycle.count - 1]][cycle[0]])
    }
  }
}

extension ModelCheck {
  /// Maximum nesting depth of templates.
  private static let nestingLimit = 16
  /// More elements than a process can run.
  static let elementLimit = 100_000

  /// Checks an item of a template's chain.
  func checkChainItem(
    _ step: LinkStep, isLast: Bool, in template: Template, _ scope: ParameterScope
  ) {
    switch step.content {
    case .caps, .element: break
    case .named(let named):
      let name = named.name.text
      if named.repetition != .once {
        reporter.error(
          "'\(named.repetition.mark)' belongs to the first end of a link", at: step.location)
      }
      switch names[name] {
      case .template(let inner, _): checkTemplateUse(named, inner, scope)
      case nil: checkNewElement(named, step, scope, isChain: true)
      // An element may have the name of its type: `queue: { type: queue }`.
      case .element(let element, _) where element.specification.type.literal == name:
        checkNewElement(named, step, scope, isChain: true)
      case .element:
        reporter.error(
          "a template cannot contain '\(name)', which exists only once", at: step.location,
          help: "a chain names types of elements, or templates")
      }
    }
  }

  /// Checks that templates do not use themselves and that their expansion is limited.
  func checkTemplateNesting() {
    let before = reporter.errorCount
    defer { canBeExpanded = reporter.errorCount == before }
    let templates = file.units.flatMap(\.unit.templates)
    let indexes = Dictionary(
      templates.enumerated().map { ($1.name.text, $0) }, uniquingKeysWith: { first, _ in first })
    let uses = templates.map { template in
      template.chain.compactMap { step -> Int? in
        if case .named(let named) = step.content { indexes[named.name.text] } else { nil }
      }
    }
    let order = DependencyOrder(uses)
    for cycle in order.cycles {
      let circle = (cycle + [cycle[0]]).map { templates[$0].name.text }
      reporter.error(
        "the template '\(circle[0])' uses itself: \(circle.joined(separator: " -> "))",
        at: templates[cycle[0]].name.location)
    }
    guard order.cycles.isEmpty else { return }
    var sizes = templates.map { _ in 0 }
    var depths = sizes
    for index in order.order {
      depths[index] = 1 + (uses[index].map { depths[$0] }.max() ?? 0)
      let inner = uses[index].reduce(0) { min(Self.elementLimit + 1, $0 + sizes[$1]) }
      sizes[index] = min(
        Self.elementLimit + 1, inner + templates[index].chain.count - uses[index].count)
      if depths[index] == Self.nestingLimit + 1 {
        reporter.error(
          "templates are nested more than \(Self.nestingLimit) levels deep",
          at: templates[index].name.location)
      }
    }
    var total = 0
    for link in file.units.flatMap(\.unit.links) {
      for case .named(let named) in link.steps.map(\.content) {
        guard let index = indexes[named.name.text] else { continue }
        total += sizes[index]
        guard total <= Self.elementLimit else {
          return reporter.error(
            "templates expand to more than \(Self.elementLimit) elements", at: link.text.location)
        }
      }
    }
  }
}
