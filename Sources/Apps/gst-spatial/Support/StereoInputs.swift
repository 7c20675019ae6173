// SPDX-License-Identifier: MPL-2.0

internal import HEVC
internal import ISOBMFF
internal import PipelineFile
internal import StereoMedia
internal import StereoVideo

/// The movies that a graph takes apart into eyes.
enum StereoInputs {
  /// What to say of those that have no two eyes. What is no movie is for the elements to tell.
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

  /// Whether what is behind a demuxer wants an eye of a pair, and not a movie as it is.
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

  /// Nil for a movie with two eyes, or with what might be two.
  private static func reason(against facts: MovieFacts) -> (reason: String, help: String?)? {
    guard facts.stereo != .layered else { return nil }
    if case .packed(let layout) = facts.stereo {
      let name = layout.arrangement == .topBottom ? "tb-to-mvhevc" : "sbs-to-mvhevc"
      return (
        "both eyes share each frame", "'gst-spatial run \(name)' makes a spatial movie of it"
      )
    }
    guard facts.video != nil else { return ("it has no video", nil) }
    let mayBe = facts.layers?.isStereo == true || facts.hasLayers
    return mayBe
      ? nil
      : (
        "it shows one eye only",
        "two movies, one for each eye, become one with 'gst-spatial run two-files-to-mvhevc'"
      )
  }
}

extension MovieFacts {
  /// Any of its tracks has a configuration of further layers.
  fileprivate var hasLayers: Bool {
    reader.movie.tracks.contains { track in
      track.sampleEntries.contains { entry in
        if case .video(let video) = entry { video.lhvC != nil } else { false }
      }
    }
  }
}
