import CGStreamer
import GStreamer
import ISOBMFF
import StereoVideo

extension MVHEVCMux {
  /// Takes what is earliest among what waits at the pads.
  func step() throws {
    let pads = try MuxPads(sinkPads)
    let movie = try self.movie ?? begin(pads)
    guard let source = pads.earliest() else {
      try finish(pads)
      throw FlowReturn.eos
    }
    switch source {
    case .eyes(let left, let right):
      guard let stereo else { throw FlowReturn.error }
      try write(try stereo.take(left: left, right: right), to: movie)
      reportDrops(stereo)
    case .stream(let pad, let track): try copy(pad, to: track, of: movie)
    }
    for (track, pad) in pads.streams.enumerated() where pad.isAtEnd {
      try movie.end(pads.trackNumber(ofStream: track))
    }
    progress.post(
      from: self, runningTime: lastRunningTime, frames: framesWritten, bytes: movie.byteCount)
  }

  /// Layered access units into the track of the eyes.
  private func write(_ frames: [LayeredFrame], to movie: MovieInProgress) throws {
    for frame in frames {
      let dependency: SampleDependency =
        frame.isSync ? .independent : frame.isReference ? .dependent : .disposable
      try movie.append(
        frame.buffer,
        MovieInProgress.Timing(
          presentationTime: frame.presentationTime, decodeTime: frame.decodeTime,
          duration: frame.duration, isSync: frame.isSync, dependency: dependency),
        to: MuxPads.eyesTrack)
      lastRunningTime = frame.presentationTime
      framesWritten += 1
    }
  }

  /// A buffer of audio or coded video as it is.
  private func copy(_ pad: AggregatorPad, to track: Int, of movie: MovieInProgress) throws {
    guard let buffer = pad.pop() else { return }
    let segment = pad.segment
    guard let pts = buffer.pts ?? buffer.dts, let time = segment.signedRunningTime(pts) else {
      throw ElementError(.failedStream, "A buffer on \(pad.name) has no timestamp.")
    }
    var timing = MovieInProgress.Timing(
      presentationTime: time,
      decodeTime: buffer.dts.flatMap { segment.signedRunningTime($0) } ?? time,
      duration: buffer.duration ?? 0)
    if isAudio(pad) {
      // Audio is decoded in the order it is heard.
      timing = MovieInProgress.Timing(
        presentationTime: time, decodeTime: time, duration: buffer.duration ?? 0,
        count: bytesPerFrame(pad).map { UInt32(clamping: buffer.size / $0) } ?? 1)
    } else {
      timing.isSync = !buffer.flags.contains(.deltaUnit)
      timing.dependency =
        timing.isSync
        ? .independent : buffer.flags.contains(.droppable) ? .disposable : .dependent
      lastRunningTime = time
      framesWritten += 1
    }
    guard timing.count > 0 else { return }
    try movie.append(buffer, timing, to: track)
  }

  private func isAudio(_ pad: AggregatorPad) -> Bool { pad.name.hasPrefix("audio") }

  /// Of one moment of PCM, all channels; nil for other audio.
  private func bytesPerFrame(_ pad: AggregatorPad) -> Int? {
    guard let caps = padCaps[pad.name], caps.mediaType == "audio/x-raw",
      let entry = try? MuxAudioCaps.sampleEntry(caps, pad: pad.name),
      let bytes = entry.bytesPerPCMFrame, bytes > 0
    else { return nil }
    return Int(bytes)
  }

  private func reportDrops(_ stereo: StereoInput) {
    guard stereo.drops.total > 0, reportedDrops == 0 else { return }
    reportedDrops = stereo.drops.total
    postWarning(stereo.drops.warning)
  }

  // MARK: The end

  private func finish(_ pads: MuxPads) throws {
    guard let movie else { return }
    if let stereo {
      try write(try stereo.finish(), to: movie)
      try describeEyes(stereo, of: movie)
      if stereo.drops.total > reportedDrops { postWarning(stereo.drops.warning) }
    }
    try movie.finish()
    progress.post(
      from: self, runningTime: lastRunningTime, frames: framesWritten, bytes: movie.byteCount,
      isFinal: true)
    if let stereo { postStatistics(stereo, log: Self.log) }
    self.movie = nil
  }

  /// Runs work on the data; where that fails, completes the file with what it has so far, so that
  /// it can be played, and passes the error on.
  func saving(_ work: () throws -> Void) throws {
    do {
      try work()
    } catch let flow as FlowReturn {
      throw flow
    } catch {
      if let movie, movie.sampleCount > 0 {
        if let stereo { try? describeEyes(stereo, of: movie) }
        try? movie.finish()
        self.movie = nil
      }
      throw error
    }
  }
}
