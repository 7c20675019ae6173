// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// Operations on the playback queue: serialized, on threads that may block.
extension Playback {
  /// Prerolls and shows the first frame.
  func open(_ cancellation: Cancellation) throws {
    pipeline.setState(.paused)
    try waitForPictures(cancellation)
    guard try show(try prerolled(), again: true) != nil else {
      throw StereoMediaError.decoding(program.name, "it has no frames")
    }
    states.send(.paused)
  }

  /// Starts playing; from the first frame if the movie has ended.
  func play(rate: Double) throws {
    let before = control.withLock { control in
      defer { (control.rate, control.isPlaying) = (rate, true) }
      return control
    }
    if before.hasEnded {
      try go(to: 0)
    } else if before.rate != rate {
      try stay()
    } else {
      pipeline.setState(.playing)
    }
    states.send(.playing)
  }

  /// Pauses at the current frame.
  func pause() {
    hold()
    if !control.current.hasEnded { states.send(.paused) }
  }

  /// Pauses the pipeline; from then on, no frames are delivered.
  private func hold() {
    control.withLock { $0.isPlaying = false }
    pipeline.setState(.paused)
  }

  /// Seeks to the current frame if looping has been switched, as the seek's flags determine how the
  /// movie ends.
  func updateLooping() throws {
    let control = control.current
    if control.loops != control.endsInLoop, !control.hasEnded { try stay() }
  }

  /// Moves by a number of frames, limited to the first and the last frame, and pauses there.
  func step(by count: Int, _ cancellation: Cancellation) throws {
    hold()
    let last = program.frames.count - 1
    let (index, isFar) = shownIndex.addingReportingOverflow(count)
    try jump(to: isFar ? (count < 0 ? 0 : last) : min(max(index, 0), last), cancellation)
  }

  /// Seeks to a frame and shows it, even if it is the current one.
  ///
  /// - Throws: a ``StereoMediaError`` if another frame arrived instead.
  func jump(to index: Int, _ cancellation: Cancellation) throws {
    var shown = try go(to: index, cancellation)
    if shown != index, let start = program.frames.recoveryStart(of: index) {
      shown = try go(to: index, from: start, cancellation)
    }
    if !control.current.isPlaying { states.send(.paused) }
    guard shown == index else {
      let milliseconds = program.frames[index].time.clockTime.units(perSecond: 1000)
      let seconds = Double(milliseconds) / 1000
      throw StereoMediaError.decoding(program.name, "the frame at \(seconds) s cannot be decoded")
    }
  }

  private var shownIndex: Int { frames.latest?.element.index ?? 0 }

  /// Seeks to the current frame with the current rate and flags.
  private func stay() throws {
    // In PAUSED, the current frame does not change any more.
    pipeline.setState(.paused)
    try go(to: shownIndex, again: false)
  }

  /// Seeks to a frame, and resumes if the movie is playing. Returns the index of the frame that
  /// arrived; nil if none did.
  ///
  /// - Parameters:
  ///   - index: the frame.
  ///   - start: an earlier frame to seek to instead.
  ///   - again: whether the frame is delivered even if it is the current one.
  ///   - cancellation: cancels waiting for the frame.
  @discardableResult
  private func go(
    to index: Int, from start: Int? = nil, again: Bool = true,
    _ cancellation: Cancellation = Cancellation()
  ) throws -> Int? {
    pipeline.setState(.paused)
    let control = control.withLock { control in
      control.hasEnded = false
      return control
    }
    guard send(seek(to: program.frames.middle(of: start ?? index), control)) else {
      throw problem.error ?? .decoding(program.name, "seeking is not possible")
    }
    defer {
      if control.isPlaying { pipeline.setState(.playing) }
    }
    try waitForPictures(cancellation)
    var samples = try prerolled()
    // Seeks cannot reach the last frames of a movie whose stated duration is too short.
    if let came = samples.first.flatMap({ place(of: $0).index }), came < index {
      skip(index - came)
      try waitForPictures(cancellation)
      samples = try prerolled()
    }
    return try show(samples, again: again)?.index
  }

  private func seek(to time: ClockTime, _ control: Control) -> Seek {
    var seek = Seek()
    (seek.rate, seek.format) = (control.rate, .time)
    seek.flags = control.loops ? [.flush, .accurate, .segment] : [.flush, .accurate]
    (seek.start, seek.stop) = (.at(time), .set(-1))
    return seek
  }

  /// Continues with the first frame after the last one, without a gap.
  ///
  /// - Parameter number: the sequence number of the seek whose segment is done.
  func loop(after number: UInt32) throws {
    let control = control.withLock { control in
      control.emptyLoops += 1
      return control
    }
    // There may have been another seek since.
    guard control.loops, number == control.seekNumber else { return }
    guard control.emptyLoops <= Self.maximumEmptyLoops else {
      throw StereoMediaError.decoding(program.name, "it has no frames")
    }
    var seek = seek(to: 0, control)
    seek.flags = [.accurate, .segment]
    guard send(seek) else {
      throw problem.error ?? .decoding(program.name, "seeking is not possible")
    }
  }

  /// Maximum number of loops without a frame: the queues hold fewer samples, so a movie with a
  /// single frame does not reach it.
  private static let maximumEmptyLoops = 1000

  /// Stops at the end, where the last frame stays.
  func end() {
    // There may have been a seek since EOS was posted.
    guard isAtEnd, !control.current.hasEnded else { return }
    control.withLock { ($0.hasEnded, $0.isPlaying) = (true, false) }
    pipeline.setState(.paused)
    states.send(.ended)
    frames.end(isFinal: false)
  }

  /// Waits until each sink has prerolled, up to a time limit.
  private func waitForPictures(_ cancellation: Cancellation) throws {
    let start = ContinuousClock.now
    while true {
      let change = pipeline.stateChange(timeout: ClockTime.second / 20)
      if let error = problem.error { throw error }
      if control.current.isOver { throw CancellationError() }
      try cancellation.check()
      switch change {
      case .done: return
      case .failed: throw StereoMediaError.decoding(program.name, "its decoder does not start")
      case .underWay: break
      }
      guard ContinuousClock.now - start < Decode.patience else {
        throw StereoMediaError(
          .stalled,
          "'\(program.name)' cannot be read as a movie: no frame arrived within \(Decode.patience)")
      }
    }
  }
}
