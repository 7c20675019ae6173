// SPDX-License-Identifier: MPL-2.0

import GStreamer
import MoviePlayer
import StereoVideo

/// The streaming thread: runs the player step by step and carries out its requests.
extension MVHEVCDemux.Streaming {
  /// Samples from this size in bytes, mostly sync samples, are read into recycled memory.
  private static let recycledSize: UInt32 = 1 << 20

  /// Checking all links costs as much as a small sample, so it is done once per this many steps.
  private static let linkCheckInterval = 16

  /// Runs the next step; returns false if more bytes are needed first.
  mutating func step() throws -> Bool {
    stepCount &+= 1
    if stepCount % Self.linkCheckInterval == 0 { updateSelection() }
    switch try player?.next() {
    case .output(let output): try give(output)
    case .read(let request): try read(request)
    case .moveSource(let place): return moveUpstream(to: place)
    case .awaitBytes, nil: return false
    case .end(.nothingSelected): throw FlowReturn.notLinked
    case .end: throw FlowReturn.eos
    }
    return true
  }

  /// Tells the player which streams are linked.
  private mutating func updateSelection() {
    for (number, output) in outputs.enumerated() where output.updateIsLinked() {
      player?.select(StreamID(rawValue: number), output.isTaken)
      _ = combiner.update(output.pad, output.isTaken ? .ok : .notLinked)
    }
  }

  private mutating func read(_ request: ReadRequest) throws {
    var slice: ByteSlice?
    do {
      let start = request.range.lowerBound
      let size = UInt32(clamping: request.range.upperBound - start)
      let target =
        size >= Self.recycledSize ? memory.buffer(size: Int(size)) : nil
      let buffer = try element.sink.pullRange(offset: start, size: size, into: target)
      if buffer.size > 0 { slice = ByteSlice(try MappedBuffer(buffer)) }
    } catch let flow as FlowReturn where flow == .eos || request.isProbe && flow != .flushing {
      slice = nil
    }
    player?.supply(slice)
  }

  // MARK: Outputs

  private mutating func give(_ output: PlayerOutput) throws {
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
      _ = combiner.update(output.pad, .eos)
    case .statusChanged: publishStatus()
    case .warning(let warning) where warning.kind == .file:
      element.log.warning(element, "\(warning.message)")
    case .warning(let warning):
      element.postWarning(ElementError(.demux, warning.message, debug: warning.detail))
    }
  }

  private func output(_ id: StreamID) -> DemuxOutput? {
    let outputs = outputs
    return outputs.indices.contains(id.rawValue) ? outputs[id.rawValue] : nil
  }

  private mutating func push(_ sample: Sample, to id: StreamID) throws {
    guard let output = output(id) else { return }
    let position = position
    element.shared.withLock { $0.position = position }
    let buffer = sample.makeBuffer()
    element.log.log(
      element, "\(output.pad.name): \(buffer.size) bytes at \(position.nanoseconds) ns")
    if output.isVideo, !sample.flags.contains(.delta),
      element.settings.current.announcesKeyframes
    {
      output.announceKeyframe(at: sample.presentationTime)
    }
    let flow = output.pad.push(buffer)
    if flow == .notLinked { updateSelection() }
    let all = combiner.update(output.pad, flow)
    if all == .ok || all == .notLinked && flow != .notLinked { return }
    try all.check()
  }

  /// Sets the sequence number of the current seek on an event.
  private func following(_ event: Event) -> Event {
    cause.map { event.following($0) } ?? event
  }

  // MARK: Streams

  /// Adds the pads and posts the stream collection.
  private mutating func show(_ streams: [PlayerStream]) throws {
    let caps = element.sink.currentCaps
    let upstream = caps?.mediaType == "video/x-h265" ? caps : nil
    let fileType = player?.fileType
    let tags = player?.movie.map { DemuxTags.movie($0, fileType: fileType) }
    let group = streamGroup()
    // Pads are added, and later removed, only if all of them could be made.
    let outputs = try streams.map {
      try DemuxOutput($0, of: element, upstream: upstream, movieTags: tags, group: group)
    }
    self.outputs = outputs
    let isElementary = streams.contains { $0.track == nil }
    element.shared.withLock {
      $0.pads = outputs.map(\.pad)
      if isElementary, element.sink.mode == .push { $0.isSoughtUpstream = true }
    }
    publishStatus()
    // Not sent as an event on the pads: `decodebin3` after one of them would wait for the others'
    // streams.
    element.post(
      StreamCollection(
        upstreamID: element.sink.streamStart?.streamID, outputs.map(\.stream)))
    for output in outputs {
      combiner.add(output.pad)
      element.add(output.pad)
      element.log.info(element, "\(output.pad.name): \(output.caps)")
    }
    element.noMorePads()
    updateSelection()
    for output in outputs where output.isLayered {
      if let warning = BaseLayerOnlyWarning.warning(after: output.pad) {
        element.postWarning(warning)
      }
    }
  }

  /// Returns the group id of the input's streams: upstream's, or a new one.
  private mutating func streamGroup() -> UInt32 {
    if let group = element.sink.streamStart?.group { return group }
    if let group = ownGroup { return group }
    let group = nextStreamGroup()
    ownGroup = group
    return group
  }

  /// Publishes the state that other threads ask for.
  private mutating func publishStatus() {
    let (seekMap, duration) = (player?.seekMap, player?.duration)
    let latencies = outputs.indices.map { player?.latency(of: StreamID(rawValue: $0)) ?? 0 }
    let (isNews, isLater) = element.shared.withLock { shared in
      defer {
        (shared.seekMap, shared.duration, shared.latencies) = (seekMap, duration, latencies)
      }
      let isLater = latencies != shared.latencies && latencies.contains { $0 > 0 }
      return (shared.duration != duration && shared.duration != nil, isLater)
    }
    if isNews { element.postDurationChanged() }
    if isLater { element.postLatencyChanged() }
  }

  // MARK: The end

  /// Tells downstream and the application why the stream ends.
  mutating func finish(_ flow: FlowReturn) {
    element.log.info(element, "stopping: \(flow)")
    switch flow {
    case .flushing: return
    case .eos:
      let now = element.shared.current
      if now.segment.flags.contains(.endsWithSegmentDone) {
        let end = now.segment.stop ?? now.duration ?? now.segment.start
        let place = now.segment.rate < 0 ? now.segment.start : end
        element.postSegmentDone(at: place, following: cause)
        for pad in now.pads { pad.push(following(.segmentDone(at: place))) }
        return
      }
    default:
      if !element.hasFailed {
        element.post(
          ElementError(
            .failedStream,
            flow == .notLinked ? unlinkedMessage : "Internal data stream error.",
            debug: "streaming stopped, reason \(flow) (\(flow.rawValue))"))
      }
    }
    for output in outputs where !output.hasEnded { end(output) }
  }

  private mutating func end(_ output: DemuxOutput) {
    output.hasEnded = true
    output.pad.push(following(.endOfStream))
  }

  /// Error text for an application that has linked no pad, or eyes that the movie does not have.
  private var unlinkedMessage: String {
    let names = element.shared.current.pads.map(\.name)
    let hasEye = Eye.allCases.contains { names.contains($0.rawValue) }
    return "None of the available pads is linked: \(names.joined(separator: ", "))."
      + (hasEye ? "" : " There is no video with two layers, so there are no pads left and right.")
  }
}
