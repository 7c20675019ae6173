// SPDX-License-Identifier: MPL-2.0

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
