// SPDX-License-Identifier: MPL-2.0

import StereoVideo

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The encoder of the dependent eye's keyframes: each is a P picture, predicted from the base eye's
/// decoded keyframe.
///
/// It encodes pairs of pictures: the base eye's decoded keyframe, at a QP so low that almost
/// nothing is lost, and the dependent eye's picture, whose only reference is the former. Weaving
/// turns the second into the dependent layer's IDR picture and discards the first. Both are P
/// pictures because x265 encodes these faster, even if the only picture to refer to is flat: the
/// single IDR picture at the start.
final class KeyframePredictor {
  /// The base eye's keyframe.
  struct Reference: Sendable {
    /// The decoded picture.
    let picture: Picture
    let averageQP: Double
    let byteCount: Int
  }

  /// The dependent eye's keyframe.
  struct Prediction {
    let units: CodedUnits
    let averageQP: Double
    let reconstruction: Picture
    /// QP for the discarded picture, which the dependent eye's encoder makes of `reconstruction`.
    let discardedQP: Int
    /// Estimated size if coded on its own, at the same QP.
    let plainByteCount: Int

    /// Estimated number of bytes saved; 0 if prediction is not worth it.
    ///
    /// At the same QP, areas without a good prediction are worse in a P picture than in an IDR
    /// picture, and so are all pictures that refer to them: a saving of up to a quarter does not
    /// count.
    var saving: Int {
      let saving = plainByteCount - units.bytes.count
      return saving > plainByteCount / 4 ? saving : 0
    }
  }

  /// How far the QP of discarded pictures is below the predicted keyframe's. The difference between
  /// their input and reconstruction then costs later pictures less than 0.1 dB.
  private static let discardedQPOffset = 16

  /// Parameter sets of the predicted keyframes, as NAL units.
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
    // The first of two passes must not measure these pictures.
    var configuration = configuration
    configuration.pass = nil
    offset =
      Double(configuration.interViewQPOffset)
      + (eye == configuration.baseEye ? 0 : configuration.dependentEyeQualityOffset)
    let parameters = try EyeParameters(
      library: library, configuration: configuration, eye: eye, options: options)
    for (name, value) in [
      // Each picture must come out at once; with several slices it does not.
      ("bframes", "0"), ("rc-lookahead", "0"), ("lookahead-slices", "0"), ("frame-threads", "1"),
      ("slices", "1"), ("cutree", "false"), ("keyint", "-1"), ("ref", "1"),
      // In the woven stream, the P picture refers to the base eye's keyframe, which has no motion
      // vectors.
      ("temporal-mvp", "false"),
      // Half of the pictures are discarded, so speed is worth more.
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

  /// Encodes the dependent eye's keyframe.
  ///
  /// - Parameter frame: the number of the picture in display order, for errors.
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
        throw X265Encoder.Failure(reason: "x265 returned no predicted keyframe")
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

  /// Encodes a picture, which comes out at once.
  private func encode(
    _ picture: Picture, as type: X265Encoder.PictureType, qp: Int
  ) throws(X265Encoder.Failure) -> X265Encoder.CodedPicture {
    let number = count
    count += 1
    let coded = try encoder.encode(picture, pts: number, type: type, qp: PictureQP(forced: qp))
    guard let coded, coded.pts == number, coded.type == type else {
      throw X265Encoder.Failure(reason: "x265 did not return a picture of the predicted keyframes")
    }
    return coded
  }
}

/// The file in which the first of two passes records the sizes of the dependent eye's predicted
/// keyframes; x265's own statistics have those of the discarded pictures.
///
/// One line per keyframe, `in:60 bits:7204`, with the number in display order. Complete once this
/// object is released.
final class PredictedKeyframeLog {
  private let path: String
  private let file: UnsafeMutablePointer<FILE>

  /// Creates the file, or empties it.
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
