// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF

/// Tracks that are neither video nor audio, as `mvhevcdemux` gives them: metadata that belongs to
/// moments, time codes, texts. Their samples go into a movie as they are.
enum MuxMetaCaps {
  static let template = CodecTable.meta.caps

  /// The sample entry for fixed caps.
  ///
  /// - Parameter track: what the movie said of the track that the stream comes from.
  static func sampleEntry(
    _ caps: Caps, pad: String, track: PrivateTrack?
  ) throws -> OtherSampleEntry {
    guard let structure = caps.first, let type = CodecTable.meta.type(of: structure),
      let payload = structure.buffer("codec_data")
    else {
      throw ElementError(
        .format, "The stream on \(pad) does not say how a movie describes it.", debug: "\(caps)")
    }
    return OtherSampleEntry(
      handlerType: track?.handlerType ?? "meta", type: type, payload: payload.bytes)
  }
}
