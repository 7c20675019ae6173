// SPDX-License-Identifier: MPL-2.0

import GStreamer

extension TagList {
  /// These tags less what they say of the coding and the container that the stream had before it was
  /// decoded: none of it holds any more once it is encoded again.
  var withoutCoding: TagList {
    removing([
      "codec", "video-codec", "audio-codec", "subtitle-codec", "container-format", "encoder",
      "encoder-version", "bitrate", "nominal-bitrate", "minimum-bitrate", "maximum-bitrate",
    ])
  }
}
