import CGStreamer
import GStreamer
import HEVC
import ISOBMFF
import StereoVideo

extension MVHEVCDemux {
  /// What a track does next, its segments told on the way; nil at its end, or where it waits.
  func next(_ track: DemuxTrack) throws -> DemuxTrack.Item? {
    if !track.hasEnded, let item = track.ready { return item }
    if !track.hasEnded, isMuted(track) { silence(track, upTo: play.start) }
    guard let samples = movie?.tracks[track.index].samples else { return nil }
    while !track.hasEnded {
      switch track.step(samples, play: play, isComplete: isComplete) {
      case .segment(let segment, let isEmpty): begin(track, segment, isEmpty: isEmpty)
      case .sample(let item):
        if item.size > 0 { return item }
        try pass(item, of: track)
      case .wait: return nil
      case .end: if reverse == nil { end(track) }
      }
    }
    return nil
  }

  /// Goes on behind a sample of a track.
  func pass(_ item: DemuxTrack.Item, of track: DemuxTrack) throws {
    try count(item.size, at: item.record, of: track)
    track.advance()
  }

  /// Sees to it that no more is read than a file of this size has.
  func count(_ size: UInt64, at record: SampleRecord, of track: DemuxTrack) throws {
    try budget.count(
      size, at: record, ofTrack: track.index, fileSize: fileSize ?? push.received)
  }

  private func begin(_ track: DemuxTrack, _ segment: Segment, isEmpty: Bool) {
    let drains = track.kind == "vide" && track.hasBegun
    track.hasBegun = true
    for stream in track.streams {
      // Decoders would show in the new segment what they hold back of the old one (GStreamer 1.22).
      if drains { stream.pad.push(.stillFrame(true)) }
      tell(stream, segment)
      if drains, !isEmpty { stream.pad.push(.stillFrame(false)) }
      if isEmpty, let stop = segment.stop {
        stream.pad.push(.gap(at: segment.start, duration: stop - segment.start))
      }
    }
    if isEmpty, let stop = segment.stop {
      track.end = saturatingSum(segment.time, stop - segment.start)
    } else {
      track.end = max(track.end, segment.time)
    }
  }

  /// Tells a stream what part of it comes, and once what it is.
  func tell(_ stream: DemuxStream, _ segment: Segment) {
    stream.pad.push(following(.segment(segment)))
    guard let globalTags, !stream.tags.isEmpty, stream.pad.stickyEvent(GST_EVENT_TAG) == nil
    else { return }
    stream.pad.push(.tags(stream.tags))
    stream.pad.push(.tags(globalTags))
  }

  /// Nothing more comes for a track.
  private func end(_ track: DemuxTrack) {
    guard !play.endsWithSegmentDone else { return }
    for stream in track.streams where !stream.hasEnded {
      stream.hasEnded = true
      stream.pad.push(following(.endOfStream))
      _ = combiner.update(stream.pad, .eos)
    }
  }

  /// Hands out a sample of a track to those of its streams that somebody takes.
  func hand(_ item: DemuxTrack.Item, _ data: Buffer, of track: DemuxTrack) throws {
    hasPlayed = true
    let record = item.record
    let timeline = track.timeline
    let pts = timeline.pts(record.presentationTime)
    data.pts = pts
    data.dts = min(timeline.dts(record.decodeTime), pts)
    data.duration = track.duration(of: item)
    let start = track.movieTime(ofPTS: pts)
    fillGap(track, before: start)
    // A text may last for minutes, in which nobody is to wait for the next one.
    let duration = track.isSparse ? 0 : data.duration ?? 0
    track.end = max(track.end, track.movieTime(ofPTS: saturatingSum(pts, duration)))
    status.withLock { $0.position = reverse == nil ? max($0.position, start) : start }
    if record.sampleEntryIndex != track.sampleEntryIndex {
      change(track, toEntry: record.sampleEntryIndex)
    }
    var flags: BufferFlags = record.isSync ? [] : .deltaUnit
    if record.dependency.isDependedOn == false { flags.insert(.droppable) }

    // The stream of untouched samples gets the buffer itself, so it comes last.
    for stream in track.streams {
      guard stream.pad.isLinked else {
        stream.waitsForSync = true
        try combine(stream, .notLinked)
        continue
      }
      switch stream.role {
      case .eye(let eye):
        try hand(eye, of: data, flags: flags, record, to: stream, track)
      case .samples:
        data.flags.formUnion(flags.union(stream.takeDiscontinuity()))
        try combine(stream, stream.pad.push(data))
      }
    }
  }

  /// One eye of a layered sample.
  private func hand(
    _ eye: Eye, of data: Buffer, flags: BufferFlags, _ record: SampleRecord,
    to stream: DemuxStream, _ track: DemuxTrack
  ) throws {
    if stream.waitsForSync {
      guard record.isSync else { return }
      stream.waitsForSync = false
    }
    let framing = track.eyes?.framing ?? .annexB
    let split: EyeOutput.Split?
    do {
      split = try data.withBytes { bytes in
        let span = RawSpan(_unsafeBytes: bytes)
        let units = try framing.nalUnits(in: span)
        return try track.eyes?.split(data, span, nalUnits: units, for: eye)
      }
    } catch let flow as FlowReturn {
      throw flow
    } catch {
      warn("A frame of the \(eye) eye is damaged and left out.", debug: "\(error)")
      stream.isDiscontinuous = true
      return
    }
    guard let split else { return }
    guard let description = track.eyeDescription else { return }
    data.flags.formUnion(flags)
    defer { data.flags.subtract(flags) }
    try push(
      split, like: data, frame: track.frameDuration(of: record), to: stream, eye, description)
  }

  /// What an access unit gave for an eye, with the access unit's timestamps and flags.
  ///
  /// - Parameter frame: the time between two frames.
  func push(
    _ split: EyeOutput.Split, like unit: Buffer, frame: ClockTime?, to stream: DemuxStream,
    _ eye: Eye, _ description: DemuxVideoCaps.Description
  ) throws {
    if let failure = split.failure {
      warn("A frame of the \(eye) eye is damaged and left out.", debug: "\(failure)")
    }
    if let sets = split.parameterSets {
      stream.setCaps(try DemuxVideoCaps.eye(eye, sets, description))
    }
    for (index, buffer) in split.buffers.enumerated() {
      let isShown = index == split.buffers.count - 1
      let lead = isShown ? 0 : lead(of: unit, frame, on: stream.pad)
      buffer.pts = unit.pts.map { $0 - min($0, lead) }
      buffer.dts = unit.dts.map { $0 - min($0, lead) }
      buffer.duration = isShown ? unit.duration : max(lead, 1)
      buffer.flags.formUnion(stream.takeDiscontinuity())
      buffer.flags.formUnion(unit.flags.intersection([.deltaUnit, .droppable]))
      // Behind the picture that it refers to, no picture is a point to start at.
      if index > 0 { buffer.flags.insert(.deltaUnit) }
      try combine(stream, stream.pad.push(buffer))
    }
  }

  /// How long before the picture that is shown the one comes that it refers to: parsers take two
  /// pictures of one time for one, and containers want room between them. Half a frame, but not from
  /// outside the segment, where muxers would leave it out.
  private func lead(of unit: Buffer, _ frame: ClockTime?, on pad: Pad) -> ClockTime {
    let half = (frame ?? 2) / 2
    guard let pts = unit.pts, let start = pad.stickyEvent(GST_EVENT_SEGMENT)?.segment?.start,
      pts >= start
    else { return half }
    return min(half, pts - start)
  }

  /// The samples from here on are coded in another way.
  private func change(_ track: DemuxTrack, toEntry index: Int) {
    track.sampleEntryIndex = index
    guard track.sampleCaps.indices.contains(index) else {
      warn("Samples of track \(track.id.rawValue) say nothing valid of how they are coded.")
      return
    }
    for stream in track.streams where stream.role == .samples {
      stream.setCaps(track.sampleCaps[index])
    }
    guard let entries = movie?.tracks[track.index].sampleEntries, entries.indices.contains(index),
      case .video(let entry) = entries[index]
    else { return }
    do {
      try track.eyes?.add(parameterSets: LayeredTrack.parameterSets(of: entry))
    } catch {
      warn("The parameter sets of a later part of the movie cannot be read.", debug: "\(error)")
    }
  }

  // MARK: Gaps

  /// Silence of more than this is told in pieces of it, so that nobody waits for the stream. Of
  /// sparse ones, before an ordinary queue beside them is full.
  private func gapLength(_ track: DemuxTrack) -> ClockTime {
    track.isSparse ? .second / 2 : .second
  }

  /// An hour of silence is told in pieces; broken times can make it ages.
  private static let maximumGapCount = 3600

  /// Tells the streams of a track that nothing comes before a time of the movie, in whole pieces
  /// from the end of what came last, so that it does not matter how often this is called.
  private func fillGap(_ track: DemuxTrack, before time: ClockTime) {
    guard play.rate > 0, track.timeline.pieces.indices.contains(track.piece) else { return }
    let piece = track.timeline.pieces[track.piece]
    guard piece.mediaStart != nil else { return }
    let unit = gapLength(track)
    while track.end >= piece.movieStart, time > track.end, time - track.end >= unit {
      let length = track.gapCount < Self.maximumGapCount ? unit : time - track.end
      track.gapCount += 1
      let start = piece.timestamp(at: track.end)
      let end = piece.timestamp(at: saturatingSum(track.end, length))
      for stream in track.streams where stream.pad.isLinked {
        stream.pad.push(.gap(at: start, duration: end - start))
      }
      track.end += length
    }
  }

  /// Keeps the streams that have nothing up to `time` of the movie from holding up the others.
  func fillGaps(upTo time: ClockTime) throws {
    for track in tracks where isMuted(track) { silence(track, upTo: time) }
    for track in tracks where !track.hasEnded && saturatingSum(track.end, gapLength(track)) <= time
    {
      guard let item = try next(track) else { continue }
      let start = track.movieTime(
        ofPTS: track.timeline.pts(item.record.presentationTime))
      fillGap(track, before: min(start, time))
    }
  }
}

extension Event {
  /// The last picture stands still from now on, or no more: decoders give all that they have.
  fileprivate static func stillFrame(_ begins: Bool) -> Event {
    Event(adopting: gst_video_event_new_still_frame(begins ? 1 : 0))
  }
}
