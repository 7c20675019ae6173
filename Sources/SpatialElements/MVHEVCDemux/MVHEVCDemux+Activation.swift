import CGStreamer
import GStreamer
import StereoVideo

extension MVHEVCDemux {
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
    let flow = run { [self] in
      switch input {
      case .unknown: try open()
      case .movie: try step()
      case .elementaryStream: try pullElementaryStream()
      }
    }
    guard flow != .ok else { return }
    sink.pauseTask()
    finish(flow)
  }

  /// Tells downstream and the application why no more data comes.
  func finish(_ flow: FlowReturn) {
    Self.log.info(self, "stopping: \(flow)")
    switch flow {
    case .flushing: return
    case .eos:
      if play.endsWithSegmentDone {
        let stop = play.rate < 0 ? play.start : playEnd
        postSegmentDone(at: Int64(clamping: stop), following: cause)
        for stream in streams {
          stream.pad.push(following(.segmentDone(at: Int64(clamping: stop))))
        }
        return
      }
      if streams.isEmpty || !hasPlayed && cause == nil {
        post(ElementError(.demux, "The stream ended before anything in it could be played."))
      }
      for stream in streams where !stream.hasEnded {
        stream.hasEnded = true
        stream.pad.push(following(.endOfStream))
      }
    default:
      if !hasFailed {
        post(
          ElementError(
            .failedStream,
            flow == .notLinked ? whatCanBeLinked : "Internal data stream error.",
            debug: "streaming stopped, reason \(flow) (\(flow.rawValue))"))
      }
      for stream in streams where !stream.hasEnded {
        stream.hasEnded = true
        stream.pad.push(following(.endOfStream))
      }
    }
  }

  /// What to tell somebody who has linked nothing, or eyes that a movie does not have.
  private var whatCanBeLinked: String {
    let names = streams.map(\.pad.name)
    let hasEye = Eye.allCases.contains { names.contains($0.rawValue) }
    return "None of the pads that there are is linked: \(names.joined(separator: ", "))."
      + (hasEye ? "" : " There is no video with two layers, which left and right come from.")
  }

  /// Where what is played ends, on the movie's time line.
  var playEnd: ClockTime {
    play.stop ?? status.current.duration ?? play.start
  }

  /// What a pad said to data, combined with what the others said.
  func combine(_ stream: DemuxStream, _ flow: FlowReturn) throws {
    let all = combiner.update(stream.pad, flow)
    if all == .ok || all == .notLinked && flow != .notLinked { return }
    try all.check()
  }
}
