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
    fragments = element.settings.current.fragments
    if fragments.needsSeekableSink { try checkSeekable() }
    element.hasBegun.withLock { $0 = true }
    keepInputs(of: element.sinkPads)
    queueSamples()
    if pads.hasEyes { stereo = try makeStereo(baseEye: spatialMetadata.heroEye ?? .left) }
    var tracks: [TrackDescription] = []
    if let stereo, let base = stereo.stream(stereo.baseEye) {
      let rate = base.frameRate ?? Fraction(0, 1)
      let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
      // Completed when the parameter sets are known.
      let entry = VisualSampleEntry(width: 0, height: 0, hvcC: [])
      var track = described(
        TrackDescription(.video(entry), timescale: clock.timescale),
        by: [muxInput(stereo.baseEye.other), muxInput(stereo.baseEye)].compactMap { $0 })
      track.sphericalVideoV1 = try immersiveMetadata().flatMap {
        SphericalVideoV1(around: $0.immersive)
      }
      tracks.append(track)
    }
    for pad in pads.streams {
      guard isKnown(pad) else {
        muxInput(pad).isLeftOut = true
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) \(pad.isAtEnd ? "ended" : "was given up") before its "
              + "format was known; it is not written."))
        continue
      }
      muxInput(pad).track = tracks.count
      tracks.append(try describe(pad))
    }
    addReferences(to: &tracks)
    makeAlternatives(of: .audio, in: &tracks)
    makeAlternatives(of: .subtitle, in: &tracks)
    let times = pads.firstTimes
    guard let earliest = times.min() else {
      if let pad = element.sinkPads.first(where: \.hasBuffer) {
        throw ElementError(
          .mux,
          "The stream on \(pad.name) has no timestamps; put a parser before the pad to add them.")
      }
      throw ElementError(
        .mux, "The streams ended before the first frame, so there is nothing to write.")
    }
    let origin = max(earliest, 0)
    addSideTracks(to: &tracks, pads, origin: origin)
    element.setSourceCaps(element.fileCaps)
    let isStreamed = fragments.duration > 0 && !fragments.isFinalised
    element.updateSegment(isStreamed ? Segment() : Segment(.bytes))
    isSpatial = stereo != nil || tracks.contains(where: \.isStereo)
    let metadata = movieMetadata
    let opened = try element.makeFile(tracks, metadata: metadata, origin: origin, output: output)
    for side in sideTracks { try opened.end(side.track) }
    movie = opened
    return opened
  }

  /// Whether the sample entry of a pad's track can be made from its caps and first buffer.
  private mutating func isKnown(_ pad: AggregatorPad) -> Bool {
    let input = muxInput(pad)
    return input.caps != nil && (pad.hasBuffer || !input.needsData)
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

  func makeStereo(baseEye: Eye, following earlier: StereoInput? = nil) throws -> StereoInput {
    let input = StereoInput(
      settings: element.settings.current.encoder, pairs: element.makePairs(),
      keyframes: element.keyframes, baseEye: baseEye, following: earlier)
    for eye in Eye.allCases {
      guard let caps = muxInput(eye)?.caps else {
        throw ElementError(
          .mux, "The \(eye) eye's stream ended before its first frame, so there is no pair.")
      }
      try input.setCaps(caps, of: eye)
    }
    return input
  }

  /// Returns the description of a pad's track, from its caps, tags and first buffer.
  mutating func describe(_ pad: AggregatorPad) throws -> TrackDescription {
    let input = muxInput(pad)
    guard let caps = input.caps else {
      throw ElementError(.mux, "The stream on \(input.name) ended before it said what it is.")
    }
    let first = pad.peek().flatMap { $0.isGap ? nil : $0 }
    switch input.kind {
    case .audio:
      let entry = try input.audioEntry(
        container: element.settings.current.container.container, first: first)
      return described(TrackDescription(.audio(entry), timescale: entry.sampleRate), by: [input])
    case .subtitle:
      return described(
        TrackDescription(.other(TimedText.subtitles), timescale: MuxSubtitles.timescale),
        by: [input])
    case .meta:
      let track = PrivateTrack(input.tags)
      let entry = try MuxMetaCaps.sampleEntry(caps, pad: input.name, track: track)
      let timescale = track.map(\.timescale).flatMap { $0 > 0 ? $0 : nil }
      var description = TrackDescription(.other(entry), timescale: timescale ?? 90_000)
      description.mediaHeader = track?.mediaHeader
      return described(description, by: [input])
    case .video, .eye: return try describeVideo(input, caps, first)
    }
  }

  private func describeVideo(
    _ input: MuxInput, _ caps: Caps, _ first: Buffer?
  ) throws -> TrackDescription {
    var entry = try input.videoEntry(first: first)
    let (metadata, sphere) = (spatialMetadata(of: input), try sphereTags(of: input))
    element.warn(of: entry.addSpatialBoxes(caps, metadata, sphere))
    let rate = input.frameRate
    let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
    var track = described(TrackDescription(.video(entry), timescale: clock.timescale), by: [input])
    if var immersive = sphere.immersiveMetadata(metadata.projection) {
      immersive.packing = PackingLayout(multiviewCaps: caps)
      track.sphericalVideoV1 = SphericalVideoV1(around: immersive)
    }
    return track
  }

  /// Sets the sample entry of the eyes' track, if its parameter sets are known.
  func describeEyes(_ stereo: StereoInput, of movie: MovieFileWriter) throws {
    guard let configuration = stereo.configuration,
      let base = stereo.stream(stereo.baseEye)
    else { return }
    var entry = try MuxVideoCaps.sampleEntry(configuration, base)
    if let (immersive, lenses) = try immersiveMetadata() {
      element.warn(of: entry.surround(immersive, spatialMetadata, lenses))
    } else {
      let metadata = spatialMetadata.fillingGapsWithDefaults()
      entry.extendedUsage = VideoExtendedUsage(metadata)
      entry.horizontalFieldOfView = metadata.horizontalFieldOfView
    }
    try movie.setSampleEntry(.video(entry), of: MuxPads.eyesTrack)
  }
}
