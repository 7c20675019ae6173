import CGStreamer
import GStreamer
import MoviePlayer

/// Where the bytes come from.
extension MVHEVCDemux {
  // MARK: Pull mode

  /// Pulls where upstream allows it.
  func activate(_ pad: Pad) throws -> Bool {
    if pad.peerAllowsRandomAccess, pad.activate(GST_PAD_MODE_PULL) { return true }
    return pad.activate(GST_PAD_MODE_PUSH)
  }

  func activateMode(_ pad: Pad, _ mode: GstPadMode, _ active: Bool) throws -> Bool {
    guard mode == GST_PAD_MODE_PULL else { return true }
    if !active { return pad.stopTask() }
    return pad.startTask(self, MVHEVCDemux.loop)
  }

  /// The body of the sink pad's task.
  func loop() {
    if streaming.player == nil { streaming.player = MoviePlayer(.file(size: sizeInBytes)) }
    let flow = run { _ = try step() }
    guard flow != .ok else { return }
    sink.pauseTask()
    finish(flow)
  }

  /// As far as upstream says it.
  private var sizeInBytes: UInt64? {
    let query = Query.duration(GST_FORMAT_BYTES)
    return sink.queryPeer(query) ? query.duration : nil
  }

  // MARK: Push mode

  func receive(_ pad: Pad, _ buffer: Buffer) throws {
    try beginIfNew()
    // The first bytes of a file are at time 0 to sources that know no times.
    let times = isInTime ? ChunkTimes(buffer) : ChunkTimes()
    try streaming.player?.append(ByteSlice(try MappedBuffer(buffer)), times)
    while try step() {}
  }

  private var isInTime: Bool {
    sink.stickyEvent(GST_EVENT_SEGMENT)?.segment?.isInTime ?? true
  }

  private func beginIfNew() throws {
    guard streaming.player == nil else { return }
    let segment = sink.stickyEvent(GST_EVENT_SEGMENT)?.segment
    streaming.player = MoviePlayer(try source)
    if let segment { follow(segment) }
  }

  private var source: MoviePlayer.Source {
    get throws {
      if let caps = sink.stickyEvent(GST_EVENT_CAPS)?.caps, caps.mediaType == "video/x-h265" {
        return .elementaryStream(try ElementaryStreamSource(caps))
      }
      let seeking = Query.seeking(GST_FORMAT_BYTES)
      let isSeekable = sink.queryPeer(seeking) && seeking.isSeekable
      return .stream(StreamSource(isMovable: isSeekable, size: sizeInBytes))
    }
  }

  /// Goes on as a segment of upstream's says.
  private func follow(_ segment: Segment) {
    if segment.format == GST_FORMAT_BYTES {
      streaming.player?.continueSource(at: segment.start)
    } else if segment.isInTime {
      streaming.player?.continueSource(in: PlaybackSegment(segment))
      facts.withLock { $0.isSoughtUpstream = true }
    }
  }

  /// Makes upstream go on somewhere else, unseen by downstream; false where somebody else's seek
  /// will do that.
  func moveUpstream(to place: UInt64) -> Bool {
    let event = Event.byteSeek(to: place)
    let number = event.sequenceNumber
    let isFree = seeks.withLock { seeks in
      guard seeks.pending == nil else { return false }
      seeks.own = number
      return true
    }
    guard isFree else { return false }
    let isDone = sink.push(event)
    seeks.withLock { $0.own = nil }
    if isDone { streaming.player?.sourceMoved() } else { streaming.player?.sourceStays() }
    return true
  }

  // MARK: Events

  func handle(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_CAPS: try takeCaps(event)
    case GST_EVENT_SEGMENT: takeSegment(event)
    case GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP: flush(event)
    case GST_EVENT_EOS: endOfInput()
    case GST_EVENT_STREAM_START, GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_STREAM_COLLECTION,
      GST_EVENT_TOC:
      break
    default: return pad.forward(event)
    }
    return true
  }

  /// Takes what new caps say of an elementary stream that has begun.
  private func takeCaps(_ event: Event) throws {
    guard let caps = event.caps, caps.mediaType == "video/x-h265",
      let old = sink.stickyEvent(GST_EVENT_CAPS)?.caps, !old.isEqual(to: caps)
    else { return }
    try streaming.player?.add(parameterSets: try ElementaryStreamSource(caps).parameterSets)
  }

  private func takeSegment(_ event: Event) {
    guard let segment = event.segment else { return }
    let pending = segment.format == GST_FORMAT_BYTES ? seeks.withLock { $0.pending.take() } : nil
    if let pending {
      begin(pending.plan, pending.event)
      guard segment.start != pending.plan.offset else { return }
    }
    if segment.isInTime { streaming.cause = event }
    follow(segment)
  }

  /// Passes on a flush of upstream's, but for one that this element alone asked for.
  private func flush(_ event: Event) {
    guard seeks.current.own != event.sequenceNumber else { return }
    if event.type == GST_EVENT_FLUSH_STOP {
      streaming.combiner.reset()
      for output in streaming.outputs { output.hasEnded = false }
      streaming.player?.flush()
    }
    for pad in facts.current.pads { pad.push(event) }
  }

  private func endOfInput() {
    let flow = run {
      try beginIfNew()
      streaming.player?.endSource()
      while try step() {}
    }
    // The player may have gone elsewhere in the input instead.
    if flow != .ok { finish(flow) }
  }
}

extension ElementaryStreamSource {
  /// A stream as its caps describe it.
  init(_ caps: Caps) throws(MoviePlayerError) {
    let structure = caps.first
    let rate = structure?.fraction("framerate").flatMap { Ratio($0.numerator, $0.denominator) }
    guard structure?.string("stream-format") != "byte-stream",
      let record = structure?.buffer("codec_data")
    else {
      self.init(frameRate: rate)
      return
    }
    try self.init(
      record: record.bytes, layered: structure?.buffer(LayeredCaps.layeredCodecData)?.bytes,
      frameRate: rate)
  }
}
