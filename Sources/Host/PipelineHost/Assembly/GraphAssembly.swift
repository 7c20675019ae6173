// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// Creates the elements of a graph and links them one by one, so that each failure can be
/// attributed to a line of the file. Pads that appear while the pipeline runs are linked as they
/// appear.
final class GraphAssembly: Sendable {
  struct State {
    /// Elements by index in the graph; optional ones are created on demand.
    var elements: [Int: Element] = [:]
    /// Links whose source pad has not appeared yet.
    var waiting: [Int] = []
    /// Links after the first one of an optional branch that have been or are being made.
    var followed: Set<Int> = []
    /// Descriptions of the pads that appeared at each element, for messages.
    var offered: [Int: [(name: String, caps: Caps)]] = [:]
    var meters: [LinkMeter] = []
    /// First links of the tracks that were left out because of an error.
    var leftOut: Set<Int> = []
  }

  let graph: ResolvedGraph
  let pipeline: Pipeline
  let registry: InstalledElements
  /// The `location` of sinks that write to a different file than the pipeline file says, by
  /// element.
  private let locations: [Int: String]
  /// Whether sinks may replace what is there.
  private let overwrites: Bool
  /// Called with errors while the pipeline runs, from any thread.
  let report: @Sendable (Diagnostic) -> Void
  /// Called with warnings, from any thread.
  let warn: @Sendable (Diagnostic) -> Void
  let state = Locked(State())

  init(
    _ graph: ResolvedGraph, registry: InstalledElements, locations: [Int: String],
    overwrites: Bool = false, report: @escaping @Sendable (Diagnostic) -> Void,
    warn: @escaping @Sendable (Diagnostic) -> Void
  ) {
    self.graph = graph.repeating(Self.maximumPadCount)
    self.registry = registry
    self.locations = locations
    self.overwrites = overwrites
    self.report = report
    self.warn = warn
    pipeline = Pipeline()
  }

  /// Maximum number of pads for which a branch is created.
  private static let maximumPadCount = 32

  /// Builds everything but the optional branches.
  ///
  /// - Throws: all errors that occur.
  func build() throws(PipelineProblems) {
    var problems: [Diagnostic] = []
    func attempt(_ body: () throws(Mistake) -> Void) {
      do { try body() } catch { problems.append(error.diagnostic) }
    }
    for (index, element) in graph.elements.enumerated() where !element.isOptional {
      attempt { () throws(Mistake) in _ = try make(index) }
    }
    guard problems.isEmpty else { throw PipelineProblems(Diagnostics(problems)) }
    for (index, link) in graph.links.enumerated()
    where !continuesOptionalBranch(index) && !graph.elements[link.source.element].isOptional {
      attempt { () throws(Mistake) in try establish(index) }
    }
    guard problems.isEmpty else { throw PipelineProblems(Diagnostics(problems)) }
  }

  /// An error with its location in the file.
  struct Mistake: Error {
    let diagnostic: Diagnostic

    init(
      _ message: String, at location: SourceLocation?, help: String? = nil,
      notes: [Diagnostic.Note] = []
    ) {
      diagnostic = Diagnostic(.error, message, at: location, help: help, notes: notes)
    }
  }

  /// Whether the link belongs to an optional branch but is not its first; it is made with the first
  /// one.
  private func continuesOptionalBranch(_ index: Int) -> Bool {
    graph.links[index].isOptional && index > 0
      && graph.links[index - 1].branch == graph.links[index].branch
  }

  func startsOptionalBranch(_ index: Int) -> Bool {
    graph.links[index].isOptional && !continuesOptionalBranch(index)
  }

  /// Returns the links that are made together with the first one of an optional branch: the other
  /// links of the branch, those that begin at elements created for it, and so on. Links after a
  /// further optional branch wait for the pad of that branch.
  func links(after first: Int) -> [Int] {
    let branch = graph.links[first].branch
    var following: [Int: [Int]] = [:]
    for index in graph.links.indices {
      let link = graph.links[index]
      let isMadeTogether =
        continuesOptionalBranch(index)
        ? link.branch == branch : graph.elements[link.source.element].isOptional
      if isMadeTogether { following[link.source.element, default: []].append(index) }
    }
    var links: [Int] = []
    var next = [graph.links[first].sink.element]
    while let element = next.popLast() {
      let found = following.removeValue(forKey: element) ?? []
      links += found
      next += found.filter { !startsOptionalBranch($0) }.map { graph.links[$0].sink.element }
    }
    return links
  }

  func type(_ element: Int) -> ElementType? {
    registry.elementType(graph.elements[element].type.text)
  }

  /// Returns the element with this index, creating it if necessary.
  func make(_ index: Int) throws(Mistake) -> Element {
    if let element = state.withLock({ $0.elements[index] }) { return element }
    let description = graph.elements[index]
    let element: Element
    do {
      element = try Element(description.type.text, name: description.name)
      try pipeline.add(element)
    } catch {
      throw Mistake(
        "an element of type '\(description.type.text)' could not be created: \(error)",
        at: description.typeLocation)
    }
    let known = type(index)?.properties
    for property in description.properties {
      let text = property.name == "location" ? locations[index] : nil
      let described = known?.first { $0.name == property.name }
      do {
        try element.set(property.name, parsing: text ?? PropertyText.text(property, described))
      } catch {
        throw Mistake("\(description.title): \(error)", at: property.location)
      }
    }
    // Sinks of one file write to another one first; those of a folder know themselves.
    if overwrites, known?.contains(where: { $0.name == "overwrite" }) == true,
      !description.properties.contains(where: { $0.name == "overwrite" })
    {
      try? element.set("overwrite", parsing: "true")
    }
    for pad in element.pads { try configure(pad, of: index, asked: nil) }
    state.withLock { $0.elements[index] = element }
    watchPads(of: element, index)
    return element
  }

  /// Sets the properties that the file declares for a pad.
  ///
  /// - Parameter asked: the name by which a link requests the pad.
  func configure(_ pad: Pad, of element: Int, asked: String?) throws(Mistake) {
    let name = pad.name
    for declared in graph.pads
    where declared.element == element && (declared.name == name || declared.name == asked) {
      let template = type(element)?.padTemplates.first { $0.matches(name) }
      let known = template.flatMap { type(element)?.properties(ofPads: $0) }
      for property in declared.properties {
        let described = known?.first { $0.name == property.name }
        let text = PropertyText.text(property, described)
        if property.name == "offset", let offset = Int64(text) {
          pad.offset = offset
          continue
        }
        do {
          try pad.set(property.name, parsing: text)
        } catch {
          throw Mistake("the pad '\(name)': \(error)", at: property.location)
        }
      }
    }
  }

  private func watchPads(of element: Element, _ index: Int) {
    let appears = type(index)?.padTemplates.contains {
      $0.presence == .sometimes && $0.direction == .source
    }
    guard appears == true else { return }
    element.onPadAdded { [weak self] in self?.padAppeared($0, of: index) }
    element.onNoMorePads { [weak self] in self?.allPadsAppeared(of: index) }
  }

  /// Returns the element of the graph that a child of the pipeline is or belongs to.
  func location(ofChild name: String) -> (title: String, location: SourceLocation?)? {
    if let element = graph.elements.first(where: { $0.name == name }) {
      return (element.title, element.location)
    }
    guard let link = Self.link(ofFilter: name), graph.links.indices.contains(link) else {
      return nil
    }
    return ("the caps of this link", graph.links[link].filterLocation)
  }

  static func filterName(_ link: Int) -> String { "filter:\(link)" }

  private static func link(ofFilter name: String) -> Int? {
    name.hasPrefix("filter:") ? Int(name.dropFirst("filter:".count)) : nil
  }
}

extension ResolvedGraph.Element {
  /// The name and the type, for messages; only the type if the name is generated.
  var title: String { isNamed ? "'\(name)' (\(type.text))" : "'\(type.text)'" }
}

/// Ending of streams: at sinks, and at the muxers upstream of them.
extension GraphAssembly {
  /// Ends the stream at the muxer upstream of each sink, or at the sink if there is none, so that
  /// the output is finished with the data received so far.
  ///
  /// - Parameter onlyIdleInputs: whether to end only inputs that receive no data, so that
  ///   blocked data on other inputs is still processed. Otherwise blocked data is dropped.
  func endAtMuxers(onlyIdleInputs: Bool) {
    for index in graph.elements.indices where type(index)?.isSink == true {
      for pad in lastPads(before: index) where !(onlyIdleInputs && pad.isStreaming) {
        if !onlyIdleInputs { pad.dropBuffers() }
        sendEndOfStream(to: pad)
      }
    }
  }

  /// Ends the stream at the muxers, without the data that waits upstream of them and in encoders:
  /// encoding it may take minutes.
  func endImmediately() {
    discardPendingFrames()
    endAtMuxers(onlyIdleInputs: false)
  }

  /// Tells the encoders to discard what they have not encoded when the stream ends.
  func discardPendingFrames() {
    for element in encoders { element.set(Self.draining, "false") }
  }

  /// Whether encoders or muxers report their output as element messages.
  var reportsOutput: Bool { !encoders.isEmpty }

  /// The elements that can discard what they have not encoded; all of them report their progress.
  private var encoders: [Element] {
    state.withLock { $0.elements }.filter { index, _ in
      type(index)?.properties.contains { $0.name == Self.draining } ?? false
    }.map(\.value)
  }

  private static let draining = "drain-on-eos"

  /// Ends the stream downstream of each source that pushes, without the source's cooperation.
  func endAfterSources() {
    let made = state.withLock { $0.elements }
    for (index, element) in made
    where type(index)?.padTemplates.allSatisfy({ $0.direction == .source }) == true {
      for pad in element.pads where pad.mode == .push {
        guard let peer = pad.peer, !peer.isStreaming else { continue }
        sendEndOfStream(to: peer)
      }
    }
  }

  /// Keeps the pipeline until the event is through, which may be after the run has given up.
  func sendEndOfStream(to pad: Pad) {
    Blocking.start { [self] in
      pad.send(.endOfStream)
      withExtendedLifetime(self) {}
    }
  }

  /// Returns the element upstream of a sink that joins several streams, or the sink itself if there
  /// is none.
  private func joiningElement(before sink: Int) -> Int {
    var element = sink
    for _ in graph.elements.indices {
      let incoming = graph.links.filter { $0.sink.element == element }
      let takesMore = type(element)?.padTemplates.contains {
        $0.direction == .sink && $0.presence == .request
      }
      if takesMore == true || incoming.count > 1 { return element }
      guard let source = incoming.first?.source.element else { return sink }
      element = source
    }
    return sink
  }

  private func lastPads(before sink: Int) -> [Pad] {
    func pads(_ element: Int) -> [Pad] {
      let made = state.withLock { $0.elements[element] }
      return (made?.pads ?? []).filter { $0.direction == .sink && $0.isLinked }
    }
    let last = pads(joiningElement(before: sink))
    return last.isEmpty ? pads(sink) : last
  }

  /// Returns whether the sink, or the muxer upstream of it, has received any data.
  func hasRecorded(_ sink: Int) -> Bool {
    let joiningElement = joiningElement(before: sink)
    let meters = state.withLock { $0.meters }
    return meters.contains { meter in
      graph.links[meter.link].sink.element == joiningElement && meter.buffers > 0
    }
  }

  /// Returns an error if an output is finished but lacks required streams.
  ///
  /// - Parameters:
  ///   - output: path of the output.
  ///   - wasStopped: whether the run was stopped early; then one of the streams is enough.
  func missingDataError(_ sink: Int, output: String, wasStopped: Bool) -> Diagnostic? {
    let joiningElement = joiningElement(before: sink)
    let meters = state.withLock { $0.meters }
    func isEmpty(_ link: Int) -> Bool {
      !meters.contains { $0.link == link && $0.buffers > 0 }
    }
    let required = graph.links.indices.filter { link in
      graph.links[link].sink.element == joiningElement && !graph.isConditional(link)
        && (joiningElement == sink || carriesPictures(link))
    }
    let empty = required.filter(isEmpty)
    guard let first = empty.first, !wasStopped || empty.count == required.count else { return nil }
    let link = graph.links[first]
    return Diagnostic(
      .error, "'\(output)' has no playable content: no data reached '\(name(link.sink))'",
      at: link.location)
  }

  private func carriesPictures(_ index: Int) -> Bool {
    let end = graph.links[index].sink
    let templates = (type(end.element)?.padTemplates ?? []).filter { template in
      template.direction == .sink && (end.pad.map(template.matches) ?? true)
    }
    return templates.contains { $0.caps.hasPrefix("video/") || $0.caps.hasPrefix("image/") }
  }
}

/// Converts values of a pipeline file to GStreamer's property syntax.
enum PropertyText {
  /// Returns the value of a property in GStreamer's syntax.
  ///
  /// - Parameter description: the property's description, if known.
  static func text(
    _ property: ResolvedGraph.Property, _ description: PropertyDescription?
  ) -> String {
    let type = description?.type
    switch property.value {
    case .text(let text, _):
      if let number = description?.unit?.number(text.text), type?.isWhole == true { return number }
      if case .boolean = type { return boolean(text.text) }
      return text.text
    case .list(let items):
      if case .flags = type { return items.map(plain).joined(separator: "+") }
      return "<\(items.map(nested).joined(separator: ", "))>"
    case .fields(let fields): return structure(property.name, fields)
    }
  }

  /// GStreamer does not accept "on" and "off".
  private static func boolean(_ text: String) -> String {
    switch text.lowercased() {
    case "on", "yes", "1", "true": "true"
    default: "false"
    }
  }

  private static func structure(_ name: String, _ fields: [ResolvedGraph.Property]) -> String {
    ([name] + fields.map { "\($0.name)=\(nested($0.value))" }).joined(separator: ", ")
  }

  private static func plain(_ value: ResolvedGraph.Value) -> String {
    if case .text(let text, _) = value { text.text } else { nested(value) }
  }

  /// Returns a value nested in another one. GStreamer guesses the type of quoted text too.
  private static func nested(_ value: ResolvedGraph.Value) -> String {
    switch value {
    case .text(let text, _): quoted(text.text)
    case .list(let items): "<\(items.map(nested).joined(separator: ", "))>"
    case .fields(let fields): "(structure)\(quoted(structure("fields", fields) + ";"))"
    }
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for character in text {
      if character == "\"" || character == "\\" { result += "\\" }
      result.append(character)
    }
    return result + "\""
  }
}

extension PropertyType {
  fileprivate var isWhole: Bool {
    switch self {
    case .integer, .unsigned: true
    default: false
    }
  }
}
