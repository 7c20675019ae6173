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
    if pads.eyesAreAtEnd {
      let place = eyesPlace(in: movie)
      try eyes?.end(in: place, &progress)
    }
    try output.flush()
    progress.post(from: element, of: movie)
  }

  /// Takes the earliest buffer, or writes the end of the file if all streams have ended.
  private mutating func take(_ pads: MuxPads, into movie: MovieFileWriter) throws {
    let hasShift =
      Eye.allCases.contains { eyes?.input.shift(of: $0) ?? 0 != 0 }
      || inputs.contains { $0.mender.shift != 0 }
    let place = hasShift || isLive ? place : { time, _ in time }
    guard let source = pads.earliest(place: place) else {
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
      if let time = pads.eyesTime {
        requestKeyframes(at: eyes?.input.placed(time, on: left) ?? time)
      }
      guard eyes != nil else { throw FlowReturn.error }
      let place = eyesPlace(in: movie)
      try eyes?.take(left: left, right: right, to: place, &progress)
    case .stream(let pad): try copy(pad, to: movie)
    }
  }

  /// The time by which the timestamps of a pad have jumped.
  func shift(of pad: String) -> RunningTime {
    if let eye = Eye(rawValue: pad) { return eyes?.input.shift(of: eye) ?? 0 }
    return inputs.first { $0.name == pad }?.mender.shift ?? 0
  }

  /// Returns the time that says when a pad's next buffer of this running time is taken: at once if
  /// it has jumped ahead.
  private func place(_ time: RunningTime, of pad: AggregatorPad) -> RunningTime {
    let name = pad.name
    let isAhead =
      Eye(rawValue: name) != nil
      ? eyes?.input.isAhead(time, on: pad)
      : inputs.first { $0.name == name }?.mender.isAhead(time, pad.arrival)
    return isAhead ?? false ? .min : time + shift(of: name)
  }

  /// Lets the file continue without waiting for silent pads.
  private mutating func pass(_ pads: MuxPads, in movie: MovieFileWriter) throws {
    for pad in pads.streams where element.pairing.silentPads.contains(pad) {
      if let track = muxInput(pad).track { try movie.pass(progress.lastTime, of: track) }
    }
    let eyes = [pads.left, pads.right].compactMap { $0 }
    if eyes.contains(where: element.pairing.silentPads.contains) {
      try movie.pass(progress.lastTime, of: MuxPads.eyesTrack)
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

  private func eyesPlace(in movie: MovieFileWriter) -> EyesTrack.Place {
    EyesTrack.Place(movie: movie, description: description)
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
        try movie.pass(end + input.mender.shift, of: track)
      }
      return
    }
    guard buffer.size > 0, !input.isHeader(buffer) else { return }
    guard
      let timing = try input.timing(
        of: buffer, in: segment, &timelineShift,
        now: element.currentRunningTime.map(RunningTime.init(clamping:)),
        isLive: { pad.peerLatency?.isLive ?? false }, warn: element.postWarning)
    else { return }
    let time = timing.presentationTime
    switch input.kind {
    case .eye: return
    case .subtitle: return try input.writeText(buffer, at: time, to: movie, track)
    case .video:
      progress.addPicture(at: time, decodedAt: timing.decodeTime, duration: timing.duration)
      if input.mender.hasJumped { repeatRequest() }
      requestKeyframes(at: time)
    case .audio, .meta:
      progress.addSample(at: time, decodedAt: timing.decodeTime, duration: timing.duration)
    }
    let sample = try input.sample(buffer)
    if sample.size > 0 { try movie.append(sample, timing, to: track) }
  }

  /// Drops buffers that the movie does not need from all pads: gaps between the eyes' frames, gaps
  /// before the first data of tracks whose caps do not describe them completely, audio before the
  /// first timestamp, and headers of FLAC and Opus, which the sample entry already has.
  ///
  /// - Returns: whether any buffer was dropped.
  private mutating func dropUnneeded(_ pads: [AggregatorPad]) -> Bool {
    var hasDropped = false
    for pad in pads {
      guard let buffer = pad.peek() else { continue }
      let isGap = buffer.isGap
      let isTimed = buffer.pts != nil || buffer.dts != nil
      guard isGap || !isTimed || buffer.flags.contains(.header) else { continue }
      let input = muxInput(pad)
      if input.isHeader(buffer) {
        _ = pad.pop()
        hasDropped = true
      } else if !isTimed, input.kind == .audio, !input.mender.hasBegun {
        _ = pad.pop()
        hasDropped = true
        guard !input.lacksBeginning else { continue }
        input.lacksBeginning = true
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) begins without timestamps, as audio of transport streams "
              + "may; it is not written up to its first timestamp."))
      } else if isGap {
        guard input.kind == .eye || (movie == nil && input.needsData) else { continue }
        hasDropped = pad.dropGap() || hasDropped
      }
    }
    return hasDropped
  }

  // MARK: The end

  private mutating func finish() throws {
    guard let movie else { return }
    let place = eyesPlace(in: movie)
    try eyes?.end(in: place, &progress)
    try eyes?.describe(in: place)
    // Audio that belongs to discarded pictures is not played either.
    let isCut = eyes != nil && !element.settings.current.encoder.drainsAtEnd
    try sideTracks.write(to: movie, until: isCut ? progress.pictureEnd : progress.endTime)
    movie.setMetadata(description.movieMetadata(isSpatial: isSpatial))
    try movie.finish(at: isCut ? progress.pictureEnd : nil)
    progress.post(from: element, of: movie, isFinal: true)
    // The statistics of an encoder that has not been drained would have to be waited for.
    if let eyes, !isCut { element.postStatistics(eyes.input) }
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
        let place = eyesPlace(in: movie)
        attempt { try $0.eyes?.end(in: place, &$0.progress) }
        attempt { try $0.eyes?.describe(in: place) }
        attempt { try $0.sideTracks.write(to: movie, until: $0.progress.endTime) }
        attempt {
          movie.setMetadata($0.description.movieMetadata(isSpatial: $0.isSpatial))
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
      element.log.warning(element, "completing the file: \(error)")
    }
  }
}
