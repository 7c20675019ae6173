// SPDX-License-Identifier: MPL-2.0

import GStreamer
import ISOBMFF
import Packager
import StereoVideo

extension MVHEVCHLSSink.Streaming {
  mutating func setCaps(_ caps: Caps, of pad: Pad) throws {
    let name = pad.name
    let isChange = inputs[name]?.stream.caps.map { !caps.continues($0) } ?? false
    // The held buffers have the previous format.
    if isChange, !isBroken, held.contains(where: { $0.pad == name }) { try begin() }
    var input = inputs[name, default: HLSInput(name)]
    if isChange, input.isDescribed {
      input.change(to: caps)
    } else {
      input.stream.caps = caps
    }
    input.stream.examineUpstream(of: pad)
    inputs[name] = input
    try describeSubtitles(of: pad)
  }

  mutating func receive(_ pad: Pad, _ buffer: Buffer) throws {
    let name = pad.name
    guard !isBroken else { throw FlowReturn.error }
    guard !buffer.isGap, inputs[name]?.stream.isHeader(buffer) != true else { return }
    guard !hasBegun else { return try take(buffer, of: name) }
    held.append((name, buffer))
    heldSize += buffer.size
    try beginIfComplete()
  }

  /// Begins when every pad has had its first buffer, has ended, or has a live source and the time
  /// limit for it is over.
  private mutating func beginIfComplete() throws {
    guard !hasBegun, let first = held.first(where: { !HLSInput.isSubtitles($0.pad) }) else {
      return
    }
    let waiting = Set(held.map(\.pad))
    // Texts may come much later than pictures.
    let missing = element.pads.current.filter {
      !waiting.contains($0.name) && !$0.isSubtitles && inputs[$0.name]?.hasEnded != true
    }
    let last = held.last { !HLSInput.isSubtitles($0.pad) }
    let span = (last?.buffer.pts ?? 0) - (first.buffer.pts ?? 0)
    // A source that is not live delivers eventually, however slow its encoder is.
    let isLate =
      span > Self.patience && missing.allSatisfy { $0.peerLatency?.isLive ?? true }
    guard missing.isEmpty || isLate || heldSize > Self.maximumHeldSize else { return }
    if !missing.isEmpty {
      element.postWarning(
        ElementError(
          .failedStream,
          "\(missing.map(\.name).sorted().joined(separator: " and ")) received nothing for "
            + "\(Int(span.seconds)) s, so the playlists begin without it."))
    }
    try begin()
  }

  /// Makes renditions in the order of the pads' names, video first, and takes the held buffers.
  private mutating func begin() throws {
    hasBegun = true
    let held = self.held
    self.held = []
    let names = Set(held.map(\.pad)).sorted()
    for name in names.filter({ $0.hasPrefix("video") }) + names.filter({ $0.hasPrefix("audio") }) {
      if let first = held.first(where: { $0.pad == name }) {
        try describe(name, first: first.buffer)
      }
    }
    for pad in element.pads.current.sorted(by: { $0.name < $1.name }) {
      try describeSubtitles(of: pad)
    }
    for (name, buffer) in held { try take(buffer, of: name) }
    for input in inputs.values where input.hasEnded { try endRenditions(of: input) }
  }

  /// Longest duration of held buffers while live pads have no first buffer: an encoder that looks
  /// ahead takes a while.
  private static let patience: ClockTime = 5 * .second
  /// Maximum total size of held buffers, in bytes.
  private static let maximumHeldSize = 1 << 28

  private mutating func describe(_ name: String, first: Buffer) throws {
    var input = inputs[name, default: HLSInput(name)]
    try input.describe(first: first, element.settings.current, number: inputs.count) {
      try packager.add($0, continuing: try earlierRun(of: $0))
    }
    element.warn(of: input.losses)
    inputs[name] = input
  }

  /// Returns a rendition's files of the previous run; nil if there are none. Without `append`, a
  /// run only continues their numbers, and a finished presentation has none.
  func earlierRun(of rendition: Rendition) throws -> EarlierRun? {
    let settings = element.settings.current
    let names = settings.packager.names
    guard settings.continues else {
      // A file that is no playlist is replaced.
      guard settings.type == .unspecified,
        let playlist = try? output.folder.playlist(names.playlistPath(of: rendition))
      else { return nil }
      var earlier = EarlierRun(
        playlist, iFrames: try? output.folder.playlist(names.iFramePlaylistPath(of: rendition)))
      earlier.isListed = false
      return earlier
    }
    guard let playlist = try output.folder.playlist(names.playlistPath(of: rendition)) else {
      return nil
    }
    let parts = names.openPartPaths(of: rendition, in: playlist).compactMap {
      try? output.folder.read($0)
    }
    var earlier = EarlierRun(
      playlist, iFrames: try output.folder.playlist(names.iFramePlaylistPath(of: rendition)),
      openParts: parts)
    earlier.sizes = names.segmentPaths(of: rendition, in: playlist).map(output.folder.size)
    return earlier
  }

  private mutating func take(_ buffer: Buffer, of name: String) throws {
    if inputs[name]?.isSubtitles == true { return try takeText(buffer, of: name) }
    if inputs[name]?.isDescribed != true { try describe(name, first: buffer) }
    var input = inputs[name, default: HLSInput(name)]
    defer { inputs[name] = input }
    let now = element.currentRunningTime.map(RunningTime.init(clamping:))
    let timing = try input.timing(
      of: buffer, &timelineShift, now: now,
      isLive: { element.pads.current.first { $0.name == name }?.peerLatency?.isLive ?? false },
      warn: element.postWarning)
    element.numbers.withLock { $0.setMended(input.stream.mender.counts, of: name) }
    guard let timing else { return }
    input.position = timing.presentationTime + RunningTime(clamping: timing.duration)
    element.silence.setTime(timing.decodeTime, of: name)
    if input.stream.mender.hasJumped, input.stream.kind == .video, !timing.isSync {
      // The keyframes requested before are at times that the encoder may never reach.
      requestKeyframe(at: timing.presentationTime, on: name)
    }
    if input.stream.mender.isNewTimeline {
      packager.startDiscontinuity(from: timing.presentationTime.nanoseconds)
    }
    if input.renditions.contains(where: {
      packager.isLate($0, at: timing.presentationTime.nanoseconds)
    }) {
      if let now, let move = input.noteLate(timing.decodeTime, now: now) {
        element.postWarning(
          ElementError(
            .failedStream,
            "\(name) has come back and stayed late, as its source's clock stood still; it "
              + "continues where it would be by now."))
        if input.stream.kind == .video {
          requestKeyframe(at: timing.presentationTime + move, on: name)
        }
      }
    } else {
      input.noteTimely()
    }
    if input.startsChange(buffer) {
      do {
        try input.redescribe(first: buffer, element.settings.current, number: inputs.count) {
          try packager.replace($0, by: $1)
        }
        unusable.remove(name)
      } catch let error as any ElementErrorConvertible
        where element.settings.current.type != .vod
      {
        try leaveOut(input, because: error.elementError)
      }
    }
    guard !input.isUndecodable else { return }
    for (rendition, sample) in try input.samples(buffer, timing) {
      if packager.date == nil, element.settings.current.hasDates {
        packager.date = element.dateOfRunningTime0
      }
      try packager.append(sample, to: rendition)
      hasSamples = true
    }
    try carryOut()
  }

  /// Continues without the renditions of a pad whose format has changed to one that cannot be
  /// written: a channel outlives a source that is wrong for a while.
  private mutating func leaveOut(_ input: HLSInput, because error: ElementError) throws {
    let name = input.stream.name
    if unusable.insert(name).inserted {
      element.postWarning(
        ElementError(
          error.code,
          "\(error.message) The playlists of \(name) have a gap until there is a format that can "
            + "be written.", debug: error.debug))
    }
    for rendition in input.renditions { try packager.passOver(rendition) }
    try carryOut()
  }

  /// Lets the other renditions continue without those of silent pads. If all pads are silent, the
  /// playlists continue up to a running time.
  mutating func passOver(_ names: [String], until time: RunningTime?) throws {
    guard hasBegun, !isBroken else { return }
    for rendition in names.flatMap({ inputs[$0]?.renditions ?? [] }) {
      try packager.passOver(rendition)
    }
    if let time { try packager.pass(to: time.nanoseconds) }
    try carryOut()
  }

  /// Ends the stream of a pad, and posts end-of-stream after the last one.
  mutating func end(_ name: String) throws {
    var input = inputs[name, default: HLSInput(name)]
    guard !input.hasEnded, !isBroken else { return }
    input.hasEnded = true
    inputs[name] = input
    try beginIfComplete()
    try endRenditions(of: inputs[name] ?? input)
    let waiting = element.pads.current.map(\.name).filter { inputs[$0]?.hasEnded != true }
    guard waiting.isEmpty, !hasPostedEnd else { return }
    hasPostedEnd = true
    guard hasSamples else {
      throw ElementError(
        .failedStream,
        "The streams ended before the first frame with a timestamp, so there is nothing to write.")
    }
    element.postEndOfStream()
  }

  private mutating func endRenditions(of input: HLSInput) throws {
    for rendition in input.renditions { try packager.end(rendition) }
    try carryOut()
  }

  /// Ends all streams that have not ended.
  mutating func endAll() throws {
    guard !isBroken else { return }
    if !hasBegun, !held.isEmpty { try begin() }
    for input in inputs.values where !input.hasEnded { try endRenditions(of: input) }
  }

  /// Carries out the packager's output in order: a playlist is written after the files it lists. If
  /// a file cannot be written, nothing after it is.
  mutating func carryOut() throws {
    var endsSegment = false
    for step in packager.takeOutputs() {
      switch step {
      case .file(let kind, let path, let blocks):
        do {
          try takeOver()
          try output.write(kind, blocks, to: path)
        } catch {
          isBroken = true
          throw error
        }
      case .removal(let path): output.remove(path)
      case .segment(let segment):
        tell(segment)
        endsSegment = true
      case .loss(let rendition):
        guard lost.insert(rendition).inserted else {
          element.log.warning(element, "\(rendition) has no keyframe at a segment again")
          continue
        }
        element.postWarning(
          ElementError(
            .failedStream,
            "\(rendition) has no keyframe where the segments of the others begin, or comes "
              + "too long after them: its playlist has a gap until its next keyframe after theirs. "
              + "Let all encoders make keyframes at the same times, and without long delays."))
      case .encryptedHeaders(let rendition, let problem):
        guard damaged.insert(rendition).inserted else { continue }
        element.postWarning(
          ElementError(
            .format,
            "A picture of \(rendition) is damaged, so that slices are encrypted with their "
              + "headers, which not every player can decode: \(problem)."))
      case .keyframe(let time):
        for pad in element.pads.current.map(\.name) where pad.hasPrefix("video") {
          requestKeyframe(at: RunningTime(nanoseconds: time), on: pad)
        }
      }
    }
    if endsSegment { changeKey() }
  }

  /// Encrypts the next segments by another key, if the file of the key has changed or is another
  /// one.
  private mutating func changeKey() {
    // A finished presentation has no time at which a key could change.
    guard element.settings.current.type != .vod else { return }
    do {
      guard try keyFile.isChanged(path: element.settings.current.keyFile) else { return }
      packager.encrypt(by: keyFile.keys)
      element.log.info(element, "the next segments have another key")
    } catch {
      element.postWarning(
        ElementError(
          error.code, "\(error.message) The segments keep the key that they have.",
          debug: error.debug))
    }
  }

  /// Asks the encoder upstream of a pad for a keyframe at a time of the files.
  private func requestKeyframe(at time: RunningTime, on name: String) {
    guard element.settings.current.sendsKeyframeRequests,
      let pad = element.pads.current.first(where: { $0.name == name })
    else { return }
    // The encoder does not know that its times are mended.
    pad.push(.forceKeyUnit(at: time - (inputs[name]?.stream.mender.shift ?? 0)))
  }

  private mutating func tell(_ segment: PackagedSegment) {
    element.numbers.withLock { $0.add(segment) }
    element.log.debug(
      element,
      "\(segment.rendition): a segment of \(segment.duration) ns at \(segment.start) ns"
        + (segment.path.map { " in \($0)" } ?? ""))
    if let path = segment.path {
      element.postMessage(
        "hls-segment-added",
        [
          "location": .string(path),
          "running-time": .uint64(UInt64(clamping: segment.start)),
          "duration": .uint64(segment.duration),
          "rendition": .string(segment.rendition), "size": .uint64(segment.size),
        ])
    }
    let target = element.settings.current.targetDuration
    let limit = target * ClockTime.second + .second / 2
    guard ClockTime(nanoseconds: segment.duration) >= limit, !hasWarned else { return }
    hasWarned = true
    let seconds = Double(segment.duration / 100_000_000) / 10
    element.postWarning(
      ElementError(
        .failedStream,
        "A segment of \(segment.rendition) lasts \(seconds) s, longer than target-duration "
          + "(\(target) s), because no keyframe came in time; the playlists say so now. Give the "
          + "encoder key-int-max, or this sink a longer target-duration.",
        debug: "\(segment.duration) ns at \(segment.start) ns"))
  }
}
