// SPDX-License-Identifier: MPL-2.0

internal import GStreamer

extension StereoWriter {
  /// Adds samples to an audio track.
  ///
  /// Frames and each track are buffered separately, so frames and audio can be added from different
  /// tasks. A single task has to add frames and audio of about the same time together.
  ///
  /// Gaps become silence. Where sections overlap, the earlier one is kept. Samples are clipped to
  /// -1 to 1; NaN becomes silence.
  ///
  /// - Parameters:
  ///   - audio: a section of audio in the track's format, which does not begin before the previous
  ///     one.
  ///   - input: the track's ``AudioInput/id``.
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if there
  ///   is no such track, the audio does not fit the earlier sections or the track has ended; with
  ///   the code ``StereoMediaError/Code/stalled`` after waiting ten seconds for frames or for
  ///   another track, after which the writer can still be used; with any other code if the movie
  ///   cannot be written. `CancellationError` if the task is cancelled, in which case the beginning
  ///   of a long section may have been added.
  public func append(_ audio: AudioSamples, to input: AudioInput.ID) async throws {
    let track = try track(input)
    try await keeping {
      try await track.append(audio) { try await self.started() }
    }
  }

  /// Ends an audio track at its current time, while frames may still follow. Does nothing if it has
  /// ended before.
  ///
  /// - Throws: a ``StereoMediaError`` with the code ``StereoMediaError/Code/invalidInput`` if there
  ///   is no such track or the writer has finished.
  public func end(_ input: AudioInput.ID) async throws {
    let track = try track(input)
    try await track.end { try await self.started() }
  }

  private func track(_ input: AudioInput.ID) throws -> AudioInputTrack {
    guard let track = audioTracks.first(where: { $0.input.id == input }) else {
      throw StereoMediaError(.invalidInput, "there is no audio track '\(input)'")
    }
    return track
  }
}

/// An audio track of a writer: passes on samples in order.
final class AudioInputTrack: Sendable {
  let input: AudioInput
  /// The position among the inputs of the graph.
  private let position: Int
  private let queue = TaskQueue()
  private let lastTime = Locked<Duration>(.zero)

  init(_ input: AudioInput, position: Int) {
    (self.input, self.position) = (input, position)
  }

  func append(
    _ audio: AudioSamples, to started: @Sendable () async throws -> Encode
  ) async throws {
    try await queue.run {
      guard audio.format == self.input.format else {
        throw StereoMediaError(
          .invalidInput,
          "audio track '\(self.input.id)' takes \(self.input.format), not \(audio.format)")
      }
      if audio.time < .zero {
        throw StereoMediaError(
          .invalidInput, "audio at \(audio.time) is before the movie's start")
      }
      let lastTime = self.lastTime.current
      guard audio.time >= lastTime else {
        throw StereoMediaError(
          .invalidInput, "audio times must not decrease: \(audio.time) after \(lastTime)")
      }
      let encode = try await started()
      // Half a second at a time, so that long sections wait here and not in the pipeline.
      let step = max(audio.format.sampleRate / 2, 1)
      for start in stride(from: 0, to: audio.count, by: step) {
        let part = audio[start..<start + step]
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

extension AudioSamples {
  /// The samples as a GStreamer buffer.
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
        throw StereoMediaError(.outOfMemory, "not enough memory for audio")
      }
      (memory.pts, memory.duration) = (time.clockTime, duration.clockTime)
      return Buffer(memory)
    }
  }
}
