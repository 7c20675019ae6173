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

  /// - Parameter stats: an `x265_stats`.
  init(
    _ stats: UnsafeMutableRawPointer, _ layout: X265Layout.Statistics, bytes: Int,
    framesPerSecond: Double
  ) {
    let types = [layout.statsI, layout.statsP, layout.statsB].map {
      (quantizer: stats[$0.avgQp], pictures: Double(stats[$0.numPics]))
    }
    let pictures = types.reduce(0) { $0 + $1.pictures }
    frames = Int(stats[layout.encodedPictureCount])
    self.bytes = bytes
    kilobitsPerSecond =
      frames > 0 ? Double(bytes) * 8 / 1000 * framesPerSecond / Double(frames) : 0
    averageQP =
      pictures > 0 ? types.reduce(0) { $0 + $1.quantizer * $1.pictures } / pictures : nil
    psnr = stats[layout.globalPsnr] > 0 ? stats[layout.globalPsnr] : nil
    ssim = stats[layout.globalSsim] > 0 ? stats[layout.globalSsim] : nil
  }
}
