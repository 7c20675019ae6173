// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The encoder of the dependent eye's keyframes: each is a P picture, predicted from what a decoder
/// makes of the base eye's.
///
/// It is given pairs of pictures: the base eye's reconstruction, at so low a QP that next to nothing
/// is lost, and the dependent eye's picture, which has that one reference. Weaving makes the second
/// the dependent layer's IDR picture, and throws the first away. Both are P pictures, for x265 is
/// quicker at these, even where the only picture to refer to is flat: the one IDR picture before all.
final class KeyframePredictor {
  /// The base eye's keyframe.
  struct Reference: Sendable {
    /// What a decoder makes of it.
    let picture: Picture
    let averageQP: Double
    let byteCount: Int
  }

  /// The dependent eye's keyframe.
  struct Prediction {
    let units: CodedUnits
    let averageQP: Double
    let reconstruction: Picture
    /// For the picture that is coded with the reconstruction in its place, and thrown away.
    let discardedQP: Int
    /// What it would probably cost on its own, at the same QP.
    let plainByteCount: Int

    /// How many bytes it probably saves; 0 where it is not worth it.
    ///
    /// At the same QP, what x265 finds no prediction for is less good in a P picture than in an IDR
    /// picture, and so is all that refers to it: up to a quarter less is none.
    var saving: Int {
      let saving = plainByteCount - units.bytes.count
      return saving > plainByteCount / 4 ? saving : 0
    }
  }

  /// By how much the QP of pictures that are thrown away is below the predicted keyframe's: what their
  /// reconstructions differ by from what was given then takes less than 0.1 dB off the pictures behind.
  private static let discardedQPOffset = 16

  /// NAL units.
  let parameterSets: [[UInt8]]
  private let eye: Eye
  private let encoder: X265Encoder
  private let layout: PictureLayout
  private let offset: Double
  private var count: Int64 = 0

  init(
    library: X265Library, configuration: StereoEncoderConfiguration, eye: Eye,
    options: [EncoderOption]
  ) throws(StereoEncoderError) {
    self.eye = eye
    layout = PictureLayout(configuration)
    // Its pictures are not those that the first of two passes is to measure.
    var configuration = configuration
    configuration.pass = nil
    offset =
      Double(configuration.interViewQPOffset)
      + (eye == configuration.baseEye ? 0 : configuration.dependentEyeQualityOffset)
    let parameters = try EyeParameters(
      library: library, configuration: configuration, eye: eye, options: options)
    for (name, value) in [
      // What goes in comes out at once, which x265 does not do with several slices.
      ("bframes", "0"), ("rc-lookahead", "0"), ("lookahead-slices", "0"), ("frame-threads", "1"),
      ("slices", "1"), ("cutree", "false"), ("keyint", "-1"), ("ref", "1"),
      // The base eye's keyframe, which its P picture really refers to, has no motion vectors.
      ("temporal-mvp", "false"),
      // Half of what it codes is thrown away.
      ("signhide", "false"), ("fast-intra", "true"),
    ] {
      try parameters.x265.parse(name, value)
    }
    guard let encoder = X265Encoder(parameters.x265, keepingReconstructions: [.p]) else {
      throw .notOpened(eye: eye)
    }
    self.encoder = encoder
    do throws(X265Encoder.Failure) {
      parameterSets = try encoder.parameterSets()
    } catch {
      throw .encoding(eye: eye, frame: 0, reason: error.reason)
    }
  }

  /// Codes the dependent eye's keyframe.
  ///
  /// - Parameter frame: the place of the picture in display order, for errors.
  func predict(
    _ picture: Picture, frame: Int64, from base: Reference
  ) throws(StereoEncoderError) -> Prediction {
    let qp = min(max(Int((base.averageQP + offset).rounded()), 0), 51)
    let discardedQP = max(qp - Self.discardedQPOffset, 0)
    do throws(X265Encoder.Failure) {
      if count == 0 { _ = try encode(layout.pool().flat(), as: .idr, qp: discardedQP) }
      _ = try encode(base.picture, as: .p, qp: discardedQP)
      let coded = try encode(picture, as: .p, qp: qp)
      guard let reconstruction = coded.reconstruction else {
        throw X265Encoder.Failure(reason: "x265 gave no predicted keyframe")
      }
      // Six steps of QP halve the size.
      let scale = exp2((base.averageQP - Double(qp)) / 6)
      return Prediction(
        units: coded.units, averageQP: coded.averageQP, reconstruction: reconstruction,
        discardedQP: discardedQP, plainByteCount: Int(Double(base.byteCount) * scale))
    } catch {
      throw .encoding(eye: eye, frame: frame, reason: error.reason)
    }
  }

  /// Codes a picture, which comes out at once.
  private func encode(
    _ picture: Picture, as type: X265Encoder.PictureType, qp: Int
  ) throws(X265Encoder.Failure) -> X265Encoder.CodedPicture {
    let number = count
    count += 1
    let coded = try encoder.encode(picture, pts: number, type: type, qp: PictureQP(forced: qp))
    guard let coded, coded.pts == number, coded.type == type else {
      throw X265Encoder.Failure(reason: "x265 did not code a picture of the predicted keyframes")
    }
    return coded
  }
}

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What the first of two passes writes down of the dependent eye's keyframes that are predicted from the base
/// eye's: in x265's own statistics stands what the picture took that is thrown away.
///
/// A line for each, `in:60 bits:7204`, with the place in display order. Whole once nobody has it any more.
final class PredictedKeyframeLog {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

  /// Begins the file anew.
  init(_ path: String) throws(StereoEncoderError) {
    file = try StatisticsFile.open(path, "wb", "cannot be written")
    self.path = path
  }

  deinit { fclose(file) }

  func note(frame: Int64, bits: Int) throws(X265Encoder.Failure) {
    guard fputs("in:\(frame) bits:\(bits)\n", file) >= 0, fflush(file) == 0 else {
      throw X265Encoder.Failure(
        reason: "'\(path)' could not be written (\(String(cString: strerror(errno))))")
    }
  }
}
