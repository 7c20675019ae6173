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

/// A part of a movie on the time line of a composition: which frame is shown when.
///
/// A frame is shown from its time until the next frame's. Times may be a microsecond off, as those
/// are that are computed from rates.
package struct SourcePart: Sendable {
  /// When the part ends, on the composition's time line.
  package let end: Duration
  /// The frames that begin in the part.
  package let indexes: Range<Int>
  private let frames: FrameIndex
  private let start: Duration
  private let range: Range<Duration>

  /// By how much times may differ that are meant to be the same.
  static let rounding = Duration.microseconds(1)

  /// - Parameters:
  ///   - frames: those of the movie.
  ///   - range: the part of the movie; nil for all of it.
  ///   - start: where the part begins on the composition's time line.
  package init(_ frames: FrameIndex, range: Range<Duration>?, at start: Duration) {
    (self.frames, self.start) = (frames, start)
    // A last frame that says no duration is shown for a moment.
    let movieEnd =
      frames.last.map { $0.time + max($0.duration, Self.rounding * 2) } ?? .zero
    let lower = max(range?.lowerBound ?? .zero, .zero)
    self.range = lower..<max(lower, min(range?.upperBound ?? movieEnd, movieEnd))
    indexes = frames.beginning(in: self.range)
    end = start + (self.range.upperBound - lower)
  }

  /// The index of the frame that is shown at a time of the composition; nil before the first frame and
  /// behind the last one.
  package func frame(at time: Duration) -> Int? {
    let time = time - start + range.lowerBound + Self.rounding
    guard time >= range.lowerBound, time < range.upperBound + Self.rounding,
      let index = frames.playing(at: time), indexes.contains(index)
    else { return nil }
    let frame = frames[index]
    return time < frame.time + max(frame.duration, Self.rounding * 2) ? index : nil
  }

  /// When a frame begins on the composition's time line, and for how long it is shown there.
  package func place(of index: Int) -> (time: Duration, duration: Duration) {
    let frame = frames[index]
    return (
      start + frame.time - range.lowerBound,
      min(frame.duration, range.upperBound - frame.time)
    )
  }

  /// What is to be read of the movie for a frame of the part and all behind it.
  func rest(from index: Int) -> Range<Duration> {
    min(frames[index].time, range.upperBound)..<range.upperBound
  }
}
