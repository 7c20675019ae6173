// SPDX-License-Identifier: MPL-2.0

/// When a composition has frames.
public enum FrameGrid: Equatable, Sendable {
  /// When this source has them, for as long as it lasts.
  case of(String)
  /// Once in this time, above 0, from the composition's beginning to the end of its last source.
  case every(Duration)
}

/// A movie in a composition.
struct CompositionSource: Sendable {
  let id: String
  let movie: StereoMovie
  let isWhole: Bool
  let start: Duration
  let part: SourcePart

  init(_ id: String, _ movie: StereoMovie, range: Range<Duration>?, at start: Duration) {
    (self.id, self.movie, self.start) = (id, movie, start)
    isWhole = range == nil
    part = SourcePart(movie.facts.frames, range: range, at: start)
  }
}

/// The times of a composition's frames, checked.
struct CompositionPlan: Sendable {
  /// From the first frame's time to the end of the last one.
  let span: Range<Duration>
  /// Frames a second; nil where that is not known.
  let frameRate: Double?
  private let grid: Grid

  private enum Grid {
    case frames(of: SourcePart)
    case every(Duration, until: Duration)
  }

  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where sources
  ///   or times do not go together, and ``StereoMediaError/Code/missingVideo`` where a source has no
  ///   video.
  init(
    _ sources: [CompositionSource], _ grid: FrameGrid, sound: String?
  ) throws(StereoMediaError) {
    try Self.check(sources)
    if let sound { try Self.check(sound: sound, of: sources) }
    switch grid {
    case .of(let id):
      let source = try Self.source(id, of: sources)
      let indexes = source.part.indexes
      let start = indexes.first.map { source.part.place(of: $0).time } ?? source.start
      span = start..<max(start, source.part.end)
      frameRate = source.movie.video?.frameRate
      self.grid = .frames(of: source.part)
    case .every(let step):
      guard step > .zero else {
        throw StereoMediaError(.invalidInput, "there can be no frame every \(step)")
      }
      let end = sources.map(\.part.end).max() ?? .zero
      span = .zero..<max(.zero, end)
      frameRate = .seconds(1) / step
      self.grid = .every(step, until: end)
    }
  }

  /// When a frame is shown, and for how long; nil behind the last one.
  func place(of position: Int) -> (time: Duration, duration: Duration)? {
    switch grid {
    case .frames(let part):
      let index = part.indexes.lowerBound + position
      return part.indexes.contains(index) ? part.place(of: index) : nil
    case .every(let step, let end):
      let time = step * position
      return time + SourcePart.rounding < end ? (time, step) : nil
    }
  }

  /// Nobody plays more frames than in days.
  private static let mostFrames = 1 << 24

  /// All of its frames.
  ///
  /// - Throws: a ``StereoMediaError`` where they are too many to be listed.
  func frames() throws(StereoMediaError) -> FrameIndex {
    var places: [(time: Duration, duration: Duration)] = []
    while let place = place(of: places.count) {
      guard places.count < Self.mostFrames else {
        throw StereoMediaError(.invalidInput, "the composition has too many frames to be played")
      }
      places.append(place)
    }
    return FrameIndex(places)
  }

  private static func check(_ sources: [CompositionSource]) throws(StereoMediaError) {
    guard !sources.isEmpty else {
      throw StereoMediaError(.invalidInput, "the composition has no sources")
    }
    for (index, source) in sources.enumerated() {
      guard !sources[..<index].contains(where: { $0.id == source.id }) else {
        throw StereoMediaError(.invalidInput, "the composition has two sources '\(source.id)'")
      }
      guard source.start >= .zero else {
        throw StereoMediaError(
          .invalidInput, "the source '\(source.id)' is before the composition's beginning")
      }
      guard source.movie.video != nil else {
        throw StereoMediaError(.missingVideo, "'\(source.movie.path)' has no video")
      }
    }
  }

  private static func check(
    sound id: String, of sources: [CompositionSource]
  ) throws(StereoMediaError) {
    let source = try source(id, of: sources)
    guard source.isWhole, source.start == .zero else {
      throw StereoMediaError(
        .invalidInput,
        "the sound of the source '\(id)' is not where its pictures are: it is copied as a whole",
        hint: "add the source without a range and at zero, or leave the sound out")
    }
  }

  private static func source(
    _ id: String, of sources: [CompositionSource]
  ) throws(StereoMediaError) -> CompositionSource {
    guard let source = sources.first(where: { $0.id == id }) else {
      throw StereoMediaError(.invalidInput, "the composition has no source '\(id)'")
    }
    return source
  }
}
