// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

extension StereoWriter {
  /// Adds samples to a track of sound.
  ///
  /// Frames and each track wait for room of their own, so that one task may give frames and another one
  /// sound. Where one task gives both, what belongs to about one time comes together.
  ///
  /// Times that nothing is given for are silent; of what overlaps, the first is heard. Samples beyond -1
  /// and 1 are clipped, and those that are no number are silent.
  ///
  /// - Parameters:
  ///   - sound: of the track's format, and not before what was given last.
  ///   - input: the track's ``SoundInput/id``.
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where there is
  ///   no such track, where the sound does not go on from what was given, and behind the track's end; of
  ///   the code ``StereoMediaError/Code/stalled`` where the movie has waited ten seconds for frames or
  ///   another track, and waits on; any other where the movie cannot be written; `CancellationError`
  ///   where the task is cancelled, when a part of long sound may have been taken.
  public func append(_ sound: Sound, to input: SoundInput.ID) async throws {
    let track = try track(input)
    try await keeping {
      try await track.append(sound) { try await self.started() }
    }
  }

  /// Says that a track of sound ends where it has come to, though frames go on; does nothing where that
  /// was said.
  ///
  /// - Throws: a ``StereoMediaError`` of the code ``StereoMediaError/Code/invalidInput`` where there is
  ///   no such track, or the writer has ended.
  public func end(_ input: SoundInput.ID) async throws {
    let track = try track(input)
    try await track.end { try await self.started() }
  }

  private func track(_ input: SoundInput.ID) throws -> SoundTrack {
    guard let track = sounds.first(where: { $0.input.id == input }) else {
      throw StereoMediaError(.invalidInput, "there is no track of sound '\(input)'")
    }
    return track
  }
}

/// A track of sound of a writer: hands on what is given, one thing after the other.
final class SoundTrack: Sendable {
  let input: SoundInput
  /// Among the inputs of the graph.
  private let position: Int
  private let queue = TaskQueue()
  private let lastTime = Locked<Duration>(.zero)

  init(_ input: SoundInput, position: Int) {
    (self.input, self.position) = (input, position)
  }

  func append(
    _ sound: Sound, to started: @Sendable () async throws -> Encode
  ) async throws {
    try await queue.run {
      guard sound.format == self.input.format else {
        throw StereoMediaError(
          .invalidInput,
          "the sound '\(self.input.id)' is \(self.input.format), what is given is \(sound.format)")
      }
      if sound.time < .zero {
        throw StereoMediaError(
          .invalidInput, "sound at \(sound.time) is before the movie's beginning")
      }
      let lastTime = self.lastTime.current
      guard sound.time >= lastTime else {
        throw StereoMediaError(
          .invalidInput, "sound at \(sound.time) comes behind some at \(lastTime)")
      }
      let encode = try await started()
      // Half a second at a time, so that long sound waits here and not in memory.
      let step = max(sound.format.sampleRate / 2, 1)
      for start in stride(from: 0, to: sound.count, by: step) {
        let part = sound[start..<start + step]
        try await encode.append(
          [try part.buffer], to: self.position, until: part.time + part.duration)
        self.lastTime.withLock { $0 = part.time }
      }
    }
  }

  func end(_ started: @Sendable () async throws -> Encode) async throws {
    try await queue.run { try await started().end(self.position) }
  }
}

extension Sound {
  /// As GStreamer takes it.
  fileprivate var buffer: Buffer {
    get throws {
      let memory = UniqueBuffer(size: samples.count * MemoryLayout<Float>.size) { bytes in
        for (index, sample) in samples.enumerated() {
          let value = sample.isNaN ? 0 : min(max(sample, -1), 1)
          bytes.storeBytes(
            of: value, toByteOffset: index * MemoryLayout<Float>.size, as: Float.self)
        }
      }
      guard let memory else {
        throw StereoMediaError(.outOfMemory, "there is no memory for sound")
      }
      (memory.pts, memory.duration) = (time.clockTime, duration.clockTime)
      return Buffer(memory)
    }
  }
}
