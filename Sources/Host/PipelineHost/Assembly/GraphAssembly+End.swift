// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import PipelineFile

/// Where a stream ends: at a sink, and at the muxer before it.
extension GraphAssembly {
  /// Ends the stream at the muxer in front of each sink, or at the sink where there is none, so
  /// that what has come so far is finished.
  ///
  /// - Parameter onlyWhereNothingComes: what is held up before other inputs comes first. Otherwise
  ///   it is lost.
  func endAtMuxers(onlyWhereNothingComes: Bool) {
    for index in graph.elements.indices where type(index)?.isSink == true {
      for pad in lastPads(before: index) where !(onlyWhereNothingComes && pad.isStreaming) {
        if !onlyWhereNothingComes { pad.dropBuffers() }
        Blocking.start { pad.send(.endOfStream) }
      }
    }
  }

  /// Ends the stream behind each source that pushes, without the source's help.
  func endBehindSources() {
    let made = state.withLock { $0.elements }
    for (index, element) in made
    where type(index)?.padTemplates.allSatisfy({ $0.direction == .source }) == true {
      for pad in element.pads where pad.mode == .push {
        guard let peer = pad.peer, !peer.isStreaming else { continue }
        Blocking.start { peer.send(.endOfStream) }
      }
    }
  }

  /// Where several streams come together in front of a sink: the sink itself where they do not.
  private func joint(before sink: Int) -> Int {
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
    let last = pads(joint(before: sink))
    return last.isEmpty ? pads(sink) : last
  }

  /// Whether anything has come to the sink, or to the muxer before it.
  func hasRecorded(_ sink: Int) -> Bool {
    let joint = joint(before: sink)
    let meters = state.withLock { $0.meters }
    return meters.contains { meter in
      graph.links[meter.link].sink.element == joint && meter.buffers > 0
    }
  }

  /// What to say where an output has ended without what it is for.
  ///
  /// - Parameters:
  ///   - output: its path.
  ///   - wasStopped: only part of what belongs into it need be there.
  func complaintOfMissingFrames(_ sink: Int, output: String, wasStopped: Bool) -> Diagnostic? {
    let joint = joint(before: sink)
    let meters = state.withLock { $0.meters }
    func isEmpty(_ link: Int) -> Bool {
      !meters.contains { $0.link == link && $0.buffers > 0 }
    }
    let required = graph.links.indices.filter { link in
      graph.links[link].sink.element == joint && !graph.isConditional(link)
        && (joint == sink || carriesPictures(link))
    }
    let empty = required.filter(isEmpty)
    guard let first = empty.first, !wasStopped || empty.count == required.count else { return nil }
    let link = graph.links[first]
    return Diagnostic(
      .error, "'\(output)' holds nothing that can be shown: no frame came to '\(name(link.sink))'",
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
