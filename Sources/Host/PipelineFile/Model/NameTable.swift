// SPDX-License-Identifier: MPL-2.0

/// What the names of a pipeline file stand for. All files that make it up share one table.
struct NameTable {
  enum Meaning {
    case element(ElementDeclaration, unit: Int)
    case template(Template, unit: Int)
  }

  private(set) var meanings: [String: (meaning: Meaning, location: SourceLocation)] = [:]

  /// Reports names that stand twice; the first keeps its meaning.
  init(_ units: [IncludedUnit], _ reporter: Reporter) {
    for (index, included) in units.enumerated() {
      for element in included.unit.elements {
        add(element.name, .element(element, unit: index), reporter)
      }
      for template in included.unit.templates {
        add(template.name, .template(template, unit: index), reporter)
      }
    }
  }

  private mutating func add(_ name: LocatedText, _ meaning: Meaning, _ reporter: Reporter) {
    guard let first = meanings[name.text] else {
      meanings[name.text] = (meaning, name.location)
      return
    }
    // Within one mapping, YAML has reported it.
    let isSameFile = first.location.file === name.location.file
    switch (first.meaning, meaning) {
    case (.element, .element) where isSameFile, (.template, .template) where isSameFile: return
    default: break
    }
    reporter.error(
      "the name '\(name.text)' is taken", at: name.location,
      notes: [.init(message: "it is given here first", location: first.location)])
  }

  subscript(name: String) -> Meaning? { meanings[name]?.meaning }

  var elementNames: [String] {
    meanings.compactMap { name, entry in
      if case .template = entry.meaning { nil } else { name }
    }
  }
}
