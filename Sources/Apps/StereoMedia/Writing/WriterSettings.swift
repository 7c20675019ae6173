// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension StereoWriter {
  /// How a movie is written.
  public struct Settings: Sendable {
    /// How a movie holds the eyes.
    public enum Layout: Equatable, Sendable {
      /// MV-HEVC: each eye in a layer of its own. Players that know one layer show one eye.
      case multiview
      /// H.264 with both eyes in each frame, beside or above each other, as television sets and web
      /// players take it. Without ``/StereoVideo/PackingLayout/halfAspect``, a frame is as large as
      /// both eyes together; with it, as one eye, which no movie says of itself.
      case packed(PackingLayout)
      /// H.265 of the left eye alone.
      case mono
    }

    /// How many bits the pictures of both eyes may take.
    public enum Rate: Equatable, Sendable {
      /// As many as a constant quality takes (CRF of x265 and x264): 0 is the best and 51 the smallest.
      /// In H.264 it is rounded to a whole number up to 50, and 0 loses nothing.
      case quality(Double)
      /// So many bits a second on average, 1000 to 1,600,000,000.
      case bitsPerSecond(Int)
    }

    /// How much time is spent on compression: the presets of x265 and x264.
    public enum Speed: String, CaseIterable, Sendable {
      case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
    }

    /// How the movie holds the eyes.
    public var layout = Layout.multiview
    /// How many bits the pictures take.
    public var rate = Rate.quality(22)
    /// How much time is spent on compression.
    public var speed = Speed.medium
    /// How the pair was shot. What is nil becomes what `mvhevcmux` takes it for: the field of view of
    /// a phone, a person's eye distance, the left eye in the base layer. A field of view is up to 360
    /// degrees, a baseline above 0 and up to 100 metres, a disparity up to one width of the picture.
    public var spatial = SpatialMetadata()
    /// Frames a second, above 0 and up to 1000, which rates of bits go by; nil for what the first
    /// frame's duration says. Frames are shown at their own times, whatever this is.
    public var frameRate: Double?
    /// From one keyframe to the next, in frames, at the most: 1 to 1,000,000.
    public var keyframeDistance = 60
    /// All tracks of sound of this movie are copied, without being encoded again; with them come its
    /// title, dates and places.
    public var sound: StereoMovie?
    /// A file of the same name may be replaced.
    public var replaces = false

    public init() {}
  }
}

extension StereoWriter.Settings {
  /// Throws where a number is outside its range.
  func check() throws(StereoMediaError) {
    if case .packed(let packing) = layout, packing.arrangement == .frameByFrame {
      throw StereoMediaError(
        .outOfRange, "no movie says that its eyes are in alternate frames",
        hint: "pack them beside or above each other")
    }
    switch rate {
    case .quality(let quality): try Self.check(quality, in: 0...51, "a quality")
    case .bitsPerSecond(let rate):
      try Self.check(Double(rate), in: 1000...1_600_000_000, "a rate in bits a second")
    }
    try Self.check(frameRate ?? 1, in: 0.001...1000, "a frame rate")
    try Self.check(Double(keyframeDistance), in: 1...1_000_000, "a distance of keyframes")
    if let view = spatial.horizontalFieldOfView?.degrees {
      try Self.check(view, in: SpatialMetadata.writableFieldsOfView, "a field of view in degrees")
    }
    if let baseline = spatial.baseline?.millimetres {
      try Self.check(baseline, in: SpatialMetadata.writableBaselines, "a baseline in millimetres")
    }
    if let shift = spatial.disparityAdjustment?.pictureWidths {
      try Self.check(shift, in: SpatialMetadata.writableDisparities, "a disparity in widths")
    }
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
  static let writableFieldsOfView = 0.001...360.0
  static let writableBaselines = 0.001...100_000.0
  static let writableDisparities = -1.0...1.0

  /// Those fields that a movie can be written with: files may say anything.
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
