import CX265

/// What one eye's encoder has made until now.
public struct EyeStatistics: Equatable, Sendable {
  /// Coded pictures.
  public let frames: Int
  /// Coded bytes, with the parameter sets of each keyframe and four bytes in front of each NAL
  /// unit.
  public let bytes: Int
  /// The rate in kbit/s, at the configured frame rate, or 30 where there is none.
  public let kilobitsPerSecond: Double
  /// The mean QP of all pictures; nil before the first.
  public let averageQP: Double?
  /// In dB, over all planes; nil unless the option string has `psnr:log-level=info`: x265 measures
  /// only what it also prints.
  public let psnr: Double?
  /// Nil unless the option string has `ssim:log-level=info`.
  public let ssim: Double?

  init(_ stats: x265_stats, bytes: Int, framesPerSecond: Double) {
    let types = [stats.statsI, stats.statsP, stats.statsB]
    let pictures = types.reduce(0) { $0 + Double($1.numPics) }
    frames = Int(stats.encodedPictureCount)
    self.bytes = bytes
    kilobitsPerSecond =
      frames > 0 ? Double(bytes) * 8 / 1000 * framesPerSecond / Double(frames) : 0
    averageQP =
      pictures > 0 ? types.reduce(0) { $0 + $1.avgQp * Double($1.numPics) } / pictures : nil
    psnr = stats.globalPsnr > 0 ? stats.globalPsnr : nil
    ssim = stats.globalSsim > 0 ? stats.globalSsim : nil
  }
}
