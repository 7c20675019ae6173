// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import MoviePlayer
import StereoVideo

extension MVHEVCMux.Streaming {
  /// How much of coded samples waits at each pad.
  private static let queuedDuration: ClockTime = 2 * .second

  /// Takes more than one sample at a time from sources that are no live ones: samples are small, and
  /// threads take turns for each. Pictures that are to be encoded are not small.
  private func queueSamples() {
    let pads = element.sinkPads
    let areSamples = pads.allSatisfy { padCaps[$0.name]?.mediaType != "video/x-raw" }
    guard areSamples, !pads.contains(where: { $0.peerLatency?.isLive ?? true }) else { return }
    element.setQueuedDuration(Self.queuedDuration)
  }

  /// Opens the movie: every pad has its first buffer, or has ended without one.
  mutating func begin(_ pads: MuxPads) throws -> MovieInProgress {
    fragments = element.settings.current.fragments
    if fragments.needsSeekableSink { try checkSeekable() }
    element.hasBegun.withLock { $0 = true }
    queueSamples()
    let names = Set(element.sinkPads.map(\.name))
    padTags = padTags.filter { names.contains($0.key) }
    if pads.hasEyes { stereo = try makeStereo(baseEye: spatialMetadata.heroEye ?? .left) }
    var tracks: [TrackDescription] = []
    if let stereo, let base = stereo.stream(stereo.baseEye) {
      let rate = base.frameRate ?? Fraction(0, 1)
      let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
      // Completed when the parameter sets are known.
      let entry = VisualSampleEntry(width: 0, height: 0, hvcC: [])
      var track = described(
        TrackDescription(.video(entry), timescale: clock.timescale),
        by: [stereo.baseEye.other.rawValue, stereo.baseEye.rawValue])
      track.sphericalVideoV1 = try immersiveMetadata().flatMap {
        SphericalVideoV1(around: $0.immersive)
      }
      tracks.append(track)
    }
    for pad in pads.streams {
      if !isKnown(pad) {
        latePads.insert(pad.name)
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) \(pad.isAtEnd ? "ended" : "was given up") before it said "
              + "what it is; the movie goes without it."))
        continue
      }
      self.tracks[pad.name] = tracks.count
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
          "What comes to \(pad.name) has no timestamps; put a parser in front that gives it some.")
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
    let opened = MovieInProgress(
      try element.makeFile(tracks, metadata: metadata, output: output), origin: origin,
      tracks: tracks,
      creationTime: metadata.creationTime)
    for side in sideTracks { try opened.end(side.track) }
    movie = opened
    return opened
  }

  private func checkSeekable() throws {
    let query = Query.seeking(.bytes)
    guard element.sourcePad.queryPeer(query), query.isSeekable else {
      throw ElementError(
        .seek,
        "mvhevcmux needs a sink that can be seeked in, such as filesink to a regular file: "
          + "it completes the start of the file when it knows the end. With fragment-duration "
          + "it writes to any sink.")
    }
  }

  func makeStereo(baseEye: Eye, following earlier: StereoInput? = nil) throws -> StereoInput {
    let input = StereoInput(
      settings: element.settings.current.encoder, pairs: element.makePairs(),
      keyframes: element.keyframes, baseEye: baseEye, following: earlier)
    for eye in Eye.allCases {
      guard let caps = padCaps[eye.rawValue] else {
        throw ElementError(
          .mux, "The \(eye) eye's stream ended before its first frame, so there is no pair.")
      }
      try input.setCaps(caps, of: eye)
    }
    return input
  }

  /// What a pad's caps say of its track.
  mutating func describe(_ pad: AggregatorPad) throws -> TrackDescription {
    let name = pad.name
    guard let caps = padCaps[name] else {
      throw ElementError(.mux, "The stream on \(name) ended before it said what it is.")
    }
    let first = pad.peek().flatMap { $0.isGap ? nil : $0 }
    if name.hasPrefix("audio") {
      let entry = try MuxAudioCaps.sampleEntry(
        caps, pad: name, container: element.settings.current.container.container, first: first)
      packets[name] = entry.packet
      return described(TrackDescription(.audio(entry), timescale: entry.sampleRate), by: [name])
    }
    if MuxPads.Kind(name) == .subtitle {
      return described(
        TrackDescription(.other(TimedText.subtitles), timescale: MuxSubtitles.timescale),
        by: [name])
    }
    if MuxPads.Kind(name) == .meta {
      let track = PrivateTrack(padTags[name] ?? TagList())
      let entry = try MuxMetaCaps.sampleEntry(caps, pad: name, track: track)
      let timescale = track.map(\.timescale).flatMap { $0 > 0 ? $0 : nil }
      var description = TrackDescription(.other(entry), timescale: timescale ?? 90_000)
      description.mediaHeader = track?.mediaHeader
      return described(description, by: [name])
    }
    let inBand =
      InBandVideo.isIn(caps) ? try InBandVideo(caps, first: first, pad: name) : nil
    inBandVideo[name] = inBand
    var entry =
      try inBand.map { try MuxVideoCaps.sampleEntry($0) }
      ?? MuxVideoCaps.sampleEntry(caps, pad: name)
    let (metadata, sphere) = (spatialMetadata(of: name), try sphereTags(of: name))
    element.warn(of: entry.addSpatialBoxes(caps, metadata, sphere))
    let rate = caps.first?.fraction("framerate") ?? Fraction(0, 1)
    let clock = TrackClock(framesPerSecond: rate.numerator, rate.denominator)
    var track = described(TrackDescription(.video(entry), timescale: clock.timescale), by: [name])
    if var immersive = sphere.immersiveMetadata(metadata.projection) {
      immersive.packing = PackingLayout(multiviewCaps: caps)
      track.sphericalVideoV1 = SphericalVideoV1(around: immersive)
    }
    return track
  }

  /// Says what the eyes' track holds, now that it has been coded.
  func describeEyes(_ stereo: StereoInput, of movie: MovieInProgress) throws {
    guard let configuration = stereo.configuration,
      let base = stereo.stream(stereo.baseEye)
    else { return }
    var entry = try MuxVideoCaps.sampleEntry(configuration, base)
    if let (immersive, lenses) = try immersiveMetadata() {
      element.warn(of: entry.surround(immersive, spatialMetadata, lenses))
    } else {
      let metadata = spatialMetadata.fillingGapsAsUsual()
      entry.extendedUsage = VideoExtendedUsage(metadata)
      entry.horizontalFieldOfView = metadata.horizontalFieldOfView
    }
    try movie.setSampleEntry(.video(entry), of: MuxPads.eyesTrack)
  }
}

extension MVHEVCMux: MovieOutput {
  func write(_ buffer: Buffer) throws {
    try finish(buffer)
  }

  func patch(at offset: UInt64, _ buffer: Buffer) throws {
    var segment = Segment(.bytes)
    segment.start = offset
    updateSegment(segment)
    try finish(buffer)
  }
}
