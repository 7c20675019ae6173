import CGStreamer
import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

extension MVHEVCDemux {
  /// A source pad to be.
  private struct Plan {
    var role: DemuxStream.Role
    var template: String
    var name: String
    var idSuffix: String
    var caps: Caps
    var spatial: SpatialMetadata?
  }

  /// A file of more tracks than these is none that anyone made.
  private static let maximumTrackCount = 64

  /// The first track that may hold two eyes in layers.
  var layeredTrackIndex: Int? {
    (basis ?? movie)?.tracks.firstIndex { track in
      guard case .video(let entry)? = track.sampleEntries.first, entry.hvcC != nil else {
        return false
      }
      return track.samples.count > 0
        && (entry.lhvC != nil || entry.codec == "hev1" || Self.namesLayers(entry))
    }
  }

  private static func namesLayers(_ entry: VisualSampleEntry) -> Bool {
    LayeredTrack.parameterSets(of: entry).contains { unit in
      guard NALUnitHeader(unit.span.bytes)?.type == .videoParameterSet else { return false }
      return (try? VideoParameterSet(nalUnit: unit))?.maxLayersMinus1 ?? 0 > 0
    }
  }

  /// Makes the streams of the movie, now that its index is known.
  ///
  /// - Parameter first: the first sample of the track at `layeredTrackIndex`.
  func expose(first: Buffer?) throws {
    guard let movie = basis ?? movie else { return }
    for issue in movie.issues {
      Self.log.warning(self, "\(issue)")
    }
    var numbers: [String: Int] = [:]
    let layered = layeredTrackIndex
    // Only tracks that are all there are shown, and taken away in the end.
    var made: [DemuxTrack] = []
    for (index, track) in movie.tracks.enumerated() {
      guard !track.sampleEntries.isEmpty, track.samples.count > 0 || movie.isFragmented else {
        continue
      }
      guard made.count < Self.maximumTrackCount || index == layered else {
        warn(
          "The movie has \(movie.tracks.count) tracks; \(Self.maximumTrackCount) of them are played."
        )
        continue
      }
      made.append(
        try makeTrack(track, index, first: index == layered ? first : nil, &numbers))
    }
    guard !made.isEmpty else {
      throw ElementError(.demux, "The movie has no track with samples.")
    }
    tracks = made
    readAhead = ReadAhead(trackCount: tracks.count)
    globalTags = DemuxTags.movie(movie, fileType: fileType)
    let isPulling = sink.mode == GST_PAD_MODE_PULL
    let fragments = !isPulling && movie.isFragmented ? push.fragments : nil
    let isSeekable =
      isPulling || push.isSeekable == true && (isComplete || fragments != nil)
    status.withLock {
      $0.fragments = fragments
      $0.duration = duration(of: movie)
      $0.play = play
      $0.isSeekable = isSeekable
    }
    input = .movie
    publish()
  }

  /// Shows the streams' pads to the application.
  func publish() {
    let collection = StreamCollection(
      upstreamID: sink.stickyEvent(GST_EVENT_STREAM_START)?.streamID, streams.map(\.stream))
    for stream in streams { stream.pad.push(.streamCollection(collection)) }
    post(collection)
    for stream in streams {
      combiner.add(stream.pad)
      add(stream.pad)
    }
    noMorePads()
  }

  private func makeTrack(
    _ track: Track, _ index: Int, first: Buffer?, _ numbers: inout [String: Int]
  ) throws -> DemuxTrack {
    let timeline = TrackTimeline(
      track, lag: TrackTimeline.lag(track), movieTimescale: movie?.timescale ?? 1)
    if let warning = timeline.warning { warn(warning, debug: "track \(track.id.rawValue)") }
    let rate = frameRate(track)
    var plans: [Plan] = []
    var eyes: EyeOutput?
    var eyeDescription: DemuxVideoCaps.Description?
    var spatial: SpatialMetadata?
    var viewCount = 1
    if case .video(let entry)? = track.sampleEntries.first {
      var description = DemuxVideoCaps.Description(entry, frameRate: rate)
      description.complete(fromSEI: LayeredTrack.parameterSets(of: entry))
      spatial = entry.spatialMetadata
      switch LayeredTrack(entry, first: first) {
      case .plain: break
      case .unreadable(let warning): warn(warning)
      case .layers(let content, let sets, let warning):
        if let warning { warn(warning) }
        viewCount = content.viewCount
        description.isMono = viewCount == 1
        for eye in Eye.allCases {
          guard let eyeSets = sets[eye] else { continue }
          plans.append(
            Plan(
              role: .eye(eye), template: eye.rawValue, name: eye.rawValue,
              idSuffix: "/\(eye.rawValue)",
              caps: try DemuxVideoCaps.eye(eye, eyeSets, description), spatial: spatial))
        }
        eyes = content.eyes
        eyeDescription = description
      }
    }
    let caps = track.sampleEntries.map { sampleCaps($0, frameRate: rate, viewCount: viewCount) }
    let kind =
      track.handlerType == "vide" ? "video" : track.handlerType == "soun" ? "audio" : "meta"
    let number = numbers[kind, default: 0]
    numbers[kind] = number + 1
    plans.append(
      Plan(
        role: .samples, template: "\(kind)_%u", name: "\(kind)_\(number)", idSuffix: "",
        caps: caps.first ?? .any, spatial: spatial))
    let streams = try plans.map { try makeStream($0, track) }
    return DemuxTrack(
      track, index: index, timeline: timeline, streams: streams, eyes: eyes,
      eyeDescription: eyeDescription, sampleCaps: caps)
  }

  private func sampleCaps(_ entry: SampleEntry, frameRate: Fraction?, viewCount: Int) -> Caps {
    switch entry {
    case .video(let entry):
      var description = DemuxVideoCaps.Description(entry, frameRate: frameRate)
      description.complete(fromSEI: LayeredTrack.parameterSets(of: entry))
      return DemuxVideoCaps.samples(entry, description, viewCount: viewCount)
    case .audio(let entry): return DemuxAudioCaps.caps(entry)
    case .other(let entry):
      return Caps(
        DemuxVideoCaps.opaque("meta", entry.type),
        ["codec_data": .buffer(Buffer(entry.payload))])
    }
  }

  private func makeStream(_ plan: Plan, _ track: Track) throws -> DemuxStream {
    let type =
      switch track.handlerType {
      case "vide": GST_STREAM_TYPE_VIDEO
      case "soun": GST_STREAM_TYPE_AUDIO
      default: GST_STREAM_TYPE_UNKNOWN
      }
    var flags = GST_STREAM_FLAG_NONE.rawValue
    if type == GST_STREAM_TYPE_UNKNOWN { flags |= GST_STREAM_FLAG_SPARSE.rawValue }
    if isPassedOver(track) { flags |= GST_STREAM_FLAG_UNSELECT.rawValue }
    return try makeStream(
      role: plan.role, template: plan.template, name: plan.name,
      idSuffix: "\(track.id.rawValue)\(plan.idSuffix)", caps: plan.caps, type: type,
      flags: GstStreamFlags(flags),
      tags: DemuxTags.stream(track, caps: plan.caps, spatial: plan.spatial))
  }

  /// Whether a track is not meant to be played unasked. Where that is so of all video or all sound,
  /// it is a mistake.
  private func isPassedOver(_ track: Track) -> Bool {
    guard !track.isEnabled else { return false }
    guard ["vide", "soun"].contains(track.handlerType) else { return true }
    return (basis ?? movie)?.tracks.contains {
      $0.isEnabled && $0.handlerType == track.handlerType
    } ?? false
  }

  /// A pad that has said what it is, not yet shown to anyone.
  func makeStream(
    role: DemuxStream.Role, template: String, name: String, idSuffix: String, caps: Caps,
    type: GstStreamType, flags: GstStreamFlags = GST_STREAM_FLAG_NONE, tags: TagList
  ) throws -> DemuxStream {
    let pad = try Pad(
      self, template: template, name: name,
      functions: PadFunctions<MVHEVCDemux>(
        event: MVHEVCDemux.handleFromDownstream, query: MVHEVCDemux.answer))
    let stream = GStreamer.Stream(
      id: pad.streamID(self, suffix: idSuffix), caps: caps, type: type, flags: flags)
    pad.setActive(true)
    pad.useFixedCaps()
    pad.push(.streamStart(stream, group: streamGroup))
    pad.push(.caps(caps))
    return DemuxStream(role: role, pad: pad, stream: stream, caps: caps, tags: tags)
  }

  /// What ties the streams of this file together: upstream's, or one of our own.
  private var streamGroup: UInt32 {
    if let group = sink.stickyEvent(GST_EVENT_STREAM_START)?.group { return group }
    if let group = push.ownGroup { return group }
    let group = gst_util_group_id_next()
    push.ownGroup = group
    return group
  }

  // MARK: Facts

  /// Frames a second of a video track; nil for one that has no rate.
  private func frameRate(_ track: Track) -> Fraction? {
    let samples = track.samples
    guard track.handlerType == "vide", samples.count > 0, let first = samples.sample(at: 0),
      let last = samples.sample(at: samples.count - 1)
    else { return nil }
    if samples.count == 1 { return Self.fraction(track.timescale, UInt64(first.duration)) }
    let length = saturatingDifference(last.decodeTime, first.decodeTime)
    let steps = Int64(clamping: samples.count - 1)
    guard length > 0 else { return nil }
    if length == steps.multipliedReportingOverflow(by: Int64(first.duration)).partialValue {
      return Self.fraction(track.timescale, UInt64(first.duration))
    }
    let average = scale(
      UInt64(clamping: length), .second,
      UInt64(track.timescale).multipliedReportingOverflow(by: UInt64(clamping: steps)).partialValue)
    var numerator: Int32 = 0
    var denominator: Int32 = 1
    guard gst_video_guess_framerate(GstClockTime(average), &numerator, &denominator) != 0 else {
      return nil
    }
    return Fraction(numerator, denominator)
  }

  private static func fraction(_ numerator: UInt32, _ denominator: UInt64) -> Fraction? {
    guard denominator > 0, numerator > 0 else { return nil }
    var (a, b) = (UInt64(numerator), denominator)
    while b > 0 { (a, b) = (b, a % b) }
    guard let top = Int32(exactly: UInt64(numerator) / a),
      let bottom = Int32(exactly: denominator / a)
    else { return nil }
    return Fraction(top, bottom)
  }

  /// How long the movie plays; nil where that is not known.
  func duration(of movie: Movie) -> ClockTime? {
    var length: ClockTime?
    for track in tracks {
      let samples = movie.tracks[track.index].samples
      let isKnown = !movie.isFragmented || isComplete
      let media = isKnown ? track.mediaEnd(samples) : nil
      guard let end = track.timeline.end ?? media else { continue }
      length = max(length ?? 0, end)
    }
    if let length, length > 0 { return length }
    if let end = push.fragments?.end { return end }
    return (movie.fragmentedDuration ?? movie.duration).flatMap {
      $0 > 0 ? scale($0, .second, UInt64(movie.timescale)) : nil
    }
  }
}

extension DemuxTrack {
  /// Where the last piece ends that goes on to the end of the media.
  fileprivate func mediaEnd(_ samples: TrackSamples) -> ClockTime {
    guard let last = timeline.pieces.last else { return 0 }
    // Without the lag: what is decoded last is not shown later by it.
    let end = timeline.dts(saturatingDifference(samples.endDecodeTime, last.mediaStart ?? 0))
    return last.movieTime(of: saturatingSum(last.start, end))
  }
}
