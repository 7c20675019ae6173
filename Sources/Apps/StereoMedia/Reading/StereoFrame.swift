// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

/// Both eyes of a frame.
public struct StereoFrame: Sendable {
  public let left: Picture
  public let right: Picture
  /// When it is shown, on the movie's time line.
  public let time: Duration
  /// Until the next frame is shown; nil where that is not known.
  public let duration: Duration?
  /// Its position in the movie's ``FrameIndex``; nil for a frame that is of no movie.
  public let index: Int?
  /// Both eyes are the same picture: the movie has one for both.
  public let isMono: Bool
  /// How the pair was shot.
  public let metadata: SpatialMetadata

  /// A frame of a program's own.
  public init(
    left: Picture, right: Picture, time: Duration, duration: Duration? = nil, index: Int? = nil,
    metadata: SpatialMetadata = SpatialMetadata()
  ) {
    (self.left, self.right) = (left, right)
    (self.time, self.duration, self.index) = (time, duration, index)
    isMono = left === right
    self.metadata = metadata
  }

  /// A decoded frame; nil for one without pictures.
  init?(
    _ frame: Decode.Frame, _ index: Int?, of frames: FrameIndex, metadata: SpatialMetadata
  ) {
    guard let left = frame.pictures.first, let right = frame.pictures.last else { return nil }
    let known = index.map { frames[$0] }
    self.init(
      left: left, right: right, time: known?.time ?? Duration(frame.time),
      duration: known?.duration ?? frame.duration.map { Duration($0) }, index: index,
      metadata: metadata)
  }

  /// The picture of an eye.
  public subscript(eye: Eye) -> Picture { eye == .left ? left : right }
}

/// A frame's picture for one eye.
public struct EyeFrame: Sendable {
  public let picture: Picture
  /// The eye that was asked for.
  public let eye: Eye
  /// When it is shown, on the movie's time line.
  public let time: Duration
  /// Until the next frame is shown; nil where that is not known.
  public let duration: Duration?
  /// Its position in the movie's ``FrameIndex``.
  public let index: Int?
}
