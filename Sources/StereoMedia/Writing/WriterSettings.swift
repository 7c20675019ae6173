// SPDX-License-Identifier: MPL-2.0

public import StereoVideo

extension StereoWriter {
  /// How a movie is written.
  public struct Settings: Sendable {
    /// How many bits the pictures of both eyes may take.
    public enum Rate: Equatable, Sendable {
      /// As many as a constant quality takes (x265's CRF): 0 is the best, 51 the smallest.
      case quality(Double)
      /// So many bits a second on average, 1000 to 1,600,000,000.
      case bitsPerSecond(Int)
    }

    /// How much time is spent on compression: x265's presets.
    public enum Speed: String, CaseIterable, Sendable {
      case ultrafast, superfast, veryfast, faster, fast, medium, slow, slower, veryslow, placebo
    }

    /// How many bits the pictures take.
    public var rate = Rate.quality(22)
    /// How much time is spent on compression.
    public var speed = Speed.medium
    /// How the pair was shot. What is nil becomes what `mvhevcmux` takes it for: the field of view of
    /// a phone, a person's eye distance, the left eye in the base layer.
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
    switch rate {
    case .quality(let quality): try Self.check(quality, in: 0...51, "a quality")
    case .bitsPerSecond(let rate):
      try Self.check(Double(rate), in: 1000...1_600_000_000, "a rate in bits a second")
    }
    try Self.check(frameRate ?? 1, in: 0.001...1000, "a frame rate")
    try Self.check(Double(keyframeDistance), in: 1...1_000_000, "a distance of keyframes")
  }

  private static func check(
    _ number: Double, in range: ClosedRange<Double>, _ what: String
  ) throws(StereoMediaError) {
    guard !range.contains(number) else { return }
    throw StereoMediaError(
      .outOfRange, "\(what) is from \(range.lowerBound) to \(range.upperBound), not \(number)")
  }
}
