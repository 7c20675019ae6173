// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
public import StereoVideo

/// A frame with a picture for each eye.
public struct StereoFrame: Sendable {
  /// The left eye's picture.
  public let left: Picture
  /// The right eye's picture; the same object as ``left`` if ``isMono`` is true.
  public let right: Picture
  /// Presentation time on the movie's timeline.
  public let time: Duration
  /// Time until the next frame; nil if it is unknown.
  public let duration: Duration?
  /// Position in the movie's ``FrameIndex``; nil for a frame that comes from no movie.
  public let index: Int?
  /// Whether both eyes are the same picture.
  public let isMono: Bool
  /// The stereo geometry.
  public let metadata: SpatialMetadata

  /// Creates a frame from pictures of the program's own.
  public init(
    left: Picture, right: Picture, time: Duration, duration: Duration? = nil, index: Int? = nil,
    metadata: SpatialMetadata = SpatialMetadata()
  ) {
    (self.left, self.right) = (left, right)
    (self.time, self.duration, self.index) = (time, duration, index)
    isMono = left === right
    self.metadata = metadata
  }

  /// Creates a decoded frame; nil if it has no pictures.
  init?(
    _ frame: Decode.Frame, _ index: Int?, of frames: FrameIndex, metadata: SpatialMetadata
  ) {
    guard let left = frame.pictures.first, let right = frame.pictures.last else { return nil }
    let known = index.map { frames[$0] }
    self.init(
      left: left, right: right, time: known?.time ?? frame.time.duration,
      duration: known?.duration ?? frame.duration.map(\.duration), index: index,
      metadata: metadata)
  }

  /// The picture of one eye.
  public subscript(eye: Eye) -> Picture { eye == .left ? left : right }
}

/// One eye's picture of a frame.
public struct EyeFrame: Sendable {
  /// The picture.
  public let picture: Picture
  /// The requested eye.
  public let eye: Eye
  /// Presentation time on the movie's timeline.
  public let time: Duration
  /// Time until the next frame; nil if it is unknown.
  public let duration: Duration?
  /// Position in the movie's ``FrameIndex``.
  public let index: Int?
}
