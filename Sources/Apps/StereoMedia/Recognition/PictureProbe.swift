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
  /// Number of pictures with enough detail after which the other keyframes are not decoded.
  private static let sufficientCount = 4
  /// Number of pictures with enough detail below which pictures between keyframes are decoded, too.
  private static let minimumCount = 3

  /// Opens a movie and decodes its first picture.
  ///
  /// - Throws: a ``RecognizedLayout/Refusal`` if it cannot be decoded.
  package init(path: String) async throws(RecognizedLayout.Refusal) {
    do {
      pipeline = try Self.pipeline(path)
      guard let sink = pipeline.element(named: "sink") else {
        throw ElementError(.failed, "The pipeline has no sink.")
      }
      self.sink = sink
    } catch {
      throw .unreadable(Self.reason(error))
    }
    pipeline.setState(.paused)
    do {
      try await pipeline.preroll(timeout: Self.patience, needing: "video/")
    } catch {
      pipeline.end()
      throw Self.hasNoVideo(error) ? .noVideo : .unreadable(Self.reason(error))
    }
  }

  private static func pipeline(_ path: String) throws -> Pipeline {
    let size = HalfComparison.size
    let source = MovieLocation.source(of: path)
    let pipeline = try Pipeline(
      parsing:
        "\(source) name=source ! decodebin caps=video/x-raw ! videoconvert "
        + "! videoflip name=upright video-direction=auto ! videoconvert "
        + "! videoscale add-borders=false "
        + "! video/x-raw,format=GRAY8,width=\(size),height=\(size) ! fakesink name=sink")
    try pipeline.element(named: "source")?.set("location", parsing: path)
    return pipeline
  }

  private static func reason(_ error: any Error) -> String {
    let message =
      (error as? PipelineFailure)?.message ?? (error as? ElementError)?.message ?? "\(error)"
    // GStreamer's words for a file of an unknown type.
    return message == "Could not determine type of stream." ? "its format is not known" : message
  }

  /// Whether a movie failed because it has streams, but none of pictures: `decodebin` lists those
  /// that it cannot convert to video.
  private static func hasNoVideo(_ error: any Error) -> Bool {
    guard let details = (error as? PipelineFailure)?.debug else { return false }
    return details.contains("no suitable plugins found") && details.contains("Missing decoder: ")
      && !details.contains("(video/") && !details.contains("(image/")
  }

  deinit { pipeline.end() }

  /// The size of the frames and the arrangement of the eyes, as decoded.
  package var video: Video {
    let caps = pipeline.element(named: "upright")?.staticPad("src")?.currentCaps
    guard let info = caps.flatMap(VideoInfo.init) else {
      return Video(frame: nil, declaredEyes: nil)
    }
    let isMVC = pipeline.element(named: "upright")?.staticPad("sink")?.capsUpstream.contains {
      Self.multiviewProfiles.contains($0.first?.string("profile") ?? "")
    }
    let pixels = info.pixelAspectRatio
    let shape = Double(pixels.numerator) / Double(max(pixels.denominator, 1))
    return Video(
      frame: LayoutEvidence.Frame(info.width, info.height, pixelShape: shape > 0 ? shape : 1),
      declaredEyes: isMVC ?? false
        ? .twoViews : LayoutEvidence.DeclaredEyes(info.multiviewMode, info.multiviewFlags))
  }

  /// The profiles of H.264 MVC in the caps of a parser.
  private static let multiviewProfiles: Set = ["stereo-high", "multiview-high"]

  /// Examines pictures from all over the movie.
  ///
  /// - Parameter budget: the time after which it decides from the pictures decoded so far.
  package func finding(within budget: Duration) async -> PictureFinding {
    var examined = ExaminedPictures()
    let deadline = ContinuousClock.now + budget
    if let duration = pipeline.duration {
      for place in Self.places where examined.scores.count < Self.sufficientCount {
        let position = duration.scaled(by: place)
        guard await seek(to: position, [.keyUnit, .snapNearest], deadline) else { break }
        examined.add(sink)
      }
      // A short movie has only one keyframe, and may begin in black. All pictures since the
      // keyframe are decoded, so the early ones are the cheap ones.
      for place in Self.places.sorted() where examined.scores.count < Self.minimumCount {
        guard await seek(to: duration.scaled(by: place), .accurate, deadline) else { break }
        examined.add(sink)
      }
    }
    if examined.scores.isEmpty { examined.add(sink) }
    return PictureFinding(examined.scores)
  }

  /// Returns whether a picture has been decoded by the deadline.
  private func seek(
    to position: ClockTime, _ flags: SeekFlags, _ deadline: ContinuousClock.Instant
  ) async -> Bool {
    let rest = ContinuousClock.now.duration(to: deadline)
    guard rest > .zero, pipeline.seek(to: position, flags: flags) else { return false }
    do {
      try await pipeline.preroll(timeout: rest, needing: "video/")
      return true
    } catch {
      return false
    }
  }
}

/// The pictures of a movie that have been examined.
private struct ExaminedPictures {
  private(set) var scores: [HalfComparison.Scores] = []
  private var times: Set<ClockTime> = []

  /// Adds the picture that a sink shows, if it is another one and has enough detail.
  mutating func add(_ sink: Element) {
    guard let (buffer, time) = sink.lastBuffer else { return }
    if let time, !times.insert(time).inserted { return }
    if let picture = HalfComparison.scores(buffer.bytes) { scores.append(picture) }
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

/// Compares the halves of a picture: two eyes show the same scene apart from disparity.
enum HalfComparison {
  /// How well the halves match, from 0 to 1.
  struct Scores {
    let sideBySide: Double
    let topBottom: Double
  }

  /// Width and height of a picture, in pixels.
  static let size = 256
  private static let block = 16
  /// Minimum number of blocks with distinctive detail.
  private static let minimumCount = 4
  /// The score of halves that cannot be compared, between those of pairs and of single pictures.
  private static let undecided = 0.7

  /// Returns nil if the picture has too little detail, or if the detail repeats itself so that
  /// anything would match.
  ///
  /// - Parameter picture: brightness, row by row.
  static func scores(_ picture: [UInt8]) -> Scores? {
    guard picture.count == size * size else { return nil }
    let sideBySide = similarity(picture, .sideBySide)
    let topBottom = similarity(picture, .topBottom)
    guard sideBySide != nil || topBottom != nil else { return nil }
    return Scores(sideBySide: sideBySide ?? undecided, topBottom: topBottom ?? undecided)
  }

  /// Returns how well the blocks of one half match the other half near the same position, from 0 to
  /// 1; nil if too few blocks have distinctive detail.
  private static func similarity(
    _ picture: [UInt8], _ arrangement: PackingLayout.Arrangement
  ) -> Double? {
    let isBeside = arrangement == .sideBySide
    let (width, height) = isBeside ? (size / 2, size) : (size, size / 2)
    let other = isBeside ? size / 2 : size * size / 2
    let reach = width / 12
    var sum = 0.0
    var weights = 0.0
    var blocks = 0
    for y in stride(from: 0, through: height - block, by: block) {
      for x in stride(from: reach, through: width - block - reach, by: block) {
        let start = y * size + x
        let spread = statistics(picture, start).variance
        guard spread > 30, !repeats(picture, start, x, width) else { continue }
        // The halves of vertical bars match although they are one picture.
        if !isBeside, continuesVertically(picture, start, y, height) { continue }
        let best = (-reach...reach).map { correlation(picture, start, start + other + $0) }.max()
        sum += max(0, best ?? 0) * spread.squareRoot()
        weights += spread.squareRoot()
        blocks += 1
      }
    }
    return blocks >= minimumCount ? sum / weights : nil
  }

  /// Returns whether a block looks like another place in its own half, next to where it would match
  /// the other half: bricks, fences and test patterns match anywhere.
  private static func repeats(_ picture: [UInt8], _ start: Int, _ x: Int, _ width: Int) -> Bool {
    let reach = width / 12
    // Closer than this, a block matches itself.
    let nearest = block / 2 + 1
    for distance in nearest...nearest + 2 * reach {
      for offset in [-distance, distance] where (0...width - block).contains(x + offset) {
        if correlation(picture, start, start + offset) > 0.9 { return true }
      }
    }
    return false
  }

  /// Returns whether a block looks like the one above or below it.
  private static func continuesVertically(
    _ picture: [UInt8], _ start: Int, _ y: Int, _ height: Int
  ) -> Bool {
    [-block, block].contains { offset in
      (0...height - block).contains(y + offset)
        && correlation(picture, start, start + offset * size) > 0.9
    }
  }

  private static func statistics(_ picture: [UInt8], _ start: Int) -> (
    mean: Double, variance: Double
  ) {
    var (sum, squares) = (0, 0)
    for y in 0..<block {
      for x in 0..<block {
        let value = Int(picture[start + y * size + x])
        sum += value
        squares += value * value
      }
    }
    let count = Double(block * block)
    let mean = Double(sum) / count
    return (mean, Double(squares) / count - mean * mean)
  }

  private static func correlation(_ picture: [UInt8], _ one: Int, _ other: Int) -> Double {
    let (first, second) = (statistics(picture, one), statistics(picture, other))
    guard first.variance > 1, second.variance > 1 else { return 0 }
    var products = 0
    for y in 0..<block {
      for x in 0..<block {
        products += Int(picture[one + y * size + x]) * Int(picture[other + y * size + x])
      }
    }
    let covariance = Double(products) / Double(block * block) - first.mean * second.mean
    return covariance / (first.variance * second.variance).squareRoot()
  }
}
