// SPDX-License-Identifier: MPL-2.0

import CX265

/// How the first pictures of the dependent eye's groups were coded.
public struct KeyframeStatistics: Equatable, Sendable {
  /// Predicted from the base eye's.
  public private(set) var predicted = 0
  /// Coded by themselves, since prediction would not have cost less.
  public private(set) var plain = 0
  /// Bytes that prediction has saved, by what the base eye's keyframes cost.
  public private(set) var savedBytes = 0

  mutating func note(saving: Int) {
    guard saving > 0 else {
      plain += 1
      return
    }
    predicted += 1
    savedBytes += saving
  }
}

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
  /// Of the dependent eye with inter-view keyframes; nil otherwise.
  public internal(set) var keyframes: KeyframeStatistics?
  private let framesPerSecond: Double

  /// - Parameters:
  ///   - x265: of the encoder.
  ///   - qpCorrection: what its sum of all QPs has to be changed by.
  init(
    _ x265: cx265_statistics, bytes: Int, framesPerSecond: Double, qpCorrection: Double = 0
  ) {
    let (i, p, b) = x265.types
    // The mean of a type without pictures is no number.
    let types = [i, p, b].filter { $0.pictures > 0 }
    let pictures = types.reduce(0) { $0 + Double($1.pictures) }
    let sum = types.reduce(qpCorrection) { $0 + $1.average_qp * Double($1.pictures) }
    frames = Int(x265.pictures)
    self.bytes = bytes
    kilobitsPerSecond = Self.rate(bytes, frames, framesPerSecond)
    averageQP = pictures > 0 ? sum / pictures : nil
    self.framesPerSecond = framesPerSecond
    psnr = x265.psnr > 0 ? x265.psnr : nil
    ssim = x265.ssim > 0 ? x265.ssim : nil
  }

  private init(_ first: EyeStatistics, _ second: EyeStatistics) {
    func mean(_ value: KeyPath<EyeStatistics, Double?>) -> Double? {
      let parts = [first, second].compactMap { part in
        part[keyPath: value].map { ($0, Double(part.frames)) }
      }
      let frames = parts.reduce(0) { $0 + $1.1 }
      return frames > 0 ? parts.reduce(0) { $0 + $1.0 * $1.1 } / frames : nil
    }
    frames = first.frames + second.frames
    bytes = first.bytes + second.bytes
    framesPerSecond = second.framesPerSecond
    kilobitsPerSecond = Self.rate(bytes, frames, framesPerSecond)
    averageQP = mean(\.averageQP)
    psnr = mean(\.psnr)
    ssim = mean(\.ssim)
  }

  /// These pictures and those of `next` behind them.
  func adding(_ next: EyeStatistics) -> EyeStatistics { EyeStatistics(self, next) }

  private static func rate(_ bytes: Int, _ frames: Int, _ framesPerSecond: Double) -> Double {
    frames > 0 ? Double(bytes) * 8 / 1000 * framesPerSecond / Double(frames) : 0
  }
}
