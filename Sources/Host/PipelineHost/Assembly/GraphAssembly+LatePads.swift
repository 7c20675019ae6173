// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// Links that wait for pads which appear while the pipeline runs. All of this is called by
/// elements, in their streaming threads.
extension GraphAssembly {
  func padAppeared(_ pad: Pad, of element: Int) {
    guard pad.direction == .source else { return }
    let name = pad.name
    let caps = pad.currentCaps ?? pad.possibleCaps
    let candidates = state.withLock { state -> [Int] in
      state.offered[element, default: []].append("\(name): \(Self.short(caps))")
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
    let claimed = state.withLock { state -> Int? in
      guard let index = fitting.first(where: state.waiting.contains) else { return nil }
      state.waiting.removeAll { $0 == index }
      return index
    }
    guard let claimed else { return warnOfTrack(name, caps, of: element) }
    do {
      try configure(pad, of: element, asked: graph.links[claimed].source.pad)
      if startsOptionalBranch(claimed) { try makeBranch(behind: claimed) }
      try connect(pad, claimed)
    } catch {
      report(error.diagnostic)
    }
  }

  /// Tells of a track that no link takes, where the graph makes movies with sound.
  private func warnOfTrack(_ pad: String, _ caps: Caps, of element: Int) {
    // Both eyes and what they are made of are one track.
    guard !["left", "right", "video_0"].contains(pad), makesMoviesWithSound else { return }
    warn(
      Diagnostic(
        .warning, "the track '\(pad)' is left out: nothing takes \(caps.mediaType ?? "it")",
        at: graph.elements[element].location))
  }

  private var makesMoviesWithSound: Bool {
    graph.elements.indices.contains { index in
      type(index)?.padTemplates.contains {
        $0.direction == .sink && $0.presence == .request && $0.name.hasPrefix("audio_")
      } == true
    }
  }

  /// Makes what belongs to an optional branch, from the end to the beginning, so that nothing
  /// flows before there is a way for it.
  func makeBranch(behind first: Int) throws(Mistake) {
    let behind = links(behind: first)
    // Two branches may lead to one element.
    let links = state.withLock { state in
      behind.filter { state.followed.insert($0).inserted }
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

  /// The complaint of the first link that waits for an element which misses a plugin.
  ///
  /// - Parameter missing: what, by the names of elements.
  func complaint(ofMissing missing: [String: String]) -> Diagnostic? {
    for index in state.withLock({ $0.waiting }) where !graph.links[index].isOptional {
      let element = graph.elements[graph.links[index].source.element]
      guard let plugin = missing[element.name] else { continue }
      return Diagnostic(
        .error, "\(element.title): there is no \(plugin)", at: element.location,
        help: "'gst-inspect-1.0' lists what is installed; a package of GStreamer has it")
    }
    return nil
  }

  /// The complaint of the first link that waits in vain, once nothing more comes.
  ///
  /// - Parameter element: of which all pads have come; nil for any.
  func missingPad(of element: Int? = nil) -> Diagnostic? {
    let (waiting, offered) = state.withLock { ($0.waiting, $0.offered) }
    for index in waiting {
      let link = graph.links[index]
      guard !link.isOptional, element.map({ $0 == link.source.element }) ?? true else { continue }
      let name = graph.elements[link.source.element].name
      let pads = offered[link.source.element] ?? []
      return Diagnostic(
        .error, "the pad that line \(link.location.line) waits for never came",
        at: link.source.location,
        help: pads.isEmpty
          ? "'\(name)' offered no pads" : "'\(name)' offered \(pads.joined(separator: "; "))")
    }
    return nil
  }
}
