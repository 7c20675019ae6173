// SPDX-License-Identifier: MPL-2.0

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
