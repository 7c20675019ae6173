// SPDX-License-Identifier: MPL-2.0

/// How far a pipeline has come.
public struct RunProgress: Sendable, Equatable {
  /// Since the start, in seconds.
  public var elapsed = 0.0
  /// Of the stream, in seconds; nil where nothing has a time yet.
  public var position: Double?
  /// Of the whole stream, in seconds; nil where nobody knows.
  public var duration: Double?
  /// Video frames so far; nil without video.
  public var frames: Int?
  /// Bytes written to files so far.
  public var bytes = 0

  /// From 0 to 1; nil where the duration is not known.
  public var fraction: Double? {
    guard let position, let duration, duration > 0 else { return nil }
    return min(1, max(0, position / duration))
  }

  /// Seconds of the stream in a second.
  public var speed: Double? {
    guard let position, elapsed > 0 else { return nil }
    return position / elapsed
  }

  /// Frames of work a second.
  public var framesPerSecond: Double? {
    guard let frames, elapsed > 0 else { return nil }
    return Double(frames) / elapsed
  }

  /// Seconds until the end, at the speed so far.
  public var timeLeft: Double? {
    guard let position, let duration, let speed, speed > 0 else { return nil }
    return max(0, duration - position) / speed
  }
}
