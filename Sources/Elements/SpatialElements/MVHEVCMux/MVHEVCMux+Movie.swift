// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import MoviePlayer
import StereoVideo

extension MVHEVCMux.Streaming {
  /// Duration of the coded samples that wait at each pad.
  private static let queuedDuration: ClockTime = 2 * .second

  /// Lets pads queue more than one sample if no source is live: coded samples are small, and
  /// otherwise two threads alternate for each of them. Raw frames are too large for this.
  private func queueSamples() {
    let pads = element.sinkPads
    let areSamples = inputs.allSatisfy { $0.caps?.mediaType != "video/x-raw" }
    guard areSamples, !pads.contains(where: { $0.peerLatency?.isLive ?? true }) else { return }
    element.setQueuedDuration(Self.queuedDuration)
  }

  /// Opens the movie. Every pad has its first buffer, or has ended without one.
  mutating func begin(_ pads: MuxPads) throws -> MovieFileWriter {
    if let warning = element.settings.current.spatial.unitWarning { element.postWarning(warning) }
    if let warning = description.attachmentWarning { element.postWarning(warning) }
    try followContainer()
    fragments = element.settings.current.fragments
    if let warning = description.fileLevelWarning(
      areFragments: fragments.duration > 0 && !fragments.isFinalised)
    {
      element.postWarning(warning)
    }
    if fragments.needsSeekableSink { try checkSeekable() }
    element.hasBegun.withLock { $0 = true }
    keepInputs(of: element.sinkPads)
    queueSamples()
    isLive = pads.all.contains { $0.peerLatency?.isLive ?? false }
    if pads.hasEyes {
      eyes = try EyesTrack(element, inputs, baseEye: description.spatialMetadata.heroEye ?? .left)
    }
    var tracks: [TrackDescription] = []
    if let track = try eyes.flatMap({ try description.describeEyes($0.input) }) {
      tracks.append(track)
    }
    for pad in pads.streams {
      let input = muxInput(pad)
      guard input.caps != nil, pad.hasBuffer || !input.needsData else {
        input.isLeftOut = true
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) \(pad.isAtEnd ? "ended" : "was given up") before its "
              + "format was known; it is not written."))
        continue
      }
      input.track = tracks.count
      tracks.append(try description.describe(input, first: pad.firstData))
    }
    description.addReferences(to: &tracks)
    description.makeAlternatives(of: .audio, in: &tracks)
    description.makeAlternatives(of: .subtitle, in: &tracks)
    let times = pads.firstTimes
    guard let earliest = times.min() else {
      if let pad = element.sinkPads.first(where: \.hasBuffer) {
        throw ElementError(
          .mux,
          muxInput(pad).kind == .video
            ? "The video on \(pad.name) has no timestamps and no frame rate that they could follow "
              + "from; set framerate of mvhevcdemux, which reads it, or take it from a container."
            : "The stream on \(pad.name) has no timestamps; put a parser before the pad to add "
              + "them.")
      }
      throw ElementError(
        .mux, "The streams ended before the first frame, so there is nothing to write.")
    }
    let origin = max(earliest, 0)
    if fragments.duration == 0 || fragments.isFinalised {
      sideTracks.add(
        to: &tracks, pads, origin: origin, chaptersOfApplication: element.setterChapters)
    }
    element.setSourceCaps(element.fileCaps)
    let isStreamed = fragments.duration > 0 && !fragments.isFinalised
    element.updateSegment(isStreamed ? Segment() : Segment(.bytes))
    isSpatial = eyes != nil || tracks.contains(where: \.isStereo)
    let opened = try element.makeFile(
      tracks, metadata: description.movieMetadata(isSpatial: isSpatial), origin: origin,
      output: output)
    for track in sideTracks.numbers { try opened.end(track) }
    for input in inputs {
      let other = input.kind == .eye ? "an eye" : "not written"
      let place = input.track.map { "track \($0 + 1)" } ?? other
      element.log.info(element, "\(input.name): \(place)")
    }
    movie = opened
    return opened
  }

  /// Changes the container if downstream takes only the other one: caps after the muxer, or an
  /// encoding profile, ask for `variant=iso`.
  private func followContainer() throws {
    guard !element.sourcePad.peerAccepts(element.fileCaps) else { return }
    let chosen = element.settings.current.container
    for other in [ContainerChoice.quickTime, .mp4] where other != chosen && chosen != .cmaf {
      element.settings.withLock { $0.container = other }
      if element.sourcePad.peerAccepts(element.fileCaps) { return }
    }
    element.settings.withLock { $0.container = chosen }
    throw ElementError(
      .negotiation,
      "What follows mvhevcmux does not take its output, \(element.fileCaps); use other caps there, "
        + "or another container or fragment-duration.")
  }

  /// Whether each eye's pad, if there are any, has caps or has ended without.
  func eyesAreKnown(_ pads: MuxPads) -> Bool {
    [(Eye.left, pads.left), (.right, pads.right)].allSatisfy { eye, pad in
      pad.map { muxInput(eye)?.caps != nil || $0.isAtEnd } ?? true
    }
  }

  private func checkSeekable() throws {
    let query = Query.seeking(.bytes)
    guard element.sourcePad.queryPeer(query), query.isSeekable else {
      throw ElementError(
        .seek,
        "mvhevcmux needs a seekable sink, such as filesink with a regular file: it completes the "
          + "start of the file at the end. With fragment-duration "
          + "it writes to any sink.")
    }
  }
}

extension AggregatorPad {
  /// The buffer that waits at the pad; nil if there is none, or only a gap.
  var firstData: Buffer? { peek().flatMap { $0.isGap ? nil : $0 } }
}
