// SPDX-License-Identifier: LGPL-2.1-or-later

internal import GStreamer
internal import StereoVideo

/// Takes single frames out of a movie, as pictures.
///
/// One pipeline waits in PAUSED and jumps from frame to frame, exactly: what comes first behind an
/// accurate seek is the frame that is shown at that time.
struct FrameExtraction {
  /// What a picture shows.
  enum Show: String, CaseIterable {
    case left, right, both, anaglyph
  }

  private let movie: String
  private let pipeline: Pipeline
  private let sink: Element

  private static let patience = Duration.seconds(20)

  /// Builds the pipeline. Throws where a movie of one eye is to show two.
  ///
  /// - Parameter movie: what the movie is called in messages.
  init(movie: String, opened: OpenedMovie, show: Show, format: PictureFormat) async throws {
    self.movie = movie
    let view = try Self.view(opened.facts, show, movie)
    pipeline = try Pipeline(
      parsing:
        "filesrc name=source ! \(view) ! videoconvert ! \(format.encoder) ! fakesink name=sink")
    try pipeline.element(named: "source")?.set("location", parsing: opened.path)
    guard let sink = pipeline.element(named: "sink") else {
      throw MovieError(movie, "its frames cannot be shown")
    }
    self.sink = sink
    pipeline.setState(.paused)
    try await waitForPicture()
  }

  /// To be called at the end.
  func end() { pipeline.end() }

  /// From the file's bytes to one raw picture a frame. Where the base layer's eye is shown alone,
  /// the other one is neither decoded nor needed.
  private static func view(
    _ facts: MovieFacts, _ show: Show, _ movie: String
  ) throws -> String {
    let packed = "videoconvert ! pack.left eyes.right ! queue ! videoconvert ! pack.right "
    switch (facts.stereo, show) {
    case (.layered, .left), (.layered, .right):
      // The base layer's eye is a stream of its own; the other one needs both layers.
      return show.rawValue == facts.baseEye?.rawValue
        ? "mvhevcdemux name=demux demux.\(show.rawValue) ! queue ! decodebin"
        : "mvhevcdemux name=demux demux.video_0 ! mvhevcdec name=eyes eyes.\(show.rawValue) ! queue"
    case (.layered, .both), (.layered, .anaglyph):
      return
        "mvhevcdemux name=demux demux.video_0 ! mvhevcdec name=eyes eyes.left ! queue ! \(packed)"
        + "stereopack name=pack mode=\(show == .both ? "side-by-side" : "anaglyph")"
    case (.packed, .both), (.no, .left), (.no, .right), (.no, .both):
      return "decodebin caps=video/x-raw"
    case (.packed(let layout), .left), (.packed(let layout), .right):
      return "\(split(layout)) eyes.\(show.rawValue) ! queue"
    case (.packed(let layout), .anaglyph):
      return "\(split(layout)) eyes.left ! queue ! \(packed) stereopack name=pack mode=anaglyph"
    case (.no, .anaglyph): throw MovieError(movie, "it shows one eye only")
    }
  }

  private static func split(_ layout: PackingLayout) -> String {
    let mode =
      switch layout.arrangement {
      case .sideBySide: "side-by-side"
      case .topBottom: "top-bottom"
      case .frameByFrame: "frame-by-frame"
      }
    return "decodebin caps=video/x-raw ! videoconvert ! sbssplit name=eyes "
      + "input-mode-override=\(mode) "
      + "input-flags-override=\(layout.rightViewFirst ? "right-view-first" : "none")"
  }

  /// The picture of the frame that is shown from `start` to `end`, in seconds from the movie's
  /// start.
  func picture(from start: Double, to end: Double) async throws -> [UInt8] {
    // A third into the frame: rounding does no harm there.
    let time = ClockTime(min(max(0, start + (end - start) / 3), 1e9) * 1e9)
    guard pipeline.seek(to: time, flags: .accurate) else {
      throw MovieError(movie, "it cannot be searched")
    }
    try await waitForPicture()
    guard let (buffer, shown) = sink.lastBuffer, let shown,
      shown <= time, time - shown < ClockTime(max(end - start, 0.001) * 1e9)
    else {
      throw MovieError(movie, "the frame at \(Quantities.decimal(start, 3)) s cannot be decoded")
    }
    return buffer.bytes
  }

  /// Until the sink holds a picture.
  private func waitForPicture() async throws {
    do {
      try await pipeline.preroll(timeout: Self.patience)
    } catch let failure as PipelineFailure {
      throw MovieError(movie, failure.message)
    } catch let error as ElementError {
      throw MovieError(movie, error.message)
    }
  }
}
