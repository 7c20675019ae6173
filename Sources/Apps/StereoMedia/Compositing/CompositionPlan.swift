// SPDX-License-Identifier: MPL-2.0

/// The times at which a composition has frames.
public enum FrameGrid: Equatable, Sendable {
  /// The times of this source's frames, as long as it lasts.
  case of(String)
  /// A constant interval, above 0, from the composition's start to the end of its last source.
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

/// The validated times of a composition's frames.
struct CompositionPlan: Sendable {
  /// From the first frame's time to the end of the last frame.
  let span: Range<Duration>
  /// Frame rate in frames per second; nil if it is unknown.
  let frameRate: Double?
  private let grid: Grid

  private enum Grid {
    case frames(of: SourcePart)
    case every(Duration, until: Duration)
  }

  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if
  ///   sources or times are inconsistent, and with ``StereoMediaError/Code/missingVideo`` if a
  ///   source has no video.
  init(
    _ sources: [CompositionSource], _ grid: FrameGrid, audio: String?
  ) throws(StereoMediaError) {
    try Self.check(sources)
    if let audio { try Self.check(audio: audio, of: sources) }
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
        throw StereoMediaError(.invalidInput, "the frame interval has to be above 0, not \(step)")
      }
      let end = sources.map(\.part.end).max() ?? .zero
      span = .zero..<max(.zero, end)
      frameRate = .seconds(1) / step
      self.grid = .every(step, until: end)
    }
  }

  /// Returns the time and duration of a frame; nil after the last one.
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

  /// Maximum number of frames of a composition that is played: more than three days at 60 frames
  /// per second.
  private static let mostFrames = 1 << 24

  /// Returns the index of all frames.
  ///
  /// - Throws: a ``StereoMediaError`` if there are too many.
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
          .invalidInput, "source '\(source.id)' begins before the composition")
      }
      guard source.movie.video != nil else {
        throw StereoMediaError(.missingVideo, "'\(source.movie.path)' has no video")
      }
    }
  }

  private static func check(
    audio id: String, of sources: [CompositionSource]
  ) throws(StereoMediaError) {
    let source = try source(id, of: sources)
    guard source.isWhole, source.start == .zero else {
      throw StereoMediaError(
        .invalidInput,
        "the audio of source '\(id)' would be out of sync: it is copied as a whole",
        hint: "add the source without a range and at zero, or compose without audio")
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

/// A part of a movie on the timeline of a composition, with the times of its frames.
///
/// A frame is shown until the next one begins. Times may be off by a microsecond if they are
/// computed from a frame rate.
package struct SourcePart: Sendable {
  /// The end of the part on the composition's timeline.
  package let end: Duration
  /// The frames that begin in the part.
  package let indexes: Range<Int>
  private let frames: FrameIndex
  private let start: Duration
  private let range: Range<Duration>

  /// Maximum rounding error of times.
  static let rounding = Duration.microseconds(1)

  /// - Parameters:
  ///   - frames: the frames of the movie.
  ///   - range: the part of the movie; nil for the whole movie.
  ///   - start: the time at which the part begins on the composition's timeline.
  package init(_ frames: FrameIndex, range: Range<Duration>?, at start: Duration) {
    (self.frames, self.start) = (frames, start)
    // A last frame without a duration is shown for a moment.
    let movieEnd =
      frames.last.map { $0.time + max($0.duration, Self.rounding * 2) } ?? .zero
    let lower = max(range?.lowerBound ?? .zero, .zero)
    self.range = lower..<max(lower, min(range?.upperBound ?? movieEnd, movieEnd))
    indexes = frames.beginning(in: self.range)
    end = start + (self.range.upperBound - lower)
  }

  /// Returns the index of the frame that is shown at a time of the composition; nil before the
  /// first frame and after the last one.
  package func frame(at time: Duration) -> Int? {
    let time = time - start + range.lowerBound + Self.rounding
    guard time >= range.lowerBound, time < range.upperBound + Self.rounding,
      let index = frames.playing(at: time), indexes.contains(index)
    else { return nil }
    let frame = frames[index]
    return time < frame.time + max(frame.duration, Self.rounding * 2) ? index : nil
  }

  /// Returns the time of a frame on the composition's timeline, and the duration for which it is
  /// shown there.
  package func place(of index: Int) -> (time: Duration, duration: Duration) {
    let frame = frames[index]
    return (
      start + frame.time - range.lowerBound,
      min(frame.duration, range.upperBound - frame.time)
    )
  }

  /// Returns the range of the movie from a frame to the end of the part.
  func rest(from index: Int) -> Range<Duration> {
    min(frames[index].time, range.upperBound)..<range.upperBound
  }
}
