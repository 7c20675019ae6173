// SPDX-License-Identifier: MPL-2.0

/// Compares a file with the allowed form. Parts that do not match are reported here and skipped by
/// the readers of the model.
struct ShapeCheck {
  let reporter: Reporter

  /// Checks a node. `what` names it in messages: "'links'", "element 'mux'".
  func check(_ node: YAMLNode, _ shape: Shape, what: String) {
    switch shape {
    case .text(let form):
      guard expectText(node, what) else { return }
      check(node, form, what)
    case .list(let item):
      guard case .sequence(let items) = node.content else {
        return wrongKind(
          node, "a list", what, help: "write each item on a line that begins with '- '")
      }
      for (index, node) in items.enumerated() {
        check(node, item, what: "item \(index + 1) of \(what)")
      }
    case .map(let keys, let value, let pads):
      guard case .mapping(let entries) = node.content else {
        return wrongKind(node, "a mapping of \(keys)", what, help: "write 'name: …' for each")
      }
      for entry in entries {
        let shape = entry.key.text.contains(".") ? pads ?? value : value
        check(entry.value, shape, what: "'\(entry.key.text)'")
      }
    case .object(let object):
      check(node, object, what)
    case .property:
      checkProperty(node, what)
    case .either(let one, let other):
      check(node, node.fits(one) ? one : other, what: what)
    }
  }

  func check(_ node: YAMLNode, _ object: ObjectShape, _ what: String) {
    guard case .mapping(let entries) = node.content else {
      return wrongKind(node, "a mapping", what, help: nil)
    }
    for entry in entries {
      let name = entry.key.text
      if let key = object.keys.first(where: { $0.name == name }) {
        check(entry.value, key.shape, what: "'\(name)'")
      } else if let others = object.others {
        check(entry.value, others, what: "'\(name)'")
      } else {
        let names = object.keys.map(\.name)
        reporter.error(
          "\(object.what) has no key '\(name)'", at: entry.key.location,
          help: reporter.didYouMean(name, among: names)
            ?? "its keys are \(names.joined(separator: ", "))")
      }
    }
    for key in object.keys where key.isRequired && node[key.name] == nil {
      // A misspelled key was reported already.
      let isMistyped = entries.contains { entry in
        !object.keys.contains { $0.name == entry.key.text }
          && Suggestion.closest(to: entry.key.text, among: [key.name]) != nil
      }
      guard !isMistyped || object.others != nil else { continue }
      reporter.error(
        "\(what) has no '\(key.name)'", at: node.location,
        help: isMistyped ? "is one of its keys meant to be '\(key.name)'?" : nil)
    }
  }

  private func checkProperty(_ node: YAMLNode, _ what: String) {
    switch node.content {
    case .scalar: _ = expectText(node, what)
    case .sequence(let items):
      for (index, item) in items.enumerated() {
        checkProperty(item, "item \(index + 1) of \(what)")
      }
    case .mapping(let entries):
      for entry in entries { checkProperty(entry.value, "'\(entry.key.text)'") }
    }
  }

  private func expectText(_ node: YAMLNode, _ what: String) -> Bool {
    if node.isNull {
      // "{ caps: video/x-raw,format=NV12 }" has a key "format=NV12".
      reporter.error(
        "\(what) has no value", at: node.location,
        help: what.contains("=") ? "quote a value that contains a comma" : nil)
      return false
    }
    guard node.text != nil else {
      wrongKind(node, "a single value", what, help: nil)
      return false
    }
    return true
  }

  private func wrongKind(_ node: YAMLNode, _ expected: String, _ what: String, help: String?) {
    reporter.error("\(what) must be \(expected), not \(node.kind)", at: node.location, help: help)
  }

  private func check(_ node: YAMLNode, _ form: Shape.TextForm, _ what: String) {
    guard let text = node.text else { return }
    let value = text.text
    switch form {
    case .any: break
    case .boolean:
      guard Quantity.boolean(value) == nil else { return }
      reporter.error("\(what) must be true or false, not '\(value)'", at: text.location)
    case .choice(let choices):
      guard !choices.contains(value) else { return }
      reporter.error(
        "\(what) cannot be '\(value)'", at: text.location,
        help: choices.count == 1
          ? "it can only be '\(choices[0])'"
          : reporter.didYouMean(value, among: choices)
            ?? "it is one of \(choices.joined(separator: ", "))")
    case .count:
      guard UInt16(value) == nil else { return }
      reporter.error(
        "\(what) must be a whole number from 0 to \(UInt16.max), not '\(value)'",
        at: text.location)
    case .duration:
      guard Quantity.nanoseconds(value) == nil else { return }
      reporter.error(
        "\(what) must be \(ParameterType.duration.expectation), not '\(value)'",
        at: text.location)
    }
  }
}

extension YAMLNode {
  /// Whether the node is of the kind (single value, list, mapping) that the shape requires.
  fileprivate func fits(_ shape: Shape) -> Bool {
    switch (shape, content) {
    case (.text, .scalar), (.list, .sequence), (.map, .mapping), (.object, .mapping): true
    case (.property, _): true
    case (.either(let one, let other), _): fits(one) || fits(other)
    default: false
    }
  }
}
