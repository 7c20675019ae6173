// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

/// The input movies of a graph that it splits into eyes.
enum StereoInputs {
  /// Returns errors for movies without two eyes. Files that are not movies are left to the
  /// elements.
  static func problems(_ graph: ResolvedGraph) -> Diagnostics {
    var problems: [Diagnostic] = []
    for (index, element) in graph.elements.enumerated()
    where element.type.known == "mvhevcdemux" && needsEyes(index, graph) {
      for link in graph.links where link.sink.element == index {
        guard let (path, location) = graph.elements[link.source.element].namedFile,
          let facts = (try? MovieReader(path: path)).map(MovieFacts.init),
          let (reason, help) = reason(against: facts)
        else { continue }
        problems.append(
          Diagnostic(.error, "'\(path)' is no spatial movie: \(reason)", at: location, help: help))
      }
    }
    return Diagnostics(problems)
  }

  /// Returns whether the elements after a demuxer need single eyes.
  private static func needsEyes(_ demuxer: Int, _ graph: ResolvedGraph) -> Bool {
    graph.links.contains { link in
      link.source.element == demuxer
        && (["left", "right"].contains(link.source.pad)
          || link.padCaps?.text.contains("multiview-mode") == true
          || leadsToDecoder(link.sink.element, graph))
    }
  }

  private static func leadsToDecoder(_ element: Int, _ graph: ResolvedGraph) -> Bool {
    var element = element
    for _ in graph.links.indices {
      if graph.elements[element].type.known == "mvhevcdec" { return true }
      guard let next = graph.links.first(where: { $0.source.element == element }) else { break }
      element = next.sink.element
    }
    return false
  }

  /// Returns the reason that a movie has no separate eyes; nil if it has or may have two.
  private static func reason(against facts: MovieFacts) -> (reason: String, help: String?)? {
    guard facts.stereo != .layered else { return nil }
    if facts.stereo == .twoViews {
      return ("it is H.264 MVC", "'gst-spatial run mvc-to-mvhevc' converts it to one")
    }
    if case .packed(let layout) = facts.stereo {
      let name = layout.arrangement == .topBottom ? "tb-to-mvhevc" : "sbs-to-mvhevc"
      return (
        "both eyes share each frame", "'gst-spatial run \(name)' converts it to one"
      )
    }
    guard facts.video != nil else { return ("it has no video", nil) }
    let mayBe = facts.layers?.isStereo == true || facts.hasLayers
    return mayBe
      ? nil
      : (
        "it has only one eye",
        "'gst-spatial run two-files-to-mvhevc' combines two movies, one for each eye"
      )
  }
}

extension MovieFacts {
  /// Whether any track has a configuration record for dependent layers.
  fileprivate var hasLayers: Bool {
    reader.movie.tracks.contains { track in
      track.sampleEntries.contains { entry in
        if case .video(let video) = entry { video.lhvC != nil } else { false }
      }
    }
  }
}
