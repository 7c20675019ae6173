// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
package import StereoVideo

/// Decodes pictures of a movie in any container, turned as the movie declares, and detects whether
/// each holds two eyes.
package final class PictureProbe: Sendable {
  /// The properties of the decoded video.
  package struct Video: Sendable {
    /// The size of the frames, turned.
    package let frame: LayoutEvidence.Frame?
    /// The arrangement of the eyes according to the stream; nil if it does not declare one.
    package let declaredEyes: LayoutEvidence.DeclaredEyes?
  }

  private let pipeline: Pipeline
  private let sink: Element

  private static let patience = Duration.seconds(20)
  /// Positions that are examined, as fractions of the movie's duration.
  private static let places = [0.5, 0.25, 0.75, 0.1, 0.9, 0.4, 0.6, 0.33]
  /// Number of pictures with enough detail after which the others are not decoded.
  private static let sufficientCount = 4

  /// Opens a movie and decodes its first picture. Throws if it cannot be decoded.
  package init(path: String) async throws {
    let size = HalfComparison.size
    let pipeline = try Pipeline(
      parsing: "filesrc name=source ! decodebin caps=video/x-raw ! videoconvert "
        + "! videoflip name=upright video-direction=auto ! videoconvert "
        + "! videoscale add-borders=false "
        + "! video/x-raw,format=GRAY8,width=\(size),height=\(size) ! fakesink name=sink")
    self.pipeline = pipeline
    guard let sink = pipeline.element(named: "sink") else {
      throw ElementError(.failed, "The pipeline has no sink.")
    }
    self.sink = sink
    try pipeline.element(named: "source")?.set("location", parsing: path)
    pipeline.setState(.paused)
    do {
      try await pipeline.preroll(timeout: Self.patience)
    } catch {
      pipeline.end()
      throw error
    }
  }

  deinit { pipeline.end() }

  /// The size of the frames and the arrangement of the eyes, as decoded.
  package var video: Video {
    let caps = pipeline.element(named: "upright")?.staticPad("src")?.currentCaps
    guard let info = caps.flatMap(VideoInfo.init) else {
      return Video(frame: nil, declaredEyes: nil)
    }
    let pixels = info.pixelAspectRatio
    let shape = Double(pixels.numerator) / Double(max(pixels.denominator, 1))
    return Video(
      frame: LayoutEvidence.Frame(info.width, info.height, pixelShape: shape > 0 ? shape : 1),
      declaredEyes: LayoutEvidence.DeclaredEyes(info.multiviewMode, info.multiviewFlags))
  }

  /// Examines pictures from all over the movie.
  package func finding() async throws -> PictureFinding {
    var scores: [HalfComparison.Scores] = []
    if let duration = pipeline.duration {
      for place in Self.places where scores.count < Self.sufficientCount {
        // Between keyframes, too: a short movie has only one, and may begin in black.
        guard pipeline.seek(to: duration.scaled(by: place), flags: .accurate) else { break }
        try await pipeline.preroll(timeout: Self.patience)
        if let picture = scored() { scores.append(picture) }
      }
    }
    if scores.isEmpty, let picture = scored() { scores.append(picture) }
    return PictureFinding(scores)
  }

  private func scored() -> HalfComparison.Scores? {
    sink.lastBuffer.flatMap { HalfComparison.scores($0.buffer.bytes) }
  }
}

/// The result of examining a movie's pictures.
package enum PictureFinding: Equatable, Sendable {
  case packed(PackingLayout.Arrangement)
  /// Each picture shows a single scene.
  case onePicture
  /// The pictures have too little detail to decide, or repeat themselves.
  case unclear

  fileprivate init(_ scores: [HalfComparison.Scores]) {
    guard !scores.isEmpty else {
      self = .unclear
      return
    }
    let sideBySide = scores.map(\.sideBySide).reduce(0, +) / Double(scores.count)
    let topBottom = scores.map(\.topBottom).reduce(0, +) / Double(scores.count)
    let (best, other) = (max(sideBySide, topBottom), min(sideBySide, topBottom))
    // Measured: the halves of stereo pairs score at least 0.9, those of single pictures at most
    // 0.45, test patterns 0.55 to 0.78.
    if best < 0.65 {
      self = .onePicture
    } else if best >= 0.75, best > other + 0.1 {
      self = .packed(sideBySide > topBottom ? .sideBySide : .topBottom)
    } else {
      self = .unclear
    }
  }
}

extension LayoutEvidence.DeclaredEyes {
  /// Nil if the caps of a stream declare no arrangement of two eyes.
  fileprivate init?(_ mode: MultiviewMode, _ flags: MultiviewFlags) {
    let rightViewFirst = flags.contains(.rightViewFirst)
    switch mode.capsName {
    case "side-by-side": self = .packed(.sideBySide, rightViewFirst: rightViewFirst)
    case "top-bottom": self = .packed(.topBottom, rightViewFirst: rightViewFirst)
    case "frame-by-frame": self = .packed(.frameByFrame, rightViewFirst: rightViewFirst)
    case "row-interleaved": self = .inseparable("interleaved rows of both eyes")
    case "column-interleaved": self = .inseparable("interleaved columns of both eyes")
    case "checkerboard": self = .inseparable("a checkerboard of both eyes")
    case "side-by-side-quincunx": self = .inseparable("both eyes in quincunx patterns")
    default: return nil
    }
  }
}
