// SPDX-License-Identifier: MPL-2.0

internal import GStreamer
internal import SpatialElements
public import StereoVideo

extension StereoWriter {
  /// The settings of a movie to write.
  public struct Settings: Sendable {
    /// The arrangement of the eyes in a movie.
    public enum Layout: Equatable, Sendable {
      /// MV-HEVC: each eye has its own layer. Players without MV-HEVC support show one eye.
      case multiview
      /// H.264 with both eyes in each frame, side by side or top and bottom, for television sets
      /// and web players. Without ``/StereoVideo/PackingLayout/halfAspect``, a frame has the size
      /// of both eyes together; with it, the size of one eye, which the file does not signal.
      case packed(PackingLayout)
      /// H.265 with only the left eye.
      case mono
    }

    /// Rate control, for both eyes together.
    public enum Rate: Equatable, Sendable {
      /// Constant quality (CRF of x265 and x264), from 0, the best, to 51. For H.264 it is rounded
      /// to a whole number up to 50, and 0 is lossless.
      case quality(Double)
      /// Average bit rate in bits per second, 1000 to 1,600,000,000.
      case bitsPerSecond(Int)
    }

    /// The encoder preset of x265 and x264: slower ones compress better.
    public enum Speed: String, CaseIterable, Sendable {
      case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
    }

    /// The arrangement of the eyes.
    public var layout = Layout.multiview
    /// The rate control.
    public var rate = Rate.quality(22)
    /// The encoder preset.
    public var speed = Speed.medium
    /// The stereo geometry. For nil fields, `mvhevcmux` chooses the defaults: the field of view of
    /// a phone, the distance between human eyes, the left eye in the base layer. The field of view
    /// is at most 360 degrees, the baseline above 0 and at most 100 metres, the disparity
    /// adjustment at most one picture width.
    public var spatial = SpatialMetadata()
    /// Frame rate in frames per second, above 0 and at most 1000, for rate control; nil for the one
    /// that the first frame's duration implies. It does not change the times of the frames.
    public var frameRate: Double?
    /// Maximum distance between keyframes in frames: 1 to 1,000,000.
    public var keyframeDistance = 60
    /// The mastering display of HDR video; nil if it is unknown.
    public var masteringDisplay: MasteringDisplayColourVolume?
    /// The light levels of HDR video; nil if they are unknown.
    public var contentLightLevel: ContentLightLevel?
    /// The title, date, place and so on. Nil fields are those of the movie ``audio``, if there is
    /// one.
    public var metadata = StereoMovie.Metadata()
    /// The movie whose audio tracks are copied without re-encoding, along with all its metadata;
    /// nil for none.
    public var audio: StereoMovie?
    /// Whether an existing file of the same name is replaced.
    public var replaces = false
    /// Whether the incomplete movie remains after an error, or if the writer is released before its
    /// end. A program that crashes leaves it in either case.
    public var keepsIncomplete = true

    /// Creates the default settings: MV-HEVC, quality 22, preset `medium`, no audio.
    public init() {}
  }
}

extension StereoWriter.Settings {
  /// Throws if a number is out of range.
  func check() throws(StereoMediaError) {
    if case .packed(let packing) = layout, packing.arrangement == .frameByFrame {
      throw StereoMediaError(
        .outOfRange, "a movie file cannot signal that the eyes alternate from frame to frame",
        hint: "pack them side by side or top and bottom")
    }
    switch rate {
    case .quality(let quality): try Self.check(quality, in: 0...51, "a quality")
    case .bitsPerSecond(let rate):
      try Self.check(Double(rate), in: 1000...1_600_000_000, "a bit rate in bit/s")
    }
    try Self.check(frameRate ?? 1, in: 0.001...1000, "a frame rate")
    try Self.check(Double(keyframeDistance), in: 1...1_000_000, "a keyframe distance")
    if let view = spatial.horizontalFieldOfView?.degrees {
      try Self.check(view, in: SpatialMetadata.writableFieldsOfView, "a field of view in degrees")
    }
    if let baseline = spatial.baseline?.millimetres {
      try Self.check(baseline, in: SpatialMetadata.writableBaselines, "a baseline in millimetres")
    }
    if let shift = spatial.disparityAdjustment?.pictureWidths {
      try Self.check(shift, in: SpatialMetadata.writableDisparities, "a disparity adjustment")
    }
    try metadata.check()
  }

  /// Throws if the encoders cannot encode pictures of this size.
  func check(sizeOfEye picture: Picture) throws(StereoMediaError) {
    let (width, height) = (picture.width, picture.height)
    guard min(width, height) >= 16, max(width, height) <= 16_888, width * height <= 35_651_584,
      width.isMultiple(of: 2), height.isMultiple(of: 2)
    else {
      throw StereoMediaError(
        .invalidInput,
        "an eye's picture of \(width)x\(height) pixels cannot be encoded: both sides have to be "
          + "even and at least 16, and together at most 35,651,584 pixels (H.265 level 6.2)",
        hint: "scale it with 'converted(to:size:)'")
    }
  }

  /// The metadata of the movie as tags; nil if there are none.
  var tags: TagList? {
    (audio.map { metadata.fillingGaps(from: $0.metadata) } ?? metadata).tags
  }

  /// Returns caps of raw video with the metadata of HDR.
  func addingLightLevels(to caps: Caps) -> Caps {
    var caps = caps
    if let masteringDisplay { caps = masteringDisplay.adding(to: caps) }
    if let contentLightLevel { caps = contentLightLevel.adding(to: caps) }
    return caps
  }

  private static func check(
    _ number: Double, in range: ClosedRange<Double>, _ what: String
  ) throws(StereoMediaError) {
    guard !range.contains(number) else { return }
    throw StereoMediaError(
      .outOfRange, "\(what) is from \(range.lowerBound) to \(range.upperBound), not \(number)")
  }
}

extension SpatialMetadata {
  fileprivate static let writableFieldsOfView = 0.001...360.0
  fileprivate static let writableBaselines = 0.001...100_000.0
  fileprivate static let writableDisparities = -1.0...1.0

  /// The fields whose values can be written; files may contain any values.
  var writable: SpatialMetadata {
    var result = self
    if let view = horizontalFieldOfView, !Self.writableFieldsOfView.contains(view.degrees) {
      result.horizontalFieldOfView = nil
    }
    if let baseline, !Self.writableBaselines.contains(baseline.millimetres) {
      result.baseline = nil
    }
    if let shift = disparityAdjustment, !Self.writableDisparities.contains(shift.pictureWidths) {
      result.disparityAdjustment = nil
    }
    return result
  }
}
