// SPDX-License-Identifier: MPL-2.0

public import GStreamer
public import HEVC
public import ISOBMFF
public import MoviePlayer
public import StereoEncoder
public import StereoVideo

// Maps the errors of lower targets to GStreamer's error domains and codes.

extension WeaveError: ElementErrorConvertible {
  /// The error as `.mux`, with the encoder settings that avoid it.
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
  /// The error as `.settings` if the configuration is at fault, else as `.encode`.
  public var elementError: ElementError {
    switch self {
    case .library, .setting, .unknownOption, .optionValue, .refusedOption, .notOpened:
      ElementError(.settings, "The encoder cannot be set up: \(self).")
    default: ElementError(.encode, "Encoding failed: \(self).")
    }
  }
}

extension MovieWriterError: ElementErrorConvertible {
  /// The error as `.mux`: input that cannot be stored in a movie.
  public var elementError: ElementError {
    ElementError(.mux, "The movie cannot hold this: \(self).")
  }
}

extension SyntaxError: ElementErrorConvertible {
  /// The error as `.format`: damaged H.265 syntax.
  public var elementError: ElementError {
    ElementError(.format, "The H.265 stream is damaged: \(self).")
  }
}

extension ISOBMFFError: ElementErrorConvertible {
  /// The error as `.demux`: a damaged or unsupported movie file.
  public var elementError: ElementError {
    ElementError(.demux, "The movie cannot be read: \(self).")
  }
}

extension FlattenError: ElementErrorConvertible {
  /// The error as `.decode`: layers that cannot be flattened.
  public var elementError: ElementError {
    var hint = ""
    if case .missingParameterSet = self {
      hint =
        " If qtdemux is upstream, use mvhevcdemux: qtdemux does not hand on those of the "
        + "second layer."
    }
    return ElementError(.decode, "The two layers cannot be flattened: \(self).\(hint)")
  }
}

extension LengthPrefixed.Malformed: ElementErrorConvertible {
  /// The error as `.format`: damaged NAL unit lengths.
  public var elementError: ElementError {
    ElementError(.format, "The H.265 stream is damaged: \(self).")
  }
}

extension MoviePlayerError: ElementErrorConvertible {
  /// The error as `.wrongType`, `.format`, `.seek` or `.demux`, depending on its cause.
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
  /// The error as `.noSpaceLeft`: the temporary file cannot be written.
  public var elementError: ElementError {
    ElementError(
      .noSpaceLeft,
      "The part of the movie before its index cannot be stored: \(self).")
  }
}
