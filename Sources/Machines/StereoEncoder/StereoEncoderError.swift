// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import StereoVideo

/// Why a stereo encoder could not be made, or could not go on.
public enum StereoEncoderError: Error, Equatable, Sendable {
  /// libx265 is not there, has no encoder for this bit depth, or is not the version this was compiled for.
  case library(String)
  /// A setting has a value outside what is possible; `reason` says what is.
  case setting(name: String, reason: String)
  /// x265 knows no option of this name.
  case unknownOption(name: String)
  /// x265 cannot use this value for this option.
  case optionValue(name: String, value: String)
  /// The option cannot be used for two encoders in step; `reason` says why.
  case refusedOption(name: String, reason: String)
  /// x265 opened no encoder with these settings.
  case notOpened(eye: Eye)
  /// A picture cannot be read as the configuration says.
  case picture(eye: Eye, reason: String)
  /// Timestamps must rise from one call to the next.
  case timestamp(previous: Int64, given: Int64)
  /// x265 failed on a picture, or lost one.
  case encoding(eye: Eye, frame: Int64, reason: String)
  /// The two encoders did not make the same kind of picture at the same place.
  case outOfStep(String)
  /// What the two encoders made does not fit into one stream.
  case weaving(WeaveError)
  /// The encoder has finished or failed, and takes no more pictures.
  case closed
}

extension StereoEncoderError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .library(let reason):
      return reason
    case .setting(let name, let reason):
      return "\(name): \(reason)"
    case .unknownOption(let name):
      return "x265 has no option named “\(name)”"
    case .optionValue(let name, let value):
      return "x265 takes no “\(value)” for its option “\(name)” with these settings"
    case .refusedOption(let name, let reason):
      return "x265 option “\(name)” cannot be used here: \(reason)"
    case .notOpened(let eye):
      return "x265 opened no encoder for the \(eye.rawValue) eye with these settings; "
        + "with log-level=error in the option string it prints the reason on stderr"
    case .picture(let eye, let reason):
      return "the picture of the \(eye.rawValue) eye: \(reason)"
    case .timestamp(let previous, let given):
      return "timestamp \(given) does not come after the one before it, \(previous)"
    case .encoding(let eye, let frame, let reason):
      return "the x265 encoder of the \(eye.rawValue) eye, frame \(frame): \(reason)"
    case .outOfStep(let reason):
      return "the encoders of the two eyes are no longer in step: \(reason)"
    case .weaving(let error):
      return "what the encoders of the two eyes made cannot be woven: \(error)"
    case .closed:
      return "the encoder is closed and takes no more pictures"
    }
  }
}
