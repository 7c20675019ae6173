// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

extension MVHEVCMux.Streaming {
  /// Takes the earliest buffers that wait at the pads, until a pad has no more.
  mutating func step() throws {
    let all = element.sinkPads
    if let movie { try endReleased(all, of: movie) }
    var known: MuxPads?
    repeat {
      guard !dropUnneeded(all) else {
        try output.flush()
        throw FlowReturn.needData
      }
      // The last pad has been released, and nothing is being written.
      guard movie != nil || !all.isEmpty else { throw FlowReturn.needData }
      let pads = try known ?? MuxPads(all, hasBegun: movie != nil)
      known = pads
      guard movie != nil || eyesAreKnown(pads) else {
        // The movie begins when both eyes have caps.
        for pad in all { _ = pad.pop() }
        return
      }
      let movie = try self.movie ?? begin(pads)
      // Buffers of an eye whose partner has been released have no place in the movie.
      _ = pads.orphan?.pop()
      try take(pads, into: movie)
    } while all.contains(where: \.hasBuffer) && all.allSatisfy { $0.hasBuffer || $0.isAtEnd }
    guard let movie, let pads = known else { return }
    for pad in pads.streams where pad.isAtEnd {
      if let track = muxInput(pad).track { try movie.end(track) }
    }
    try pass(pads, in: movie)
    if pads.eyesAreAtEnd { try endEyes(of: movie) }
    try output.flush()
    postProgress(of: movie)
  }

  /// Takes the earliest buffer, or writes the end of the file if all streams have ended.
  private mutating func take(_ pads: MuxPads, into movie: MovieFileWriter) throws {
    guard let source = pads.earliest() else {
      // More data may come if a pad has just been flushed.
      guard pads.all.allSatisfy({ $0.isAtEnd || element.pairing.silentPads.contains($0) }) else {
        try output.flush()
        throw FlowReturn.needData
      }
      try finish()
      throw FlowReturn.eos
    }
    switch source {
    case .eyes(let left, let right):
      let stereo = try nextEyesInput(in: movie)
      element.followSettings(stereo)
      if let time = pads.eyesTime { requestKeyframes(at: time) }
      try write(try stereo.take(left: left, right: right), to: movie)
      if let warning = stereo.pairs.warning() { element.postWarning(warning) }
    case .stream(let pad): try copy(pad, to: movie)
    }
  }

  /// Lets the file continue without waiting for silent pads.
  private mutating func pass(_ pads: MuxPads, in movie: MovieFileWriter) throws {
    for pad in pads.streams where element.pairing.silentPads.contains(pad) {
      if let track = muxInput(pad).track { try movie.pass(lastTime, of: track) }
    }
    let eyes = [pads.left, pads.right].compactMap { $0 }
    if eyes.contains(where: element.pairing.silentPads.contains) {
      try movie.pass(lastTime, of: MuxPads.eyesTrack)
    }
  }

  /// Ends the tracks of pads that have been released.
  private func endReleased(_ pads: [AggregatorPad], of movie: MovieFileWriter) throws {
    for input in inputs {
      guard let track = input.track, !pads.contains(where: { $0.name == input.name })
      else { continue }
      try movie.end(track)
    }
  }

  private mutating func postProgress(of movie: MovieFileWriter, isFinal: Bool = false) {
    progress.post(
      from: element, runningTime: lastRunningTime, frames: framesWritten, bytes: movie.byteCount,
      isFinal: isFinal)
  }

  /// Writes layered access units to the track of the eyes.
  private mutating func write(_ frames: [LayeredFrame], to movie: MovieFileWriter) throws {
    // In a fragmented file, the sample entry comes before the first sample.
    if !frames.isEmpty, let stereo, describedEyes !== stereo {
      describedEyes = stereo
      try describeEyes(stereo, of: movie)
    }
    for frame in frames {
      let dependency: SampleDependency =
        frame.isSync ? .independent : frame.isReference ? .dependent : .disposable
      try movie.append(
        frame.buffer,
        MovieFileWriter.Timing(
          presentationTime: frame.presentationTime, decodeTime: frame.decodeTime,
          // The duration matters only for the movie's last picture.
          duration: frame.duration ?? (framesWritten > 0 ? 0 : LayeredFrame.stillDuration),
          isSync: frame.isSync,
          dependency: dependency),
        to: MuxPads.eyesTrack)
      lastRunningTime = frame.presentationTime
      lastTime = max(lastTime, frame.decodeTime)
      note(end: frame.presentationTime, duration: frame.duration ?? 0)
      framesWritten += 1
    }
  }

  private mutating func note(end time: RunningTime, duration: ClockTime) {
    endTime = max(endTime, time + duration)
  }

  /// Writes the next buffer of a stream that is not encoded here.
  private mutating func copy(_ pad: AggregatorPad, to movie: MovieFileWriter) throws {
    guard let buffer = pad.pop() else { return }
    let input = muxInput(pad)
    guard let track = input.track else {
      if !input.isLeftOut {
        input.isLeftOut = true
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) started after the movie had begun with a fixed set of "
              + "tracks; it is not written."))
      }
      return
    }
    let segment = pad.segment
    guard !buffer.isGap else {
      // Other tracks need not wait for this one until the gap ends.
      let end = buffer.pts.map { $0 + (buffer.duration ?? 0) }
      if let end = end.flatMap({ segment.signedRunningTime($0) }) {
        try movie.pass(end, of: track)
      }
      return
    }
    guard buffer.size > 0, !input.isHeader(buffer) else { return }
    guard let pts = buffer.pts ?? buffer.dts, let time = segment.signedRunningTime(pts) else {
      throw ElementError(.failedStream, "A buffer on \(pad.name) has no timestamp.")
    }
    var timing = MovieFileWriter.Timing(
      presentationTime: time,
      decodeTime: buffer.dts.flatMap { segment.signedRunningTime($0) } ?? time,
      duration: buffer.duration ?? 0)
    switch input.kind {
    case .eye: return
    case .audio:
      // Audio is decoded in presentation order.
      let (count, duration) = try input.packets(in: buffer) ?? (1, buffer.duration ?? 0)
      timing = MovieFileWriter.Timing(
        presentationTime: time, decodeTime: time, duration: duration, count: count)
    case .subtitle:
      try copySubtitle(buffer, of: input, at: time, to: movie, track)
      return
    case .meta:
      timing.isSync = !buffer.flags.contains(.deltaUnit)
    case .video:
      timing.isSync = !buffer.flags.contains(.deltaUnit)
      timing.dependency = MuxInput.dependency(of: buffer)
      lastRunningTime = time
      framesWritten += 1
      requestKeyframes(at: time)
    }
    note(end: time, duration: timing.duration)
    lastTime = max(lastTime, timing.decodeTime)
    let sample = try input.sample(buffer)
    if sample.size > 0 { try movie.append(sample, timing, to: track) }
  }

  /// Writes a text, after an empty sample for the time since the previous text.
  private func copySubtitle(
    _ buffer: Buffer, of input: MuxInput, at time: RunningTime, to movie: MovieFileWriter,
    _ track: Int
  ) throws {
    if let end = input.subtitleEnd, end < time {
      try movie.append(
        MuxSubtitles.silence,
        MovieFileWriter.Timing(
          presentationTime: end, decodeTime: end, duration: ClockTime(clamping: time - end)),
        to: track)
    }
    let duration = buffer.duration ?? MuxSubtitles.usualDuration
    try movie.append(
      MuxSubtitles.sample(buffer),
      MovieFileWriter.Timing(presentationTime: time, decodeTime: time, duration: duration),
      to: track)
    input.subtitleEnd = time + duration
  }

  /// Drops buffers that the movie does not need from all pads: gaps between the eyes' frames, gaps
  /// before the first data of tracks whose caps do not describe them completely, and headers of
  /// FLAC and Opus, which the sample entry already has.
  ///
  /// - Returns: whether any buffer was dropped.
  private mutating func dropUnneeded(_ pads: [AggregatorPad]) -> Bool {
    var hasDropped = false
    for pad in pads {
      guard let buffer = pad.peek() else { continue }
      let isGap = buffer.isGap
      guard isGap || buffer.flags.contains(.header) else { continue }
      let input = muxInput(pad)
      if isGap {
        guard input.kind == .eye || (movie == nil && input.needsData) else { continue }
        hasDropped = pad.dropGap() || hasDropped
      } else if input.isHeader(buffer) {
        _ = pad.pop()
        hasDropped = true
      }
    }
    return hasDropped
  }

  // MARK: The end

  /// Returns the input for the next pair of frames. If their size or format has changed, drains the
  /// previous input into the movie and makes a new one.
  private mutating func nextEyesInput(in movie: MovieFileWriter) throws -> StereoInput {
    guard let stereo else { throw FlowReturn.error }
    guard stereo.isOver else { return stereo }
    try drain(stereo, to: movie)
    let next = try makeStereo(baseEye: stereo.baseEye, following: stereo)
    self.stereo = next
    return next
  }

  /// Writes the frames that are still in the encoders.
  private mutating func drain(_ stereo: StereoInput, to movie: MovieFileWriter) throws {
    while let frames = try stereo.drain() {
      try write(frames, to: movie)
      postProgress(of: movie)
    }
  }

  /// Ends the track of the eyes, after the frames that are still in the encoders. Later calls do
  /// nothing.
  private mutating func endEyes(of movie: MovieFileWriter) throws {
    guard let stereo, !eyesHaveEnded else { return }
    eyesHaveEnded = true
    try drain(stereo, to: movie)
    try movie.end(MuxPads.eyesTrack)
    guard describedEyes != nil else {
      throw ElementError(
        .mux, "The streams ended before the first pair of frames, so there is no picture to write.")
    }
    if let warning = stereo.pairs.warning(isFinal: true) { element.postWarning(warning) }
  }

  private mutating func finish() throws {
    guard let movie else { return }
    try endEyes(of: movie)
    if let stereo { try describeEyes(stereo, of: movie) }
    try writeSideTracks(to: movie)
    movie.setMetadata(movieMetadata)
    try movie.finish()
    postProgress(of: movie, isFinal: true)
    if let stereo { element.postStatistics(stereo, log: MVHEVCMux.log) }
    self.movie = nil
  }

  /// Runs `work`. If it throws an error other than a `FlowReturn`, completes the file with the data
  /// so far, so that it can be played, and rethrows the error.
  mutating func saving(_ work: (inout Self) throws -> Void) throws {
    do {
      try work(&self)
    } catch let flow as FlowReturn {
      throw flow
    } catch {
      if let movie {
        attempt { try $0.endEyes(of: movie) }
        attempt { if let stereo = $0.stereo { try $0.describeEyes(stereo, of: movie) } }
        attempt { try $0.writeSideTracks(to: movie) }
        attempt {
          movie.setMetadata($0.movieMetadata)
          try movie.finish(isUrgent: true)
        }
        self.movie = nil
      }
      throw error
    }
  }

  /// Runs a step of completing the file after an error. Further errors are only logged, as the
  /// first one is posted.
  private mutating func attempt(_ work: (inout Self) throws -> Void) {
    do {
      try work(&self)
    } catch {
      MVHEVCMux.log.warning(element, "completing the file: \(error)")
    }
  }
}
