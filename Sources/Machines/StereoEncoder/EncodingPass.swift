// SPDX-License-Identifier: MPL-2.0

internal import StereoVideo

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
