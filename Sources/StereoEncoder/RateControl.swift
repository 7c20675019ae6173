import Glibc

/// How much the two eyes together may cost.
public enum RateControl: Equatable, Sendable {
  /// Constant quality (x265's CRF), from 0, the best, to 51.
  case quality(Double)
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
  static let highestRate = 1_600_000

  func validate() throws(StereoEncoderError) {
    switch self {
    case .quality(let crf):
      guard (0...51).contains(crf) else {
        throw .setting(name: "quality", reason: "\(crf) is outside 0...51")
      }
    case .bitrate(let rate, let buffer):
      // One eye's share of less than a few kbit/s rounds to nothing.
      guard (16...Self.highestRate).contains(rate) else {
        throw .setting(
          name: "bitrate", reason: "\(rate) kbit/s is outside 16...\(Self.highestRate)")
      }
      guard let buffer else { return }
      guard (rate...(2 * Self.highestRate)).contains(buffer.maximumRate) else {
        throw .setting(
          name: "bitrate",
          reason: "the maximum rate, \(buffer.maximumRate) kbit/s, is outside "
            + "\(rate)...\(2 * Self.highestRate)")
      }
      guard (16...(100 * Self.highestRate)).contains(buffer.size) else {
        throw .setting(
          name: "bitrate",
          reason: "the buffer of \(buffer.size) kbit is outside 16...\(100 * Self.highestRate)")
      }
    }
  }

  /// x265's options for one of the eyes, after `validate()`.
  ///
  /// Six steps of QP halve the rate, so an offset of the dependent eye becomes its share.
  func options(dependent: Bool, qualityOffset: Double) -> [(name: String, value: String)] {
    switch self {
    case .quality(let crf):
      let value = dependent ? min(max(crf + qualityOffset, 0), 51) : crf
      return [("crf", "\(value)")]
    case .bitrate(let rate, let buffer):
      let ratio = exp2(-qualityOffset / 6)
      let share = dependent ? ratio / (1 + ratio) : 1 / (1 + ratio)
      let peak = buffer?.maximumRate ?? rate * 3 / 2
      let part = { (both: Int) in "\(max(1, Int((Double(both) * share).rounded())))" }
      return [
        ("bitrate", part(rate)),
        ("vbv-maxrate", part(peak)),
        ("vbv-bufsize", part(buffer?.size ?? peak)),
      ]
    }
  }
}
