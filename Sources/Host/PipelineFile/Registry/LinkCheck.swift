// SPDX-License-Identifier: MPL-2.0

/// Compares the links with the pad templates of both ends.
struct LinkCheck {
  let elements: RegistryCheck

  private var graph: ResolvedGraph { elements.graph }
  private var registry: any ElementRegistry { elements.registry }
  private var reporter: Reporter { elements.reporter }

  func check() {
    var used: [String: SourceLocation] = [:]
    var isFirst = true
    var branch: Int?
    for link in graph.links {
      isFirst = link.branch != branch
      branch = link.branch
      let caps = usableCaps(link)
      let sources = templates(link.source, .source)
      let sinks = templates(link.sink, .sink)
      use(link.source, sources, .source, &used)
      use(link.sink, sinks, .sink, &used)
      guard let sources, let sinks else { continue }
      if link.isOptional, isFirst, !graph.elements[link.source.element].isOptional,
        !sources.contains(where: { $0.presence == .sometimes })
      {
        reporter.warning(
          "'\(link.repetition.mark)' has no effect: '\(name(link.source))' always has this pad",
          at: link.source.location)
      }
      checkCaps(link, sources, sinks, caps)
    }
    if !reporter.hasErrors { warnOfLooseEnds() }
  }

  /// Warns of elements that receive data, but whose output leads nowhere.
  private func warnOfLooseEnds() {
    for (index, element) in graph.elements.enumerated() {
      guard let pads = elements.types[index]?.padTemplates.filter({ $0.direction == .source }),
        let pad = pads.first(where: { $0.presence == .always }),
        graph.links.contains(where: { $0.sink.element == index }),
        !graph.links.contains(where: { $0.source.element == index })
      else { continue }
      reporter.warning(
        "the output of \(element.title) leads nowhere", at: element.location,
        help: "link its pad '\(pad.name)' with a sink")
    }
  }

  private func name(_ end: ResolvedGraph.End) -> String { graph.elements[end.element].name }

  private func type(_ end: ResolvedGraph.End) -> String {
    graph.elements[end.element].title
  }

  /// Returns the templates that the end's pad can be of; nil if they are unknown or an error was
  /// reported.
  private func templates(
    _ end: ResolvedGraph.End, _ direction: PadDescription.Direction
  ) -> [PadDescription]? {
    guard let type = elements.types[end.element] else { return nil }
    let candidates = type.padTemplates.filter { $0.direction == direction }
    guard !candidates.isEmpty else {
      reporter.error(
        "\(self.type(end)) has no \(direction.rawValue) pads", at: end.location,
        help: direction == .sink
          ? "nothing can be linked to it" : "nothing can be linked from it")
      return nil
    }
    guard let pad = end.pad else { return candidates }
    let matching = candidates.filter { $0.matches(pad) }
    guard matching.isEmpty else { return matching }
    if type.padTemplates.contains(where: { $0.matches(pad) }) {
      reporter.error(
        "'\(name(end)).\(pad)' is a \(direction == .sink ? "source" : "sink") pad",
        at: end.location,
        help: direction == .sink
          ? "a link ends at a sink pad" : "a link begins at a source pad")
    } else {
      elements.reportUnknownPad(pad, of: end.element, matching: candidates, end.location)
    }
    return nil
  }

  /// Reports an always pad that is linked twice.
  private func use(
    _ end: ResolvedGraph.End, _ templates: [PadDescription]?, _ direction: PadDescription.Direction,
    _ used: inout [String: SourceLocation]
  ) {
    // Named pads have been checked in stage 2.
    guard let templates, templates.count == 1, templates[0].presence == .always else { return }
    let key = "\(end.element) \(direction) \(templates[0].name)"
    guard let first = used[key] else {
      used[key] = end.location
      return
    }
    guard first != end.location else { return }
    reporter.error(
      "the \(direction.rawValue) pad of \(type(end)) is linked already", at: end.location,
      help: direction == .source
        ? "use an element of type tee to send a stream to several links"
        : "an element of type funnel or a muxer takes several streams",
      notes: [.init(message: "it is linked here", location: first)])
  }

  private struct Caps {
    let pad: String?
    let filter: String?
  }

  /// Returns the valid caps of the link; reports errors in them.
  private func usableCaps(_ link: ResolvedGraph.Link) -> Caps {
    func usable(_ caps: ResolvedGraph.Text?, _ location: SourceLocation?) -> String? {
      guard let known = caps?.known else { return nil }
      guard let problem = registry.problem(inCaps: known) else { return known }
      reporter.error("'\(known)' is not valid caps: \(problem)", at: location)
      return nil
    }
    return Caps(
      pad: usable(link.padCaps, link.source.location),
      filter: usable(link.filter, link.filterLocation))
  }

  private func checkCaps(
    _ link: ResolvedGraph.Link, _ sources: [PadDescription], _ sinks: [PadDescription], _ caps: Caps
  ) {
    let offered = caps.pad.map { pad in
      sources.filter { registry.capsIntersect($0.caps, pad) }
    }
    if let offered, offered.isEmpty, let pad = caps.pad {
      reporter.error(
        "\(type(link.source)) never offers '\(pad)'", at: link.source.location,
        help: "it offers \(list(sources))")
      return
    }
    let sources = offered ?? sources
    if let filter = caps.filter {
      let isOffered = sources.contains { registry.capsIntersect($0.caps, filter) }
      let isTaken = sinks.contains { registry.capsIntersect(filter, $0.caps) }
      if !isOffered || !isTaken {
        reporter.error(
          isOffered
            ? "\(type(link.sink)) does not take '\(filter)'"
            : "\(type(link.source)) never offers '\(filter)'",
          at: link.filterLocation,
          help: isOffered
            ? unfit(filter, sinks) ?? converter(from: filter, to: sinks)
              ?? "it takes \(list(sinks))"
            : unfit(filter, sources) ?? converter(from: sources, to: filter)
              ?? "it offers \(list(sources))")
      } else {
        warnOfTypingMistakes(in: filter, at: link.filterLocation)
      }
      return
    }
    let fits = sources.contains { source in
      sinks.contains { sink in
        registry.capsIntersect(source.caps, sink.caps)
          && caps.pad.map { registry.capsIntersect($0, sink.caps) } ?? true
      }
    }
    guard !fits else { return }
    let given = caps.pad ?? list(sources)
    reporter.error(
      "\(type(link.source)) and \(type(link.sink)) do not fit: one offers \(given), "
        + "the other takes \(list(sinks))",
      at: link.sink.location,
      help: caps.pad.map { converter(from: $0, to: sinks) } ?? firstConverter(sources, sinks))
  }

  /// Names the only field that keeps caps from fitting; nil if there is none, or if an element in
  /// between can change it.
  private func unfit(_ caps: String, _ templates: [PadDescription]) -> String? {
    let fields = registry.withoutFields(caps).filter { field in
      templates.contains { registry.capsIntersect(field.rest, $0.caps) }
    }
    guard fields.count == 1, let field = fields.first?.field else { return nil }
    let converters = templates.compactMap { template in
      registry.converter(from: template.caps, to: caps)
        ?? registry.converter(from: caps, to: template.caps)
    }
    let isChangeable = converters.compactMap(registry.elementType).contains { type in
      type.padTemplates.contains { registry.capsIntersect($0.caps, caps) }
    }
    return isChangeable ? nil : "the value of '\(field)' does not fit"
  }

  private static let rawFields: [String: [String]] = [
    "video/x-raw": [
      "format", "width", "height", "framerate", "max-framerate", "pixel-aspect-ratio",
      "interlace-mode", "field-order", "colorimetry", "chroma-site", "multiview-mode",
      "multiview-flags", "views", "mastering-display-info", "content-light-level",
      "texture-target", "drm-format",
    ],
    "audio/x-raw": ["format", "layout", "rate", "channels", "channel-mask"],
  ]

  /// Warns of fields of raw caps that resemble others: such fields fit everything.
  private func warnOfTypingMistakes(in caps: String, at location: SourceLocation?) {
    guard let known = Self.rawFields.first(where: { caps.hasPrefix($0.key) })?.value else { return }
    for (field, _) in registry.withoutFields(caps) where !known.contains(field) {
      guard let help = reporter.didYouMean(field, among: known) else { continue }
      reporter.warning("raw caps have no field '\(field)'", at: location, help: help)
    }
  }

  private func list(_ templates: [PadDescription]) -> String {
    var caps: [String] = []
    for template in templates where !caps.contains(template.caps) { caps.append(template.caps) }
    let text = caps.joined(separator: "; ")
    return text.count > 200 ? text.prefix(200) + "…" : text
  }

  private func converter(from caps: String, to sinks: [PadDescription]) -> String? {
    sinks.lazy.compactMap { registry.converter(from: caps, to: $0.caps) }.first.map(between)
  }

  private func converter(from sources: [PadDescription], to caps: String) -> String? {
    sources.lazy.compactMap { registry.converter(from: $0.caps, to: caps) }.first.map(between)
  }

  private func firstConverter(_ sources: [PadDescription], _ sinks: [PadDescription]) -> String? {
    sources.lazy.compactMap { source in converter(from: source.caps, to: sinks) }.first
  }

  private func between(_ type: String) -> String {
    "an element of type \(type) usually goes in between"
  }
}
