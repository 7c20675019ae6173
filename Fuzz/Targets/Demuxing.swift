// SPDX-License-Identifier: MPL-2.0

import CGStreamer

/// Plays a movie or a layered stream with `mvhevcdemux`, then sends the upstream's seeks.
///
/// - Parameter unlinked: names of pads that stay unlinked.
public func play(
  _ bytes: [UInt8], _ upstream: Upstream, leaving unlinked: Set<String> = []
) -> DemuxOutcome {
  DemuxSession.play(bytes, upstream, leaving: unlinked)
}

/// Plays a movie with `mvhevcdemux` and seeks in it if possible.
func demux(_ bytes: [UInt8], byPulling pulls: Bool) {
  var upstream = Upstream(byPulling: pulls)
  let flags = GstSeekFlags(GST_SEEK_FLAG_FLUSH.rawValue | GST_SEEK_FLAG_ACCURATE.rawValue)
  upstream.seeks = [
    Upstream.SeekRequest(rate: 1, flags: flags, start: bytes.count * 100_000),
    Upstream.SeekRequest(rate: -1, flags: flags, start: 0),
  ]
  let outcome = play(bytes, upstream)
  if outcome.hangs { fatalError("mvhevcdemux hangs") }
}
