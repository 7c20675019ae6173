// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

/// What is done in the line: a thing at a time, in threads that may block.
extension Playback {
  /// Shows the first frame.
  func open(_ cancellation: Cancellation) throws {
    pipeline.setState(.paused)
    try waitForPictures(cancellation)
    guard try show(try prerolled(), again: true) != nil else {
      throw StereoMediaError.decoding(program.name, "it has no frames")
    }
    states.send(.paused)
  }

  /// Plays on, from the beginning where the movie has ended.
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

  /// The frame that is shown stays.
  func pause() {
    hold()
    if !control.current.hasEnded { states.send(.paused) }
  }

  /// From now on, no pictures are given out.
  private func hold() {
    control.withLock { $0.isPlaying = false }
    pipeline.setState(.paused)
  }

  /// Whether the end of the movie is a loop's is said when it is searched.
  func followLoops() throws {
    let control = control.current
    if control.loops != control.endsInLoop, !control.hasEnded { try stay() }
  }

  /// Goes so many frames forth or back, but not beyond the first and the last one, and holds there.
  func step(by count: Int, _ cancellation: Cancellation) throws {
    hold()
    let last = program.frames.count - 1
    let (index, isFar) = shownIndex.addingReportingOverflow(count)
    try jump(to: isFar ? (count < 0 ? 0 : last) : min(max(index, 0), last), cancellation)
  }

  /// Goes to a frame and shows it, whether or not it was shown.
  ///
  /// - Throws: a ``StereoMediaError`` where another frame came in its place.
  func jump(to index: Int, _ cancellation: Cancellation) throws {
    var shown = try go(to: index, cancellation)
    if shown != index, let start = program.frames.earlierStart(of: index) {
      shown = try go(to: index, from: start, cancellation)
    }
    if !control.current.isPlaying { states.send(.paused) }
    guard shown == index else {
      let seconds = Double(program.frames[index].time.clockTime / 1_000_000) / 1000
      throw StereoMediaError.decoding(program.name, "the frame at \(seconds) s cannot be decoded")
    }
  }

  private var shownIndex: Int { frames.latest?.element.index ?? 0 }

  /// Starts anew with the frame that is shown, as it is now wanted.
  private func stay() throws {
    // What is shown does not change any more.
    pipeline.setState(.paused)
    try go(to: shownIndex, again: false)
  }

  /// Goes to a frame, and on from there where the movie is played. Gives the index of the frame that
  /// came; nil where none did.
  ///
  /// - Parameter start: an earlier frame to search in its place.
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
      throw problem.error ?? .decoding(program.name, "it cannot be searched")
    }
    defer {
      if control.isPlaying { pipeline.setState(.playing) }
    }
    try waitForPictures(cancellation)
    var samples = try prerolled()
    // Where a movie says of less than it has, searching stops short of its last frames, too.
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
    (seek.start, seek.stop) = (.set(Int64(clamping: time)), .set(-1))
    return seek
  }

  /// Behind the last picture of a movie that loops, the first one comes, without a break.
  ///
  /// - Parameter number: of the seek whose part of the movie has been read.
  func loop(behind number: UInt32) throws {
    let control = control.withLock { control in
      control.emptyLoops += 1
      return control
    }
    // It may have been searched since.
    guard control.loops, number == control.seekNumber else { return }
    guard control.emptyLoops <= Self.mostEmptyLoops else {
      throw StereoMediaError.decoding(program.name, "it has no frames")
    }
    var seek = seek(to: 0, control)
    seek.flags = [.accurate, .segment]
    guard send(seek) else {
      throw problem.error ?? .decoding(program.name, "it cannot be searched")
    }
  }

  /// The queues hold so many samples at most: of movies of one frame, so many loops.
  private static let mostEmptyLoops = 1000

  /// The last frame stays.
  func end() {
    // It may have been searched since the end was told.
    guard isAtEnd, !control.current.hasEnded else { return }
    control.withLock { ($0.hasEnded, $0.isPlaying) = (true, false) }
    pipeline.setState(.paused)
    states.send(.ended)
  }

  /// Waits until each sink has something to show, but no longer than is reasonable.
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
          "'\(program.name)' cannot be read as a movie: no frame came within \(Decode.patience)")
      }
    }
  }
}
