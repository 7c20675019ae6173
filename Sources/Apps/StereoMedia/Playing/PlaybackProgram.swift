// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import StereoVideo

/// What a player plays: the frames of a movie or of a composition, and the graph that they come from.
struct PlaybackProgram: Sendable {
  /// What messages call it.
  let name: String
  let frames: FrameIndex
  let metadata: SpatialMetadata
  /// As gst-launch writes it.
  let line: String
  /// The names of the sinks: that of the left eye and that of the right one, or one for the only
  /// picture.
  let sinks: [String]
  /// The file for the element `source`; nil where there is none.
  let moviePath: String?
  /// What composes the frames; nil for those of a movie.
  let composed: ComposedFrames?

  /// The `appsrc` that takes composed frames.
  static let composedSource = "composed"

  /// A movie.
  init(_ source: MovieSource, _ graph: DecodeGraph) {
    (name, frames, metadata) = (source.name, source.facts.frames, source.facts.metadata)
    (line, sinks, moviePath, composed) = (graph.line, graph.sinks, source.path, nil)
  }

  /// A composition.
  ///
  /// - Throws: a ``StereoMediaError`` where it has too many frames.
  init<Compositor: StereoCompositor>(
    _ composition: StereoComposition<Compositor>, _ plan: CompositionPlan, withSound: Bool
  ) throws {
    let isMono = composition.compositor.output == .mono
    (name, metadata, frames) = ("the composition", composition.metadata, try plan.frames())
    let queue = "queue max-size-buffers=3 max-size-bytes=0 max-size-time=0 ! appsink name="
    let pictures =
      isMono
      ? "\(queue)only" : "sbssplit name=eyes eyes.left ! \(queue)left eyes.right ! \(queue)right"
    var line = "appsrc name=\(Self.composedSource) ! \(pictures)"
    if withSound { line += " filesrc name=source ! mvhevcdemux name=demux\(DecodeGraph.sound)" }
    self.line = line
    sinks = isMono ? ["only"] : ["left", "right"]
    moviePath = withSound ? composition.soundMovie?.source.path : nil
    composed = ComposedFrames(isMono: isMono, rate: plan.frameRate) { index, take in
      var composer = try Composer(composition, from: index)
      while let frame = try await composer.next() { try await take(frame) }
    }
  }
}

/// The frames of a composition, whatever composes them.
struct ComposedFrames: Sendable {
  /// One picture is for both eyes.
  let isMono: Bool
  /// Frames a second; nil where that is not known.
  let rate: Double?
  /// Composes the frames from an index on, one after the other, and waits for each to be taken.
  let compose:
    @Sendable (_ index: Int, _ take: (StereoFrame) async throws -> Void) async throws -> Void
}
