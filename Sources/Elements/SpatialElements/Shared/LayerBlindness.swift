// SPDX-License-Identifier: MPL-2.0

import GStreamer

/// Elements that take layered H.265 for plain H.265, and lose an eye without a word.
enum LayerBlindness {
  /// What they do with it.
  private static let harm: [String: String] = [
    "h265parse":
      "it takes the second eye's parameter sets away; leave it out, nothing needs it",
    "mp4mux": muxer, "qtmux": muxer, "isofmp4mux": muxer, "cmafmux": muxer, "mp4mux2": muxer,
    "matroskamux": "it has no place for the second one; write it with mvhevcmux",
  ]
  private static let muxer =
    "it writes no record of the second eye, which no player finds then; write it with mvhevcmux"

  /// What to say of the first element behind a pad that loses an eye; nil where there is none.
  static func warning(behind pad: Pad) -> ElementError? {
    for reader in pad.readers {
      guard let harm = harm[reader] else { continue }
      return ElementError(
        .failedStream, "Behind \(reader) there is one eye: \(harm).")
    }
    return nil
  }
}
