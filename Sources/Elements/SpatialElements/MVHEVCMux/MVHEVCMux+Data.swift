// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import StereoVideo

extension MVHEVCMux.Streaming {
  /// Takes what is earliest among what waits at the pads, until one has nothing more.
  mutating func step() throws {
    let all = element.sinkPads
    if let movie { try endReleased(all, of: movie) }
    var known: MuxPads?
    repeat {
      guard all.filter({ dropGap(of: $0) || dropHeader(of: $0) }).isEmpty else {
        try output.flush()
        throw FlowReturn.needData
      }
      // The last pad has been released, and nothing is being written.
      guard movie != nil || !all.isEmpty else { throw FlowReturn.needData }
      let pads = try known ?? MuxPads(all, hasBegun: movie != nil)
      known = pads
      guard movie != nil || pads.eyesAreKnown(padCaps) else {
        // The movie begins when both eyes are there.
        for pad in all { _ = pad.pop() }
        return
      }
      let movie = try self.movie ?? begin(pads)
      // What comes for an eye whose partner has been released has no place in the movie.
      _ = pads.orphan?.pop()
      try take(pads, into: movie)
    } while all.contains(where: \.hasBuffer) && all.allSatisfy { $0.hasBuffer || $0.isAtEnd }
    guard let movie, let pads = known else { return }
    for pad in pads.streams where pad.isAtEnd {
      if let track = tracks[pad.name] { try movie.end(track) }
    }
    try pass(pads, in: movie)
    if pads.eyesAreAtEnd { try endEyes(of: movie) }
    try output.flush()
    postProgress(of: movie)
  }

  /// Takes what is earliest; writes the end where nothing comes any more.
  private mutating func take(_ pads: MuxPads, into movie: MovieInProgress) throws {
    guard let source = pads.earliest() else {
      // Where a pad has just been flushed, more may come.
      guard pads.all.allSatisfy({ $0.isAtEnd || element.pairing.silentPads.contains($0) }) else {
        try output.flush()
        throw FlowReturn.needData
      }
      try finish()
      throw FlowReturn.eos
    }
    switch source {
    case .eyes(let left, let right):
      let stereo = try goOnWithEyes(in: movie)
      element.followSettings(stereo)
      if let time = pads.eyesTime { requestKeyframes(at: time) }
      try write(try stereo.take(left: left, right: right), to: movie)
      if let warning = stereo.pairs.warning() { element.postWarning(warning) }
    case .stream(let pad): try copy(pad, to: movie)
    }
  }

  /// Nothing in the file waits for a pad that nobody waits for.
  private func pass(_ pads: MuxPads, in movie: MovieInProgress) throws {
    for pad in pads.streams where element.pairing.silentPads.contains(pad) {
      if let track = tracks[pad.name] { try movie.pass(lastTime, of: track) }
    }
    let eyes = [pads.left, pads.right].compactMap { $0 }
    if eyes.contains(where: element.pairing.silentPads.contains) {
      try movie.pass(lastTime, of: MuxPads.eyesTrack)
    }
  }

  /// A pad that is released has ended, as if by an end of stream: nothing waits for it.
  private func endReleased(_ pads: [AggregatorPad], of movie: MovieInProgress) throws {
    let names = Set(pads.map(\.name))
    for (name, track) in tracks where !names.contains(name) { try movie.end(track) }
  }

  private mutating func postProgress(of movie: MovieInProgress, isFinal: Bool = false) {
    progress.post(
      from: element, runningTime: lastRunningTime, frames: framesWritten, bytes: movie.byteCount,
      isFinal: isFinal)
  }

  /// Layered access units into the track of the eyes.
  private mutating func write(_ frames: [LayeredFrame], to movie: MovieInProgress) throws {
    // A file of fragments says first what is in them.
    if !frames.isEmpty, let stereo, describedEyes !== stereo {
      describedEyes = stereo
      try describeEyes(stereo, of: movie)
    }
    for frame in frames {
      let dependency: SampleDependency =
        frame.isSync ? .independent : frame.isReference ? .dependent : .disposable
      try movie.append(
        frame.buffer,
        MovieInProgress.Timing(
          presentationTime: frame.presentationTime, decodeTime: frame.decodeTime,
          // The movie takes the duration of its last picture alone.
          duration: frame.duration > 0 || framesWritten > 0
            ? frame.duration : LayeredFrame.stillDuration, isSync: frame.isSync,
          dependency: dependency),
        to: MuxPads.eyesTrack)
      lastRunningTime = frame.presentationTime
      lastTime = max(lastTime, frame.decodeTime)
      note(end: frame.presentationTime, duration: frame.duration)
      framesWritten += 1
    }
  }

  private mutating func note(end time: Int64, duration: ClockTime) {
    endTime = max(endTime, saturatingSum(time, Int64(clamping: duration)))
  }

  /// A buffer of audio or coded video as it is.
  private mutating func copy(_ pad: AggregatorPad, to movie: MovieInProgress) throws {
    guard let buffer = pad.pop() else { return }
    guard let track = tracks[pad.name] else {
      if latePads.insert(pad.name).inserted {
        element.postWarning(
          ElementError(
            .mux,
            "The stream on \(pad.name) came when the movie had begun, whose tracks are fixed; the "
              + "movie goes without it."))
      }
      return
    }
    let segment = pad.segment
    guard !buffer.isGap else {
      // A time without data: other tracks need not wait for this one.
      let end = buffer.pts.map { saturatingSum($0, buffer.duration ?? 0) }
      if let end = end.flatMap({ segment.signedRunningTime($0) }) {
        try movie.pass(end, of: track)
      }
      return
    }
    let kind = MuxPads.Kind(pad.name)
    guard buffer.size > 0, kind != .audio || !isHeader(buffer, on: pad.name) else { return }
    guard let pts = buffer.pts ?? buffer.dts, let time = segment.signedRunningTime(pts) else {
      throw ElementError(.failedStream, "A buffer on \(pad.name) has no timestamp.")
    }
    var timing = MovieInProgress.Timing(
      presentationTime: time,
      decodeTime: buffer.dts.flatMap { segment.signedRunningTime($0) } ?? time,
      duration: buffer.duration ?? 0)
    switch kind {
    case .audio:
      // Audio is decoded in the order it is heard.
      let (count, duration) = try packets(in: buffer, on: pad) ?? (1, buffer.duration ?? 0)
      timing = MovieInProgress.Timing(
        presentationTime: time, decodeTime: time, duration: duration, count: count)
    case .subtitle:
      try copySubtitle(buffer, pad.name, at: time, to: movie, track)
      return
    case .meta:
      timing.isSync = !buffer.flags.contains(.deltaUnit)
    case .video:
      timing.isSync = !buffer.flags.contains(.deltaUnit)
      timing.dependency =
        timing.isSync
        ? .independent : buffer.flags.contains(.droppable) ? .disposable : .dependent
      lastRunningTime = time
      framesWritten += 1
      requestKeyframes(at: time)
    }
    note(end: time, duration: timing.duration)
    lastTime = max(lastTime, timing.decodeTime)
    let sample = try inBandVideo[pad.name]?.sample(buffer) ?? buffer
    if sample.size > 0 { try movie.append(sample, timing, to: track) }
  }

  /// Whether a buffer is what the sample entry says already: `flacenc` sends its headers as data too.
  private func isHeader(_ buffer: Buffer, on pad: String) -> Bool {
    guard padCaps[pad]?.mediaType == "audio/x-flac" else { return false }
    // A frame begins with 14 bits of a synchronization code (RFC 9639, 9.1).
    let start = try? buffer.withBytes { Array($0.prefix(2)) }
    return start.map { $0.first != 0xFF || ($0.last ?? 0) & 0xFC != 0xF8 } ?? false
  }

  /// A text, and before it the time in which there was none.
  private mutating func copySubtitle(
    _ buffer: Buffer, _ pad: String, at time: Int64, to movie: MovieInProgress, _ track: Int
  ) throws {
    if let end = subtitleEnds[pad], end < time {
      try movie.append(
        MuxSubtitles.silence,
        MovieInProgress.Timing(
          presentationTime: end, decodeTime: end, duration: ClockTime(clamping: time - end)),
        to: track)
    }
    let duration = buffer.duration ?? MuxSubtitles.usualDuration
    try movie.append(
      MuxSubtitles.sample(buffer),
      MovieInProgress.Timing(presentationTime: time, decodeTime: time, duration: duration),
      to: track)
    subtitleEnds[pad] = saturatingSum(time, Int64(clamping: duration))
  }

  /// Takes what waits if it is a time without data that nothing has to wait for: between the eyes'
  /// frames, and before the first data of tracks that nothing else describes.
  private func dropGap(of pad: AggregatorPad) -> Bool {
    guard let buffer = pad.peek(), buffer.isGap else { return false }
    let isEye = Eye(rawValue: pad.name) != nil
    let isAwaited = movie == nil && padCaps[pad.name].map(needsData) ?? true
    return (isEye || isAwaited) && pad.dropGap()
  }

  /// Whether enough has come to a pad for its track to be described.
  func isKnown(_ pad: AggregatorPad) -> Bool {
    guard let caps = padCaps[pad.name] else { return false }
    return pad.hasBuffer || !needsData(caps)
  }

  /// Whether caps do not say enough of a stream without its first data.
  func needsData(_ caps: Caps) -> Bool {
    switch caps.mediaType {
    case "video/x-h265": InBandVideo.isIn(caps)
    case "audio/x-ac3", "audio/x-eac3": caps.first?.buffer("codec_data") == nil
    default: false
    }
  }

  /// Takes what waits if it is a header of FLAC or Opus, which the sample entry has already.
  private func dropHeader(of pad: AggregatorPad) -> Bool {
    guard let buffer = pad.peek(), buffer.flags.contains(.header),
      MuxPads.Kind(pad.name) == .audio,
      ["audio/x-flac", "audio/x-opus"].contains(padCaps[pad.name]?.mediaType)
    else { return false }
    _ = pad.pop()
    return true
  }

  /// How many packets of one size a buffer holds, and how long they last; nil for sound whose
  /// packets have different sizes.
  private func packets(
    in buffer: Buffer, on pad: AggregatorPad
  ) throws -> (count: UInt32, duration: ClockTime)? {
    guard let packet = packets[pad.name], packet.bytes > 0,
      let rate = padCaps[pad.name]?.first?.int("rate").flatMap({ UInt64(exactly: $0) })
    else { return nil }
    let (count, rest) = buffer.size.quotientAndRemainder(dividingBy: Int(packet.bytes))
    guard rest == 0, let count = UInt32(exactly: count) else {
      throw ElementError(
        .format,
        "A buffer on \(pad.name) has \(buffer.size) bytes, which are no whole number of "
          + "audio frames of \(packet.bytes) bytes.")
    }
    return (count, scale(UInt64(count) * UInt64(packet.frames), .second, max(rate, 1)))
  }

  // MARK: The end

  /// What makes access units of the next frames: where these are of another size or format, another one
  /// than before, whose last are written.
  private mutating func goOnWithEyes(in movie: MovieInProgress) throws -> StereoInput {
    guard let stereo else { throw FlowReturn.error }
    guard stereo.isOver else { return stereo }
    try drain(stereo, to: movie)
    let next = try makeStereo(baseEye: stereo.baseEye, following: stereo)
    self.stereo = next
    return next
  }

  /// Writes what the encoders still hold.
  private mutating func drain(_ stereo: StereoInput, to movie: MovieInProgress) throws {
    while let frames = try stereo.drain() {
      try write(frames, to: movie)
      postProgress(of: movie)
    }
  }

  /// Writes what the encoders still hold. Once.
  private mutating func endEyes(of movie: MovieInProgress) throws {
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

  /// Runs work on the data; where that fails, completes the file with what it has so far, so that
  /// it can be played, and passes the error on.
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

  /// Part of completing a file after an error, which is the one to be told.
  private mutating func attempt(_ work: (inout Self) throws -> Void) {
    do {
      try work(&self)
    } catch {
      MVHEVCMux.log.warning(element, "completing the file: \(error)")
    }
  }
}
