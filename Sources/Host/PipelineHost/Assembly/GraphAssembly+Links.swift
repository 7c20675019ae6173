// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// Links of pads that exist or are requested.
extension GraphAssembly {
  private enum SourcePad {
    case ready(Pad)
    /// Appears while the pipeline runs.
    case later
  }

  /// Makes a link, or records that it waits for its source pad.
  func establish(_ index: Int) throws(Mistake) {
    switch try sourcePad(of: index) {
    case .ready(let pad):
      if startsOptionalBranch(index) { try makeBranch(after: index) }
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

  /// Returns the formats that the link's source pad must support; nil for any.
  private func wantedCaps(_ index: Int) -> PadFilter? {
    if let text = graph.links[index].padCaps?.text { return PadFilter(text) }
    let link = graph.links[reader(of: index)]
    if let text = link.filter?.text { return PadFilter(text) }
    let sinks = (type(link.sink.element)?.padTemplates ?? []).filter {
      $0.direction == .sink && (link.sink.pad.map($0.matches) ?? true)
    }
    let all = Caps.empty
    for sink in sinks { Caps(parsing: sink.caps).map(all.append) }
    return all.isEmpty || all.isAny ? nil : PadFilter(all)
  }

  /// Returns the link, from a link on, by which data reach an element that depends on their format:
  /// queues and tees accept whatever the elements downstream of them accept.
  private func reader(of first: Int) -> Int {
    var index = first
    for _ in graph.links.indices {
      let link = graph.links[index]
      guard link.filter == nil, passesAnyFormat(link.sink.element),
        let next = graph.links.firstIndex(where: { $0.source.element == link.sink.element })
      else { break }
      index = next
    }
    return index
  }

  /// Whether data of a format can be decoded where an optional link leads to `decodebin`. It would
  /// end the whole run with an error if there is no decoder.
  private func canDecode(_ caps: Caps, after index: Int) -> Bool {
    guard graph.links[index].isOptional,
      ["decodebin", "decodebin3"].contains(
        graph.elements[graph.links[reader(of: index)].sink.element].type.text)
    else { return true }
    return ElementFactory.hasDecoder(for: caps)
  }

  /// Whether an element such as a queue passes any format through unchanged.
  private func passesAnyFormat(_ element: Int) -> Bool {
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
    _ template: PadDescription, _ end: ResolvedGraph.End, _ element: Element
  ) throws(Mistake) -> Pad {
    guard let pad = element.requestPad(end.pad ?? template.name) else {
      throw Mistake(
        "\(graph.elements[end.element].title) did not provide pad '\(end.pad ?? template.name)'",
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
      throw Mistake("the caps filter cannot be created: \(error)", at: link.filterLocation)
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
          "\(ends): one offers \(Self.short(source.possibleCaps)), the other takes "
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

  /// Returns caps for messages, shortened and without a decoder's data.
  static func short(_ caps: Caps) -> String {
    let text = caps.with(removing: ["codec_data", "streamheader"]).description
    return text.count > 160 ? text.prefix(160) + "…" : text
  }
}

/// Links that wait for pads that appear while the pipeline runs. These functions are called from
/// streaming threads.
extension GraphAssembly {
  func padAppeared(_ pad: Pad, of element: Int) {
    guard pad.direction == .source else { return }
    let name = pad.name
    let caps = pad.currentCaps ?? pad.possibleCaps
    let candidates = state.withLock { state -> [Int] in
      state.offered[element, default: []].append((name, caps))
      return state.waiting
    }
    let fitting = candidates.filter { index in
      let link = graph.links[index]
      guard link.source.element == element else { return false }
      if let asked = link.source.pad {
        guard asked == name || asked == pad.templateName else { return false }
      }
      return wantedCaps(index)?.admits(caps) ?? true
    }
    let usable = fitting.filter { canDecode(caps, after: $0) }
    let claimed = state.withLock { state -> Int? in
      guard let index = usable.first(where: state.waiting.contains) else { return nil }
      state.waiting.removeAll { $0 == index }
      return index
    }
    guard let claimed else {
      let reason = fitting.isEmpty ? "no link takes" : "there is no decoder for"
      return warnOfTrack(pad, caps, "\(reason) \(Self.format(of: caps))", of: element)
    }
    do {
      try configure(pad, of: element, asked: graph.links[claimed].source.pad)
      if startsOptionalBranch(claimed) { try makeBranch(after: claimed) }
      try connect(pad, claimed)
    } catch {
      report(error.diagnostic)
    }
  }

  /// Leaves out a track of a movie if an element of its optional branch has failed before any data
  /// came through, such as a decoder that refuses the stream: the branch drops its data, and ends
  /// where it joins other streams.
  ///
  /// - Returns: whether the element belongs to such a branch; otherwise its error ends the run.
  func leaveOutTrack(of child: String, _ failure: PipelineFailure) -> Bool {
    guard makesMoviesWithAudio,
      let failed = graph.elements.firstIndex(where: { $0.name == child && $0.isOptional }),
      let branch = graph.links.indices.lazy.filter(startsOptionalBranch)
        .map({ [$0] + self.links(after: $0) })
        .first(where: { $0.contains { self.graph.links[$0].sink.element == failed } })
    else { return false }
    let (meters, isKnown) = state.withLock { ($0.meters, $0.leftOut.contains(branch[0])) }
    guard !isKnown else { return true }
    let ends = branch.filter { !graph.elements[graph.links[$0].sink.element].isOptional }
    let joints = meters.filter { ends.contains($0.link) }
    guard let pad = meters.first(where: { $0.link == branch[0] })?.pad,
      joints.allSatisfy({ $0.buffers == 0 })
    else { return false }
    state.withLock { _ = $0.leftOut.insert(branch[0]) }
    pad.dropBuffers()
    for joint in joints { joint.pad.peer.map(sendEndOfStream) }
    // Of decodebin's inner elements, the user knows none.
    let isDecoder = graph.elements[failed].type.text.hasPrefix("decodebin")
    warnOfTrack(
      pad, pad.currentCaps ?? pad.possibleCaps,
      isDecoder ? "it cannot be decoded" : "\(graph.elements[failed].title): \(failure.message)",
      of: graph.links[branch[0]].source.element)
    return true
  }

  /// Warns about a track that is left out, if the graph creates movies with audio.
  private func warnOfTrack(_ pad: Pad, _ caps: Caps, _ reason: String, of element: Int) {
    // Both eyes and the stream that they come from are one track.
    guard !["left", "right", "video_0"].contains(pad.name), makesMoviesWithAudio else { return }
    let kind = Self.kind(of: caps)
    let offered = state.withLock { $0.offered[element] ?? [] }
    let number = offered.filter { Self.kind(of: $0.caps) == kind }.firstIndex {
      $0.name == pad.name
    }
    warn(
      Diagnostic(
        .warning,
        "\(Self.title(of: pad, caps, kind, number: (number ?? 0) + 1)) is left out: \(reason) "
          + "(pad '\(pad.name)')",
        at: graph.elements[element].location))
  }

  /// Returns a track in the words of viewers: "the subtitle track 2 (PGS subtitles, German)".
  private static func title(of pad: Pad, _ caps: Caps, _ kind: String, number: Int) -> String {
    let language = pad.tags?.string(Tag.languageCode).flatMap(TagList.languageName)
    let facts = [coding(of: caps), language].compactMap(\.self)
    return "the \(kind)track \(number)"
      + (facts.isEmpty ? "" : " (\(facts.joined(separator: ", ")))")
  }

  /// Returns the kind of a track, with a space after it; empty if it is not known.
  private static func kind(of caps: Caps) -> String {
    let type = caps.mediaType ?? ""
    // Texts of a movie that travel as they are.
    let texts = ["fourcc-tx3g", "fourcc-text", "fourcc-wvtt", "fourcc-stpp", "fourcc-sbtl"]
    if texts.contains(where: type.hasSuffix) { return "text " }
    let kinds = [
      "audio/": "audio ", "video/": "video ", "image/": "picture ", "subpicture/": "subtitle ",
      "text/": "subtitle ", "application/x-ssa": "subtitle ", "application/x-ass": "subtitle ",
      "application/x-subtitle": "subtitle ", "application/x-usf": "subtitle ",
      "meta/": "metadata ",
    ]
    return kinds.first { type.hasPrefix($0.key) }?.value ?? ""
  }

  /// Returns the name of a coding, such as "H.264 (High Profile)"; nil if GStreamer has none.
  private static func coding(of caps: Caps) -> String? {
    caps.codecDescription == caps.mediaType ? nil : caps.codecDescription
  }

  /// Returns the coding of a stream in words, or its media type.
  private static func description(of caps: Caps) -> String {
    let format = caps.first?.string("stream-format")
    return (coding(of: caps) ?? Self.format(of: caps)) + (format.map { ", '\($0)'" } ?? "")
  }

  /// Returns the format that caps describe, for a message; with the container's own name for it if
  /// GStreamer has none.
  private static func format(of caps: Caps) -> String {
    let name = caps.mediaType ?? "it"
    return caps.first?.string("codec-id").map { "\(name) (\($0))" } ?? name
  }

  private var makesMoviesWithAudio: Bool {
    !graph.leavesTracksOut
      && graph.elements.indices.contains { index in
        type(index)?.padTemplates.contains {
          $0.direction == .sink && $0.presence == .request && $0.name.hasPrefix("audio_")
        } == true
      }
  }

  /// Creates an optional branch, from its end to its beginning, so that no data flows before the
  /// branch is complete.
  private func makeBranch(after first: Int) throws(Mistake) {
    let downstream = links(after: first)
    // Two branches may lead to the same element.
    let links = state.withLock { state in
      downstream.filter { state.followed.insert($0).inserted }
    }
    let made = ([first] + links.filter { !startsOptionalBranch($0) }).map {
      graph.links[$0].sink.element
    }
    for element in made { _ = try make(element) }
    for index in links.reversed() { try establish(index) }
    for element in made.reversed() where graph.elements[element].isOptional {
      try make(element).followParentState()
    }
  }

  func allPadsAppeared(of element: Int) {
    if let missing = missingPad(of: element) { report(missing) }
  }

  /// Returns an error for the first link that waits for an element with a missing plugin.
  ///
  /// - Parameter missing: descriptions of the missing plugins, by element name.
  func complaint(ofMissing missing: [String: String]) -> Diagnostic? {
    for index in state.withLock({ $0.waiting }) where !graph.links[index].isOptional {
      let element = graph.elements[graph.links[index].source.element]
      guard let plugin = missing[element.name] else { continue }
      return Diagnostic(
        .error, "\(element.title): there is no \(plugin)", at: element.location,
        help: "install a GStreamer package with it; 'gst-inspect-1.0' lists what is installed")
    }
    return nil
  }

  /// Returns an error for the first link whose pad can no longer appear.
  ///
  /// - Parameter element: the element that has no more pads to add; nil for all elements.
  func missingPad(of element: Int? = nil) -> Diagnostic? {
    let (waiting, offered) = state.withLock { ($0.waiting, $0.offered) }
    for index in waiting {
      let link = graph.links[index]
      guard !link.isOptional, element.map({ $0 == link.source.element }) ?? true else { continue }
      let name = graph.elements[link.source.element].name
      let pads = offered[link.source.element] ?? []
      guard !pads.isEmpty else {
        return Diagnostic(
          .error, "'\(name)' found no streams", at: link.source.location,
          help: "a link waits for its pad '\(link.source.pad ?? "")'")
      }
      let formats = pads.map { "\(Self.description(of: $0.caps)) (\($0.name))" }
      let found = pads.map { "\($0.name): \(Self.short($0.caps))" }.joined(separator: "; ")
      return Diagnostic(
        .error,
        "no stream fits: '\(name)' found \(formats.joined(separator: ", "))",
        at: link.source.location,
        help: (link.padCaps.map { "the link takes \($0.text), not " } ?? "") + found)
    }
    return nil
  }
}
