import CGStreamer
import GStreamer
import MoviePlayer
import StereoVideo

/// The streaming thread: has the player take its steps, and does what comes of them.
extension MVHEVCDemux {
  /// Samples of so many bytes, which are key frames mostly, are read into memory that is used
  /// again.
  private static let recycledSize: UInt32 = 1 << 20

  /// Looking at all pads costs as much as a small sample, so it is done once in so many steps.
  private static let lookInterval = 16

  /// Takes the next step; false where more bytes have to come first.
  func step() throws -> Bool {
    streaming.stepCount &+= 1
    if streaming.stepCount % Self.lookInterval == 0 { noteLinks() }
    switch try streaming.player?.next() {
    case .output(let output): try give(output)
    case .read(let request): try read(request)
    case .moveSource(let place): return moveUpstream(to: place)
    case .awaitBytes, nil: return false
    case .end(.nothingSelected): throw FlowReturn.notLinked
    case .end: throw FlowReturn.eos
    }
    return true
  }

  /// Tells the player which streams somebody takes.
  private func noteLinks() {
    for (number, output) in streaming.outputs.enumerated() where output.looksAround() {
      streaming.player?.select(StreamID(rawValue: number), output.isTaken)
      _ = streaming.combiner.update(output.pad, output.isTaken ? .ok : .notLinked)
    }
  }

  private func read(_ request: ReadRequest) throws {
    var slice: ByteSlice?
    do {
      let start = request.range.lowerBound
      let size = UInt32(clamping: request.range.upperBound - start)
      let target =
        size >= Self.recycledSize ? streaming.memory.buffer(size: Int(size)) : nil
      let buffer = try sink.pullRange(offset: start, size: size, into: target)
      if buffer.size > 0 { slice = ByteSlice(try MappedBuffer(buffer)) }
    } catch let flow as FlowReturn where flow == .eos || request.isProbe && flow != .flushing {
      slice = nil
    }
    streaming.player?.supply(slice)
  }

  // MARK: Outputs

  private func give(_ output: PlayerOutput) throws {
    switch output {
    case .streams(let streams): try show(streams)
    case .format(let id, let format): try self.output(id)?.setFormat(format)
    case .segment(let id, let start):
      self.output(id)?.begin(start, following(.segment(Segment(start.segment))))
    case .sample(let id, let sample): try push(sample, to: id)
    case .gap(let id, let start, let duration):
      self.output(id)?.pad.push(.gap(at: start, duration: duration))
    case .endOfStream(let id):
      guard let output = self.output(id) else { return }
      end(output)
      _ = streaming.combiner.update(output.pad, .eos)
    case .statusChanged: noteStatus()
    case .warning(let warning) where warning.kind == .file:
      Self.log.warning(self, "\(warning.message)")
    case .warning(let warning):
      postWarning(ElementError(.demux, warning.message, debug: warning.detail))
    }
  }

  private func output(_ id: StreamID) -> DemuxOutput? {
    let outputs = streaming.outputs
    return outputs.indices.contains(id.rawValue) ? outputs[id.rawValue] : nil
  }

  private func push(_ sample: Sample, to id: StreamID) throws {
    guard let output = output(id) else { return }
    let position = streaming.player?.position ?? 0
    facts.withLock { $0.position = position }
    let flow = output.pad.push(sample.makeBuffer())
    if flow == .notLinked { noteLinks() }
    let all = streaming.combiner.update(output.pad, flow)
    if all == .ok || all == .notLinked && flow != .notLinked { return }
    try all.check()
  }

  /// An event of this element's, as an answer to the seek that is followed.
  private func following(_ event: Event) -> Event {
    streaming.cause.map { event.following($0) } ?? event
  }

  // MARK: Streams

  /// Shows the application what streams there are.
  private func show(_ streams: [PlayerStream]) throws {
    let caps = sink.stickyEvent(GST_EVENT_CAPS)?.caps
    let upstream = caps?.mediaType == "video/x-h265" ? caps : nil
    let fileType = streaming.player?.fileType
    let tags = streaming.player?.movie.map { DemuxTags.movie($0, fileType: fileType) }
    let group = streamGroup
    // Only streams that are all there are shown, and taken away in the end.
    let outputs = try streams.map {
      try DemuxOutput($0, of: self, upstream: upstream, movieTags: tags, group: group)
    }
    streaming.outputs = outputs
    let isElementary = streams.contains { $0.track == nil }
    facts.withLock {
      $0.pads = outputs.map(\.pad)
      if isElementary, sink.mode == GST_PAD_MODE_PUSH { $0.isSoughtUpstream = true }
    }
    noteStatus()
    let collection = StreamCollection(
      upstreamID: sink.stickyEvent(GST_EVENT_STREAM_START)?.streamID, outputs.map(\.stream))
    for output in outputs { output.pad.push(.streamCollection(collection)) }
    post(collection)
    for output in outputs {
      streaming.combiner.add(output.pad)
      add(output.pad)
    }
    noMorePads()
    noteLinks()
  }

  /// What ties the streams of this input together: upstream's, or one of our own.
  private var streamGroup: UInt32 {
    if let group = sink.stickyEvent(GST_EVENT_STREAM_START)?.group { return group }
    if let group = streaming.ownGroup { return group }
    let group = gst_util_group_id_next()
    streaming.ownGroup = group
    return group
  }

  /// Keeps what other threads ask about.
  private func noteStatus() {
    let (seekMap, duration) = (streaming.player?.seekMap, streaming.player?.duration)
    let isNews = facts.withLock { facts in
      defer { (facts.seekMap, facts.duration) = (seekMap, duration) }
      return facts.duration != duration && facts.duration != nil
    }
    if isNews { postDurationChanged() }
  }

  // MARK: The end

  /// Tells downstream and the application why no more data comes.
  func finish(_ flow: FlowReturn) {
    Self.log.info(self, "stopping: \(flow)")
    switch flow {
    case .flushing: return
    case .eos:
      let now = facts.current
      if now.segment.flags.contains(.endsWithSegmentDone) {
        let end = now.segment.stop ?? now.duration ?? now.segment.start
        let place = Int64(clamping: now.segment.rate < 0 ? now.segment.start : end)
        postSegmentDone(at: place, following: streaming.cause)
        for pad in now.pads { pad.push(following(.segmentDone(at: place))) }
        return
      }
    default:
      if !hasFailed {
        post(
          ElementError(
            .failedStream,
            flow == .notLinked ? whatCanBeLinked : "Internal data stream error.",
            debug: "streaming stopped, reason \(flow) (\(flow.rawValue))"))
      }
    }
    for output in streaming.outputs where !output.hasEnded { end(output) }
  }

  private func end(_ output: DemuxOutput) {
    output.hasEnded = true
    output.pad.push(following(.endOfStream))
  }

  /// What to tell somebody who has linked nothing, or eyes that a movie does not have.
  private var whatCanBeLinked: String {
    let names = facts.current.pads.map(\.name)
    let hasEye = Eye.allCases.contains { names.contains($0.rawValue) }
    return "None of the pads that there are is linked: \(names.joined(separator: ", "))."
      + (hasEye ? "" : " There is no video with two layers, which left and right come from.")
  }
}
