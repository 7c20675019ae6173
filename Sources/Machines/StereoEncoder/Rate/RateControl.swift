// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The rate control of both eyes together.
public enum RateControl: Equatable, Sendable {
  /// Constant quality (x265's CRF), from 0, the best, to 51. With `buffer`, quality is reduced when
  /// pictures would otherwise exceed the buffer.
  case quality(Double, buffer: VideoBuffer? = nil)
  /// An average rate with a limited peak, in kbit/s for both eyes together. Without `buffer`, the
  /// peak is one and a half times the average, and the buffer holds one second of the peak.
  case bitrate(kilobitsPerSecond: Int, buffer: VideoBuffer? = nil)

  /// The video buffering verifier (H.265 Annex C), for both eyes together.
  public struct VideoBuffer: Equatable, Sendable {
    /// The rate at which the buffer fills, in kbit/s.
    public var maximumRate: Int
    /// The capacity of the buffer, in kbit.
    public var size: Int

    /// Creates a buffer: the maximum rate in kbit/s, the size in kbit.
    public init(maximumRate: Int, size: Int) {
      self.maximumRate = maximumRate
      self.size = size
    }
  }
}

extension RateControl {
  /// The highest rate accepted, in kbit/s: level 6.2, high tier, allows 800,000 for one layer.
  private static let highestRate = 1_600_000

  /// The lowest rate accepted, in kbit/s: an eye's share of less than a few rounds to zero.
  package static let lowestRate = 16

  func validate() throws(StereoEncoderError) {
    switch self {
    case .quality(let crf, let buffer):
      guard (0...51).contains(crf) else {
        throw .setting(name: "quality", reason: "\(crf) is outside 0...51")
      }
      try buffer?.validate(name: "quality", minimumRate: Self.lowestRate)
    case .bitrate(let rate, let buffer):
      guard (Self.lowestRate...Self.highestRate).contains(rate) else {
        throw .setting(
          name: "bitrate",
          reason: "\(rate) kbit/s is outside \(Self.lowestRate)...\(Self.highestRate)"
            + (rate > Self.highestRate ? "; if it is in bit/s, divide it by 1000" : ""))
      }
      try buffer?.validate(name: "bitrate", minimumRate: rate)
    }
  }

  /// Whether one rate control decides for both eyes; if not, each eye has the same constant
  /// quality.
  var isShared: Bool {
    if case .quality(_, nil) = self { return false }
    return true
  }

  /// The buffer of both eyes; nil without limits.
  package var effectiveBuffer: VideoBuffer? {
    switch self {
    case .quality(_, let buffer): return buffer
    case .bitrate(let rate, let buffer):
      let peak = rate * 3 / 2
      return buffer ?? VideoBuffer(maximumRate: peak, size: peak)
    }
  }
}

extension RateControl.VideoBuffer {
  fileprivate func validate(name: String, minimumRate: Int) throws(StereoEncoderError) {
    let rates = minimumRate...(2 * RateControl.highestRate)
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

/// One of two passes over the same pictures, which together meet a bitrate with the most even
/// quality.
///
/// The first encodes at constant quality and records the bits of each picture, in a file for each
/// eye. The second distributes its bitrate accordingly, at the same quality in all pictures of both
/// eyes. The pictures, their rate, the keyframe distance and inter-view prediction must be the same
/// in both.
public enum EncodingPass: Equatable, Sendable {
  /// Writes the statistics: `PATH.left` and `PATH.right`, a second file for each with `.cutree`
  /// appended to its name, and for the dependent eye a third with `.keyframes`. They are complete
  /// once the encoder is released.
  case first(statistics: String)
  /// Reads the statistics.
  case second(statistics: String)
}

extension EncodingPass {
  var path: String {
    switch self {
    case .first(let path), .second(let path): path
    }
  }

  func file(of eye: Eye) -> String { "\(path).\(eye.rawValue)" }

  /// Returns the path of the file with the sizes of predicted keyframes. `eye` is the dependent
  /// one.
  func keyframeFile(of eye: Eye) -> String { file(of: eye) + ".keyframes" }

  /// Returns x265's options for one of the eyes: none in the second pass, in which the shared rate
  /// control reads the statistics instead of x265.
  func options(of eye: Eye) -> [(name: String, value: String)] {
    guard case .first = self else { return [] }
    return [("pass", "1"), ("stats", file(of: eye))]
  }

  /// Throws if the pass does not fit the rate control, or if its files cannot be opened; x265 would
  /// only refuse to open an encoder.
  func check(_ rateControl: RateControl) throws(StereoEncoderError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw .setting(name: "pass", reason: "its statistics require a file name")
    }
    switch (self, rateControl) {
    case (.first, .quality(_, nil)):
      for eye in Eye.allCases {
        fclose(try StatisticsFile.open(file(of: eye), "wb", "cannot be written"))
      }
    case (.first, _):
      throw .setting(
        name: "pass", reason: "the first pass requires a constant quality without limits")
    case (.second, .quality):
      throw .setting(name: "pass", reason: "the second pass requires a bitrate")
    case (.second, .bitrate):
      for eye in Eye.allCases {
        fclose(
          try StatisticsFile.open(
            file(of: eye), "rb", "cannot be read; run the first pass to create it"))
      }
    }
  }
}
