// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer

/// Input from upstream.
extension MVHEVCDemux {
  /// The body of the sink pad's task in pull mode.
  func pull(_ streaming: inout Streaming) throws {
    if !streaming.hasPlayer {
      streaming.player = MoviePlayer(.file(size: sink.peerSizeInBytes), options: options)
    }
    _ = try streaming.step()
  }

  fileprivate var options: PlayerOptions {
    var options = PlayerOptions()
    options.offersLayers = instance.typeName != Self.autoplugged
    options.frameRate = settings.current.frameRate.flatMap { Ratio($0.numerator, $0.denominator) }
    return options
  }

  fileprivate var source: MoviePlayer.Source {
    get throws {
      if let caps = sink.currentCaps, caps.mediaType == "video/x-h265" {
        return .elementaryStream(try ElementaryStreamSource(caps))
      }
      return .stream(
        StreamSource(
          isMovable: sink.canSeekPeer, size: sink.peerSizeInBytes,
          isSlow: sink.peerIsBandwidthLimited))
    }
  }

  fileprivate var isInTime: Bool { sink.currentSegment?.isInTime ?? true }

  fileprivate func warnOfLateIndex() {
    postWarning(
      ElementError(
        .demux,
        "The movie's index comes after its media data, and the input is not seekable: playback "
          + "starts when everything has arrived, which is kept in a temporary file until then."))
  }

  func finish(_ flow: FlowReturn, _ streaming: inout Streaming) { streaming.finish(flow) }

  func receive(_ pad: Pad, _ buffer: Buffer, _ streaming: inout Streaming) throws {
    try streaming.receive(buffer)
  }

  func handle(_ pad: Pad, _ event: Event, _ streaming: inout Streaming) throws -> Bool {
    switch event.kind {
    case .caps(let caps): try streaming.updateCaps(caps)
    case .segment(let segment): streaming.take(segment, event)
    case .flushStop: streaming.endFlush(event)
    case .endOfStream: streaming.endOfInput()
    case .streamStart, .tags, .gap, .streamCollection, .tableOfContents: break
    default: return pad.forward(event)
    }
    return true
  }

  /// Forwards FLUSH_START from upstream, except for a flush that this element itself requested.
  func handleAtOnce(_ pad: Pad, _ event: Event) throws -> Bool {
    guard case .flushStart = event.kind else { return pad.forward(event) }
    guard shared.current.ownSeek != event.sequenceNumber else { return true }
    for pad in shared.current.pads { pad.push(event) }
    return true
  }
}

extension MVHEVCDemux.Streaming {
  /// Maximum number of bytes kept in memory before their use is known.
  private static let maximumHeldByteCount: UInt64 = 1 << 25

  fileprivate mutating func receive(_ buffer: Buffer) throws {
    try beginIfNew()
    // Sources without timestamps put time 0 on the first bytes of a file.
    let times = element.isInTime ? ChunkTimes(buffer) : ChunkTimes()
    let slice = try kept(ByteSlice(try MappedBuffer(buffer)))
    try player?.append(slice, times)
    while try step() {}
  }

  /// Moves the bytes to a temporary file if too many have come before the movie's index.
  private func kept(_ slice: ByteSlice) throws -> ByteSlice {
    guard player?.heldByteCount ?? 0 > Self.maximumHeldByteCount else {
      spool = nil
      return slice
    }
    if spool == nil {
      spool = try ByteSpool()
      element.warnOfLateIndex()
    }
    return try spool?.append(slice) ?? slice
  }

  private mutating func beginIfNew() throws {
    guard !hasPlayer else { return }
    let segment = element.sink.currentSegment
    player = MoviePlayer(try element.source, options: element.options)
    if let segment { follow(segment) }
  }

  /// Continues at the position that an upstream segment gives.
  private mutating func follow(_ segment: Segment) {
    if let offset = segment.startInBytes {
      player?.continueSource(at: offset)
    } else if segment.isInTime {
      player?.continueSource(in: PlaybackSegment(segment))
      element.shared.withLock { $0.isSoughtUpstream = true }
    }
  }

  /// Seeks upstream to a byte offset, unseen by downstream. Returns false if a seek from downstream
  /// is pending, which will do so.
  mutating func moveUpstream(to place: UInt64) -> Bool {
    let event = Event.byteSeek(to: place)
    let number = event.sequenceNumber
    let isFree = element.shared.withLock { shared in
      guard shared.pendingSeek == nil else { return false }
      // Until the end of the flush, which may arrive in this thread and then waits for this step.
      shared.ownSeek = number
      return true
    }
    guard isFree else { return false }
    if element.sink.push(event) { player?.sourceMoved() } else { player?.sourceStays() }
    return true
  }

  // MARK: Events

  /// Adds the parameter sets from new caps of an elementary stream that has begun.
  fileprivate mutating func updateCaps(_ caps: Caps) throws {
    guard caps.mediaType == "video/x-h265", let old = element.sink.currentCaps,
      !old.isEqual(to: caps)
    else { return }
    try player?.add(parameterSets: try ElementaryStreamSource(caps).parameterSets)
  }

  fileprivate mutating func take(_ segment: Segment, _ event: Event) {
    let pending =
      segment.format == .bytes ? element.shared.withLock { $0.pendingSeek.take() } : nil
    if let pending {
      begin(pending.plan, pending.event)
      guard segment.startInBytes != pending.plan.offset else { return }
    }
    if segment.isInTime { cause = event }
    follow(segment)
  }

  /// Forwards FLUSH_STOP from upstream, except for a flush that this element itself requested.
  fileprivate mutating func endFlush(_ event: Event) {
    let isOwn = element.shared.withLock { shared in
      defer { if shared.ownSeek == event.sequenceNumber { shared.ownSeek = nil } }
      return shared.ownSeek == event.sequenceNumber
    }
    guard !isOwn else { return }
    combiner.reset()
    for output in outputs { output.hasEnded = false }
    player?.flush()
    for output in outputs { output.pad.push(event) }
  }

  fileprivate mutating func endOfInput() {
    let flow = element.run {
      try beginIfNew()
      player?.endSource()
      while try step() {}
    }
    // The player may have moved to another position of the input instead.
    if flow != .ok { finish(flow) }
  }
}

extension Pad {
  /// Whether upstream can seek to byte offsets. `souphttpsrc` claims so for every file of known
  /// length, but fails if the server does not support range requests.
  fileprivate var canSeekPeer: Bool {
    if let headers = httpResponseHeaders {
      guard headers["accept-ranges"]?.lowercased().contains("bytes") == true else { return false }
    }
    let query = Query.seeking(.bytes)
    return queryPeer(query) && query.isSeekable
  }

  /// Size in bytes that upstream reports; nil if unknown.
  fileprivate var peerSizeInBytes: UInt64? {
    let query = Query.duration(.bytes)
    return queryPeer(query) ? query.duration : nil
  }
}

extension ElementaryStreamSource {
  /// Makes the description of an elementary stream from its caps.
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
