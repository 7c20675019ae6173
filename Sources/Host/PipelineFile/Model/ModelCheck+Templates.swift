// SPDX-License-Identifier: MPL-2.0

extension ModelCheck {
  /// The depth to which templates may use each other.
  static let nestingLimit = 16
  /// More elements than a process can run.
  static let elementLimit = 100_000

  /// An item of a template's chain.
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
      // An element may bear the name of its type: `queue: { type: queue }`.
      case .element(let element, _) where element.specification.type.literal == name:
        checkNewElement(named, step, scope, isChain: true)
      case .element:
        reporter.error(
          "a template cannot pass through '\(name)', which exists once", at: step.location,
          help: "a chain names types of elements, or templates")
      }
    }
  }

  /// Templates must not use themselves, nor grow beyond measure by using each other.
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
          "templates use each other more than \(Self.nestingLimit) deep",
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
            "the templates make more than \(Self.elementLimit) elements", at: link.text.location)
        }
      }
    }
  }
}
