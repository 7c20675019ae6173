// SPDX-License-Identifier: MPL-2.0

/// Builds the model of one file from its YAML. Parts that do not have the right form have been
/// reported by `ShapeCheck` and are skipped.
struct UnitReader {
  let file: SourceFile
  let reporter: Reporter

  /// Performs stage 1 and the part of stage 2 that needs no other file; nil if the YAML is
  /// malformed.
  func read() -> PipelineUnit? {
    var yaml = YAMLReader(file: file, reporter: reporter)
    guard let root = yaml.read() else { return nil }
    ShapeCheck(reporter: reporter).check(root, Shape.pipelineFile, "the file")
    var unit = PipelineUnit(file: file)
    unit.description = root["description"]?.text?.text
    unit.parameters = ParameterReader(reporter: reporter).parameters(root["parameters"])
    unit.includes = root["include"]?.sequence?.compactMap(include) ?? []
    for entry in root["elements"]?.mapping ?? [] {
      readElement(entry, into: &unit)
    }
    unit.templates = root["templates"]?.mapping?.compactMap(template) ?? []
    let parser = LinkParser(reporter: reporter)
    unit.links = root["links"]?.sequence?.compactMap { $0.text.map(parser.link) } ?? []
    unit.run = root["run"].map(run)
    return unit
  }

  private func include(_ node: YAMLNode) -> Include? {
    if let text = node.text { return Include(file: text, arguments: [], inherits: nil) }
    guard let file = node["file"]?.text else { return nil }
    let arguments = node["with"]?.mapping?.compactMap { entry -> Argument? in
      entry.value.text.map {
        Argument(name: entry.key, value: InterpolatedText($0, reporter))
      }
    }
    return Include(
      file: file, arguments: arguments ?? [], inherits: node["inherit"]?.text?.location)
  }

  private func readElement(_ entry: YAMLNode.Entry, into unit: inout PipelineUnit) {
    let name = entry.key.text
    if let dot = name.firstIndex(of: ".") {
      let element = LocatedText(text: String(name[..<dot]), location: entry.key.location)
      let pad = String(name[name.index(after: dot)...])
      guard Name.isValid(element.text), Name.isValidPad(pad) else {
        reporter.error(
          "'\(name)' is not the name of a pad", at: entry.key.location,
          help: "write 'element.pad', as in 'mux.audio_0'")
        return
      }
      guard case .mapping(let entries) = entry.value.content else { return }
      unit.pads.append(
        PadDeclaration(
          element: element, pad: pad, location: entry.key.location,
          properties: entries.compactMap(assignment)))
      return
    }
    checkName(entry.key, of: "an element")
    let specification =
      specification(entry.value)
      ?? ElementSpecification(
        type: InterpolatedText(literal: "", at: entry.value.location), properties: [])
    unit.elements.append(ElementDeclaration(name: entry.key, specification: specification))
  }

  /// Nil if the type is missing or invalid, which has been reported.
  private func specification(_ node: YAMLNode) -> ElementSpecification? {
    guard let type = node.text ?? node["type"]?.text else { return nil }
    let interpolated = InterpolatedText(type, reporter)
    if let literal = interpolated.literal, !Name.isValidType(literal) {
      reporter.error(
        "'\(literal)' is not the type of an element", at: type.location,
        help: literal.contains("!")
          ? "an element has one type; 'links:' links it, with '->'"
          : literal.contains(" ")
            ? "properties are fields of the element, as in { type: queue, leaky: no }"
            : "'gst-inspect-1.0' lists the types")
      return nil
    }
    let entries = (node.mapping ?? []).filter { $0.key.text != "type" }
    for entry in entries where entry.key.text == "name" {
      reporter.error(
        "an element is named by its key in 'elements:'", at: entry.key.location,
        help: "remove 'name'")
    }
    return ElementSpecification(
      type: interpolated,
      properties: entries.filter { $0.key.text != "name" }.compactMap(assignment))
  }

  private func assignment(_ entry: YAMLNode.Entry) -> PropertyAssignment? {
    value(entry.value).map { PropertyAssignment(name: entry.key, value: $0) }
  }

  private func value(_ node: YAMLNode) -> PropertyValue? {
    switch node.content {
    case .scalar: node.text.map { .text(InterpolatedText($0, reporter)) }
    case .sequence(let items): .list(items.compactMap(value), node.location)
    case .mapping(let entries): .fields(entries.compactMap(assignment), node.location)
    }
  }

  private func template(_ entry: YAMLNode.Entry) -> Template? {
    checkName(entry.key, of: "a template")
    let parser = LinkParser(reporter: reporter)
    let items = entry.value["chain"]?.sequence
    let chain = items?.compactMap { item -> LinkStep? in
      if let text = item.text { return parser.chainItem(text) }
      guard item.mapping != nil, let specification = specification(item) else { return nil }
      return LinkStep(content: .element(specification), location: item.location)
    }
    if let items, items.isEmpty {
      reporter.error("the chain is empty", at: entry.value["chain"]?.location)
    }
    return Template(
      name: entry.key,
      parameters: ParameterReader(reporter: reporter).parameters(entry.value["parameters"]),
      chain: chain ?? [])
  }

  private func run(_ node: YAMLNode) -> RunSettings {
    var settings = RunSettings()
    if let text = node["on-error"]?.text, let onError = RunSettings.OnError(rawValue: text.text) {
      settings.onError = onError
    }
    if let count = node["restarts"]?.text.flatMap({ UInt16($0.text) }) {
      settings.restarts = Int(count)
    }
    if let text = node["watchdog"]?.text, let time = Quantity.nanoseconds(text.text) {
      if time == 0 {
        reporter.error(
          "'watchdog' must be more than 0", at: text.location, help: "leave it out for no limit")
      } else {
        settings.watchdog = time
      }
    }
    return settings
  }

  private func checkName(_ name: LocatedText, of what: String) {
    guard !Name.isValid(name.text) else { return }
    reporter.error(
      "'\(name.text)' cannot be the name of \(what)", at: name.location,
      help: "a name is made of letters, digits, '_' and '-', and does not begin with a digit")
  }
}
