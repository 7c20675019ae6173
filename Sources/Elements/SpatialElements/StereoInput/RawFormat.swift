// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// A raw format that the encoder takes: where its components are.
struct RawFormat {
  /// As the template's caps list them: first those that are read where they lie.
  static let names = ["I420", "YV12", "I420_10LE", "NV12", "P010_10LE"]

  enum Chroma {
    /// A plane of each component.
    case planes(cb: Int, cr: Int)
    /// One plane of pairs.
    case pairs
  }

  let bitDepth: Int
  let chroma: Chroma
  init?(_ info: VideoInfo) {
    switch info.formatName {
    case "I420": (bitDepth, chroma) = (8, .planes(cb: 1, cr: 2))
    case "YV12": (bitDepth, chroma) = (8, .planes(cb: 2, cr: 1))
    case "I420_10LE": (bitDepth, chroma) = (10, .planes(cb: 1, cr: 2))
    case "NV12": (bitDepth, chroma) = (8, .pairs)
    case "P010_10LE": (bitDepth, chroma) = (10, .pairs)
    default: return nil
    }
  }
}
