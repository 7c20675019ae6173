import CGStreamer
import GStreamer
import HEVC
import ISOBMFF

/// What push mode knows of the bytes that come.
final class PushInput {
  var queue = ByteQueue()
  var parser = MovieParser()
  /// How many bytes have come in all.
  var received: UInt64 = 0
  /// How often upstream had to go back for samples that lie before others.
  var returns = 0
  /// The movie before its first fragment.
  var bareMovie: Movie?
  /// Where the fragments lie, by the first index that says so.
  var fragments: FragmentIndex?
  /// The search for an index at the file's end, while that goes on.
  var search: IndexSearch?
  var hasSearched = false
  /// The parser has nothing more to say.
  var isParsed = false
  /// Upstream has ended.
  var hasEnded = false
  /// Upstream goes where it is asked to; nil before it was asked.
  var isSeekable: Bool?
  var ownGroup: UInt32?
  /// The segment of an elementary stream that has not begun yet.
  var elementarySegment: Segment?
}

extension MVHEVCDemux {
  /// More bytes is what jumping over media data has to save to be worth it.
  private static let smallestJump: UInt64 = 1 << 16

  /// More bytes are not kept for an edit list that goes back in the media.
  private static let maximumReturn: UInt64 = 1 << 25

  /// Of a track whose samples lie in another order than they play, more are not fetched.
  private static let maximumReturns = 1000

  func receive(_ pad: Pad, _ buffer: Buffer) throws {
    push.received &+= UInt64(clamping: buffer.size)
    if case .elementaryStream = input {
      try receiveElementary(buffer)
      return
    }
    if case .unknown = input, upstreamCaps?.mediaType == "video/x-h265" {
      try beginElementary()
      try receiveElementary(buffer)
      return
    }
    push.queue.append(buffer)
    if case .unknown = input, movie == nil, push.queue.start == 0, try looksElementary() { return }
    try advance()
  }

  /// Whether the stream turns out to be H.265 without a container; it is then taken as that.
  private func looksElementary() throws -> Bool {
    guard let start = push.queue.part(0, 4) else { return false }
    guard ElementaryInput.isByteStream(start.bytes) else { return false }
    input = .elementaryStream(ElementaryInput(framing: .annexB))
    let size = Int(clamping: push.queue.end)
    if let all = push.queue.part(0, size) { try receiveElementary(all) }
    push.queue = ByteQueue(at: push.queue.end)
    return true
  }

  /// Goes as far as the bytes reach that have come.
  func advance() throws {
    if try isSearching() { return }
    try parse()
    if case .unknown = input {
      guard try exposeIfPossible() else { return }
    }
    try handOut()
  }

  // MARK: The index

  private func parse() throws {
    while !push.isParsed {
      let event: MovieParser.Event
      do {
        event = try push.parser.next()
      } catch {
        push.isParsed = true
        isComplete = true
        guard movie != nil else { throw error }
        warn("The file is damaged or cut off; it is played up to there.", debug: "\(error)")
        return
      }
      switch event {
      case .fileType(let type): fileType = type
      case .movie(let found):
        movie = found
        push.bareMovie = found
        if !found.isFragmented {
          push.isParsed = true
          isComplete = true
        }
      case .segmentIndex(let index):
        if push.fragments == nil, index.references.allSatisfy({ !$0.isIndex }) {
          push.fragments = .segments(index)
        }
      case .randomAccess(let index):
        if push.fragments == nil { push.fragments = .randomAccess(index) }
      case .fragment(let fragment):
        append(fragment)
      case .mediaData(let range) where movie == nil:
        if jump(over: range) { return }
      case .needBytes(let range):
        let isHere = try push.queue.withBytes(at: range.lowerBound) {
          push.parser.supply($0, at: range.lowerBound)
        }
        if !isHere {
          if push.hasEnded { push.parser.endOfStream(at: push.queue.end) } else { return }
        }
      case .end:
        push.isParsed = true
        isComplete = true
      default: break
      }
    }
  }

  /// Asks upstream for what is behind media data whose index has not come yet.
  private func jump(over range: Range<UInt64>) -> Bool {
    guard range.upperBound < .max, range.upperBound > push.queue.end,
      range.upperBound - push.queue.end > Self.smallestJump, canSeekUpstream
    else { return false }
    return seekUpstream(to: range.upperBound)
  }

  var canSeekUpstream: Bool {
    if let known = push.isSeekable { return known }
    let query = Query.seeking(GST_FORMAT_BYTES)
    let seekable = sink.queryPeer(query) && query.isSeekable
    push.isSeekable = seekable
    return seekable
  }

  /// Makes upstream go on somewhere else, unseen by downstream.
  func seekUpstream(to offset: UInt64) -> Bool {
    let event = Event.byteSeek(to: offset)
    ownSeek.withLock { $0 = event.sequenceNumber }
    defer { ownSeek.withLock { $0 = nil } }
    guard sink.push(event) else { return false }
    push.queue = ByteQueue(at: offset)
    return true
  }

  /// Shows the streams, once what they are is known: with the first sample of a layered track, and
  /// the first fragment of a movie that consists of them.
  private func exposeIfPossible() throws -> Bool {
    guard let movie else { return false }
    guard !movie.isFragmented || basis != nil || isComplete else { return false }
    if movie.isFragmented, beginSearch() { return false }
    var first: Buffer?
    if let record = layeredTrackIndex.flatMap({ movie.tracks[$0].samples.sample(at: 0) }) {
      first = push.queue.part(record.offset, Int(record.size))
      if first == nil, !push.hasEnded {
        guard record.offset < push.queue.start else { return false }
        if canSeekUpstream {
          _ = seekUpstream(to: firstOffset(movie))
          return false
        }
      }
    }
    _ = canSeekUpstream
    try expose(first: first)
    return true
  }

  private func firstOffset(_ movie: Movie) -> UInt64 {
    movie.tracks.compactMap { $0.samples.sample(at: 0)?.offset }.min() ?? 0
  }

  // MARK: Samples

  /// Hands out the samples that are here, in the order they lie in the file.
  private func handOut() throws {
    while true {
      var chosen: (track: DemuxTrack, item: DemuxTrack.Item)?
      var allEnded = true
      for track in tracks where !track.hasEnded {
        guard let item = try next(track) else {
          if !track.hasEnded { allEnded = false }
          continue
        }
        allEnded = false
        if chosen == nil || item.record.offset < chosen?.item.record.offset ?? 0 {
          chosen = (track, item)
        }
      }
      guard let (track, item) = chosen else {
        if allEnded, !tracks.isEmpty { throw FlowReturn.eos }
        return
      }
      guard let size = Int(exactly: item.size),
        let data = push.queue.part(item.record.offset, size)
      else {
        if item.record.offset < push.queue.start {
          if canSeekUpstream, pendingSeek.current == nil, !push.hasEnded,
            push.returns < Self.maximumReturns, seekUpstream(to: item.record.offset)
          {
            push.returns += 1
            return
          }
          warn(
            "Samples of track \(track.id.rawValue) came before their turn and are left out; "
              + "the input would have to be seekable.")
          try pass(item, of: track)
          continue
        }
        guard push.hasEnded else {
          letGo(before: item.record.offset)
          return
        }
        warn(
          "The file is cut off; it is played up to there.",
          debug: "track \(track.id.rawValue): a sample at byte \(item.record.offset)")
        track.finish()
        continue
      }
      try pass(item, of: track)
      if track.hasLinkedStream {
        try hand(item, data, of: track)
      } else {
        hasPlayed = true
        for stream in track.streams { try combine(stream, .notLinked) }
      }
      if item.order > 0 { try fillGaps(upTo: ClockTime(item.order)) }
      letGo(before: item.record.offset)
    }
  }

  /// Lets go of bytes that neither samples nor the index need any more.
  private func letGo(before offset: UInt64) {
    let parsed = push.isParsed ? UInt64.max : push.parser.position
    let resumed = tracks.compactMap { track -> UInt64? in
      let place = (movie?.tracks[track.index].samples).flatMap { track.resumption($0)?.offset }
      guard let place, place < offset, offset - place <= Self.maximumReturn else { return nil }
      return place
    }
    push.queue.discard(before: min(offset, parsed, resumed.min() ?? .max))
  }

  // MARK: Events from upstream

  func handle(_ pad: Pad, _ event: Event) throws -> Bool {
    switch event.type {
    case GST_EVENT_STREAM_START: return true
    case GST_EVENT_CAPS:
      upstreamCaps = event.caps
      try setElementaryCaps(event.caps)
      return true
    case GST_EVENT_SEGMENT:
      return try takeSegment(event)
    case GST_EVENT_FLUSH_START, GST_EVENT_FLUSH_STOP:
      if ownSeek.current == event.sequenceNumber { return true }
      if event.type == GST_EVENT_FLUSH_STOP { flushed() }
      pushToAll(event)
      return true
    case GST_EVENT_EOS:
      try endOfInput(event)
      return true
    case GST_EVENT_TAG, GST_EVENT_GAP, GST_EVENT_STREAM_COLLECTION, GST_EVENT_TOC:
      return true
    default:
      return pad.forward(event)
    }
  }

  private func takeSegment(_ event: Event) throws -> Bool {
    guard let segment = event.segment else { return false }
    if case .elementaryStream(let elementary) = input {
      if segment.isInTime { elementary.segment = segment }
      return true
    }
    if segment.format == GST_FORMAT_BYTES {
      push.queue = ByteQueue(at: segment.start)
      startPendingSeek()
    } else if segment.isInTime, upstreamCaps?.mediaType == "video/x-h265" {
      push.elementarySegment = segment
    }
    return true
  }

  private func flushed() {
    combiner.reset()
    for stream in streams { stream.restart() }
    for track in tracks { track.repeatSegment() }
    if case .elementaryStream(let elementary) = input { elementary.reset() }
  }

  private func endOfInput(_ event: Event) throws {
    push.hasEnded = true
    let flow = run { [self] in
      if case .elementaryStream = input {
        try finishElementary()
      } else {
        try advance()
      }
    }
    if flow == .ok || flow == .eos {
      if case .unknown = input {
        post(ElementError(.demux, "The stream ended before anything in it could be played."))
        return
      }
      finish(.eos)
    } else {
      finish(flow)
    }
  }
}
