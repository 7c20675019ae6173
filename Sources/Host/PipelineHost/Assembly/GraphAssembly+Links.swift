// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// Links of pads that are there, or are made on request.
extension GraphAssembly {
  private enum SourcePad {
    case ready(Pad)
    /// It appears while the pipeline runs.
    case later
  }

  /// Makes a link, or notes that it waits for its source pad.
  func establish(_ index: Int) throws(Mistake) {
    switch try sourcePad(of: index) {
    case .ready(let pad):
      if startsOptionalBranch(index) { try makeBranch(behind: index) }
      try connect(pad, index)
    case .later: state.withLock { $0.waiting.append(index) }
    }
  }

  private func sourcePad(of index: Int) throws(Mistake) -> SourcePad {
    let link = graph.links[index]
    let element = try make(link.source.element)
    let templates = (type(link.source.element)?.padTemplates ?? []).filter {
      $0.direction == .source && (link.source.pad.map($0.matches) ?? true)
    }
    let wanted = wantedCaps(index)
    let fitting = element.pads.filter { pad in
      pad.direction == .source && !pad.isLinked
        && (link.source.pad.map { $0 == pad.name } ?? true)
    }
    if let pad = fitting.first(where: { wanted?.admits($0.possibleCaps) ?? true })
      ?? fitting.first
    {
      return .ready(pad)
    }
    if let template = templates.first(where: { $0.presence == .request }) {
      return .ready(try request(template, link.source, element))
    }
    guard templates.contains(where: { $0.presence == .sometimes }) else {
      throw Mistake(
        "\(graph.elements[link.source.element].title) has no free source pad",
        at: link.source.location)
    }
    return .later
  }

  /// What the link's source pad must be able to give; nil for anything.
  func wantedCaps(_ index: Int) -> PadChoice? {
    var index = index
    if let text = graph.links[index].padCaps?.text { return PadChoice(text) }
    // What queues and tees take is what the elements behind them take.
    for _ in graph.links.indices {
      let link = graph.links[index]
      if let text = link.filter?.text { return PadChoice(text) }
      guard passesAnything(link.sink.element),
        let next = graph.links.firstIndex(where: { $0.source.element == link.sink.element })
      else { break }
      index = next
    }
    let link = graph.links[index]
    let sinks = (type(link.sink.element)?.padTemplates ?? []).filter {
      $0.direction == .sink && (link.sink.pad.map($0.matches) ?? true)
    }
    let all = Caps.empty
    for sink in sinks { Caps(parsing: sink.caps).map(all.append) }
    return all.isEmpty || all.isAny ? nil : PadChoice(all)
  }

  /// Whether an element gives what it takes, whatever that is.
  private func passesAnything(_ element: Int) -> Bool {
    guard let templates = type(element)?.padTemplates,
      templates.filter({ $0.direction == .sink }).count == 1
    else { return false }
    return templates.contains { $0.direction == .source }
      && templates.allSatisfy { template in
        template.caps == "ANY" && template.presence != .sometimes
          && (template.direction == .source || template.presence == .always)
      }
  }

  private func request(
    _ template: FilePadTemplate, _ end: ResolvedGraph.End, _ element: Element
  ) throws(Mistake) -> Pad {
    guard let pad = element.requestPad(end.pad ?? template.name) else {
      throw Mistake(
        "\(graph.elements[end.element].title) gave no pad '\(end.pad ?? template.name)'",
        at: end.location)
    }
    try configure(pad, of: end.element, asked: end.pad)
    return pad
  }

  /// Links a source pad with the sink of a link, through the link's caps.
  func connect(_ source: Pad, _ index: Int) throws(Mistake) {
    let link = graph.links[index]
    state.withLock { $0.meters.append(LinkMeter(link: index, pad: source)) }
    guard let filter = link.filter else {
      return try join(source, try sinkPad(of: link, for: source.possibleCaps), link)
    }
    let element: Element
    do {
      element = try Element("capsfilter", name: Self.filterName(index))
      try element.set("caps", parsing: filter.text)
      try pipeline.add(element)
    } catch {
      throw Mistake("the caps cannot be asked for: \(error)", at: link.filterLocation)
    }
    let caps = Caps(parsing: filter.text) ?? .any
    guard let input = element.staticPad("sink"), let output = element.staticPad("src") else {
      throw Mistake("a capsfilter has no pads", at: link.filterLocation)
    }
    try join(output, try sinkPad(of: link, for: caps), link)
    element.followParentState()
    try join(source, input, link)
  }

  private func join(_ source: Pad, _ sink: Pad, _ link: ResolvedGraph.Link) throws(Mistake) {
    do {
      try source.link(to: sink)
    } catch {
      let ends = "'\(name(link.source))' and '\(name(link.sink))' cannot be linked"
      switch error {
      case .noFormat:
        throw Mistake(
          "\(ends): one gives \(Self.short(source.possibleCaps)), the other takes "
            + Self.short(sink.possibleCaps),
          at: link.sink.location)
      case .wasLinked: throw Mistake("\(ends): a pad is linked already", at: link.sink.location)
      case .refused(let reason): throw Mistake("\(ends): \(reason)", at: link.sink.location)
      }
    }
  }

  private func sinkPad(of link: ResolvedGraph.Link, for caps: Caps) throws(Mistake) -> Pad {
    let element = try make(link.sink.element)
    let fitting = element.pads.filter { pad in
      pad.direction == .sink && !pad.isLinked
        && (link.sink.pad.map { $0 == pad.name } ?? true)
    }
    if let pad = fitting.first(where: { caps.canIntersect($0.possibleCaps) }) ?? fitting.first {
      return pad
    }
    let templates = (type(link.sink.element)?.padTemplates ?? []).filter {
      $0.direction == .sink && $0.presence == .request && (link.sink.pad.map($0.matches) ?? true)
    }
    let match =
      templates.first { Caps(parsing: $0.caps)?.canIntersect(caps) ?? false } ?? templates.first
    guard let match else {
      throw Mistake(
        "\(graph.elements[link.sink.element].title) has no free sink pad", at: link.sink.location)
    }
    return try request(match, link.sink, element)
  }

  func name(_ end: ResolvedGraph.End) -> String {
    graph.elements[end.element].name + (end.pad.map { "." + $0 } ?? "")
  }

  /// Caps for messages: neither the hundred formats of a template nor a decoder's data.
  static func short(_ caps: Caps) -> String {
    let text = caps.with(removing: ["codec_data", "streamheader"]).description
    return text.count > 160 ? text.prefix(160) + "…" : text
  }
}
