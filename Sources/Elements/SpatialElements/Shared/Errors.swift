// SPDX-License-Identifier: MPL-2.0

public import GStreamer
public import HEVC
public import ISOBMFF
public import MoviePlayer
public import StereoEncoder
public import StereoVideo

// Maps the errors of lower targets to GStreamer's error domains and codes.

extension WeaveError: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.mux, "The two eyes cannot be woven: \(self)." + (advice.map { " \($0)." } ?? ""))
  }

  /// Settings that avoid the error.
  private var advice: String? {
    switch self {
    case .unpairedRandomAccess, .differentFrameTypes, .differentPictureOrderCounts:
      "Set option-string=b-adapt=0:scenecut=0:open-gop=0 and the same key-int-max on both x265enc, "
        + "or use mvhevcenc"
    case .differentTemporalSubLayers, .differentPictureOrderCountSizes:
      "Give both encoders the same options, or use mvhevcenc"
    default: nil
    }
  }
}

extension StereoEncoderError: ElementErrorConvertible {
  public var elementError: ElementError {
    switch self {
    case .library, .setting, .unknownOption, .optionValue, .refusedOption, .notOpened:
      ElementError(.settings, "The encoder cannot be set up: \(self).")
    default: ElementError(.encode, "Encoding failed: \(self).")
    }
  }
}

extension MovieWriterError: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.mux, "The movie cannot hold this: \(self).")
  }
}

extension SyntaxError: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.format, "The H.265 stream is damaged: \(self).")
  }
}

extension ISOBMFFError: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.demux, "The movie cannot be read: \(self).")
  }
}

extension FlattenError: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.decode, "The two layers cannot be flattened: \(self).")
  }
}

extension LengthPrefixed.Malformed: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(.format, "The H.265 stream is damaged: \(self).")
  }
}

extension MoviePlayerError: ElementErrorConvertible {
  public var elementError: ElementError {
    switch self {
    case .empty: ElementError(.wrongType, "\(self)")
    case .unreadable(let error): error.elementError
    case .configuration, .noByteStream: ElementError(.format, "\(self)")
    case .sourceLost, .deadEnd: ElementError(.seek, "\(self)")
    case .noTracks, .nothingPlayable: ElementError(.demux, "\(self)")
    }
  }
}

extension ByteSpool.Failure: ElementErrorConvertible {
  public var elementError: ElementError {
    ElementError(
      .noSpaceLeft,
      "The part of the movie before its index cannot be stored: \(self).")
  }
}
