// SPDX-License-Identifier: MPL-2.0

public import HEVC
public import ISOBMFF

/// Why a player gives no more.
public enum MoviePlayerError: Error, Sendable {
  /// The input has no bytes.
  case empty
  /// The input is no movie, or its index cannot be read, or asks for more than there is.
  case unreadable(ISOBMFFError)
  /// The movie has no track with samples.
  case noTracks
  /// The input ended before anything in it could be played.
  case nothingPlayable
  /// The decoder configuration records or parameter sets that came beside a stream cannot be read:
  /// why.
  case configuration(String)
  /// The input is no H.265 byte stream.
  case noByteStream(AccessUnitAssembler.TooLarge)
  /// The source was moved, and does not go back.
  case sourceLost
  /// The source was moved to this byte as it said that it could be, and gives nothing there.
  case deadEnd(UInt64)
}

extension MoviePlayerError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: "The input is empty."
    case .unreadable(let error): "The movie cannot be read: \(error)."
    case .noTracks: "The movie has no track with samples."
    case .nothingPlayable: "The stream ended before anything in it could be played."
    case .configuration(let reason):
      "The stream's codec_data is not a decoder configuration record: \(reason)."
    case .noByteStream(let error): "\(error)"
    case .sourceLost: "The input was sought, and does not go back to its start."
    case .deadEnd(let place):
      "The input says that it can be sought, but gives nothing from byte \(place) on."
    }
  }
}
