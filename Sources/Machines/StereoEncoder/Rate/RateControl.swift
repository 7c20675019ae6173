// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// How much the two eyes together may cost.
public enum RateControl: Equatable, Sendable {
  /// Constant quality (x265's CRF), from 0, the best, to 51. With `buffer`, quality is given up
  /// where it would cost more than the buffer allows.
  case quality(Double, buffer: VideoBuffer? = nil)
  /// An average rate with a limited peak, in kbit/s for both eyes together. Without `buffer`, the
  /// peak is one and a half times the average, and the buffer holds one second of the peak.
  case bitrate(kilobitsPerSecond: Int, buffer: VideoBuffer? = nil)

  /// The video buffering verifier (H.265 Annex C), for both eyes together.
  public struct VideoBuffer: Equatable, Sendable {
    /// The rate at which the buffer fills, in kbit/s.
    public var maximumRate: Int
    /// What the buffer holds, in kbit.
    public var size: Int

    public init(maximumRate: Int, size: Int) {
      self.maximumRate = maximumRate
      self.size = size
    }
  }
}

extension RateControl {
  /// Highest rate taken, in kbit/s: level 6.2, high tier, allows 800,000 for one layer.
  private static let highestRate = 1_600_000

  func validate() throws(StereoEncoderError) {
    switch self {
    case .quality(let crf, let buffer):
      guard (0...51).contains(crf) else {
        throw .setting(name: "quality", reason: "\(crf) is outside 0...51")
      }
      try buffer?.validate(name: "quality", leastRate: 16)
    case .bitrate(let rate, let buffer):
      // A share of less than a few kbit/s rounds to nothing.
      guard (16...Self.highestRate).contains(rate) else {
        throw .setting(
          name: "bitrate", reason: "\(rate) kbit/s is outside 16...\(Self.highestRate)")
      }
      try buffer?.validate(name: "bitrate", leastRate: rate)
    }
  }

  /// Whether one rate control decides for both eyes; else each eye has the same constant quality.
  var isShared: Bool {
    if case .quality(_, nil) = self { return false }
    return true
  }

  /// The buffer of both eyes; nil without limits.
  var effectiveBuffer: VideoBuffer? {
    switch self {
    case .quality(_, let buffer): return buffer
    case .bitrate(let rate, let buffer):
      let peak = rate * 3 / 2
      return buffer ?? VideoBuffer(maximumRate: peak, size: peak)
    }
  }
}

extension RateControl.VideoBuffer {
  fileprivate func validate(name: String, leastRate: Int) throws(StereoEncoderError) {
    let rates = leastRate...(2 * RateControl.highestRate)
    guard rates.contains(maximumRate) else {
      throw .setting(
        name: name,
        reason: "the maximum rate, \(maximumRate) kbit/s, is outside "
          + "\(rates.lowerBound)...\(rates.upperBound)")
    }
    let sizes = 16...(100 * RateControl.highestRate)
    guard sizes.contains(size) else {
      throw .setting(
        name: name,
        reason: "the buffer of \(size) kbit is outside \(sizes.lowerBound)...\(sizes.upperBound)")
    }
  }
}

#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// One of two passes over the same pictures, which meet a bitrate at the quality that is most even.
///
/// The first codes at constant quality and writes down what each picture takes, in a file for each eye.
/// The second spends its bitrate by that, at the same quality in all pictures of both eyes.
/// Pictures, their rate, the keyframe distance and the prediction between the eyes have to be the same in both.
public enum EncodingPass: Equatable, Sendable {
  /// Writes the statistics: `PATH.left`, `PATH.right`, a second file behind each of the names with
  /// `.cutree`, and one with `.keyframes` for the dependent eye. They are complete once the encoder is gone.
  case first(statistics: String)
  /// Reads them.
  case second(statistics: String)
}

extension EncodingPass {
  var path: String {
    switch self {
    case .first(let path), .second(let path): path
    }
  }

  func file(of eye: Eye) -> String { "\(path).\(eye.rawValue)" }

  /// What `eye`, the dependent one, took for keyframes that were predicted.
  func keyframeFile(of eye: Eye) -> String { file(of: eye) + ".keyframes" }

  /// x265's options for one of the eyes. What it needs to know of the first pass in the second, the shared
  /// rate control reads.
  func options(of eye: Eye) -> [(name: String, value: String)] {
    guard case .first = self else { return [] }
    return [("pass", "1"), ("stats", file(of: eye))]
  }

  /// Throws where the files cannot be used, of which x265 says no more than that it does not open, and
  /// where the pass does not go with the rate control.
  func check(_ rateControl: RateControl) throws(StereoEncoderError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .setting(name: "pass", reason: "its statistics need the name of a file")
    }
    switch (self, rateControl) {
    case (.first, .quality(_, nil)):
      for eye in Eye.allCases {
        fclose(try StatisticsFile.open(file(of: eye), "wb", "cannot be written"))
      }
    case (.first, _):
      throw .setting(
        name: "pass", reason: "the first one measures at a constant quality without limits")
    case (.second, .quality):
      throw .setting(name: "pass", reason: "the second one needs a bitrate")
    case (.second, .bitrate):
      for eye in Eye.allCases {
        fclose(
          try StatisticsFile.open(
            file(of: eye), "rb", "cannot be read; make it with the first pass"))
      }
    }
  }
}
