// SPDX-License-Identifier: MPL-2.0

import StereoVideo

/// How far a stream has come.
struct PlayedStream: Sendable {
  let id: StreamID
  let role: PlayerStream.Role
  /// Somebody takes its samples.
  var isSelected = true
  /// The next sample does not continue the last one.
  private(set) var isDiscontinuous = true
  /// It has been told that nothing more comes.
  var hasEnded = false
  /// An eye waits for a random access point.
  var waitsForSync = true
  /// By how much the stream's timestamps are later than those of the samples that it is made of.
  let shift: Nanoseconds
  /// By how much samples come late, at the most so far: an eye's pictures wait for others.
  private(set) var latency: Nanoseconds = 0
  /// The segment that has been told, with the stream's own timestamps; nil before the first, and
  /// behind a flush.
  private(set) var segment: PlaybackSegment?

  init(id: StreamID, role: PlayerStream.Role, shift: Nanoseconds = 0) {
    (self.id, self.role, self.shift) = (id, role, shift)
  }

  /// Back to before the first sample.
  mutating func restart() {
    isDiscontinuous = true
    hasEnded = false
    waitsForSync = true
    segment = nil
  }

  /// What comes next does not continue what came last.
  mutating func interrupt() { isDiscontinuous = true }

  /// Flags of the next sample that come from the stream's history.
  mutating func takeDiscontinuity() -> Sample.Flags {
    defer { isDiscontinuous = false }
    return isDiscontinuous ? .discontinuity : []
  }

  /// Whether somebody takes its samples; where nobody does, an eye begins anew when somebody will.
  mutating func isTaken() -> Bool {
    if !isSelected { waitsForSync = true }
    return isSelected
  }

  /// Whether an eye's sample is wanted now, of an access unit that decoding can start at or not.
  mutating func takes(isSync: Bool) -> Bool {
    if waitsForSync, isSync { waitsForSync = false }
    return !waitsForSync
  }

  /// Tells that nothing more comes; before that, what part of the stream ends, where that has not
  /// been told.
  mutating func end(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    if segment == nil { begin(start, &outputs) }
    hasEnded = true
    outputs.append(.endOfStream(id))
  }

  /// Tells what part of the stream comes.
  mutating func begin(_ start: SegmentStart, _ outputs: inout OutputQueue) {
    var start = start
    start.segment.start = saturatingSum(start.segment.start, shift)
    start.segment.stop = start.segment.stop.map { saturatingSum($0, shift) }
    start.segment.position = saturatingSum(start.segment.position, shift)
    segment = start.segment
    outputs.append(.segment(id, start))
  }

  /// Tells that nothing comes between two timestamps of the samples that the stream is made of.
  func gap(from start: Nanoseconds, to end: Nanoseconds, _ outputs: inout OutputQueue) {
    guard isSelected, segment != nil else { return }
    outputs.append(.gap(id, start: saturatingSum(start, shift), duration: end - start))
  }

  // MARK: Giving samples

  mutating func give(_ sample: Sample, _ outputs: inout OutputQueue) {
    var sample = sample
    sample.flags.formUnion(takeDiscontinuity())
    outputs.append(.sample(id, sample))
  }

  /// Gives what of an access unit is for an eye.
  ///
  /// - Parameter format: what the eye's format says beside the parameter sets.
  mutating func give(
    _ eye: Eye, of unit: LayeredSample, from eyes: inout EyeSamples?, _ format: EyeFormat?,
    _ outputs: inout OutputQueue
  ) {
    guard takes(isSync: !unit.flags.contains(.delta)) else { return }
    let output: EyeSamples.Output?
    do {
      output = try eyes?.split(unit, for: eye, placement)
    } catch {
      outputs.warn(.damagedFrame(of: eye, "\(error)"))
      interrupt()
      return
    }
    guard let output else { return }
    noteLatency(of: eye, unit, eyes, &outputs)
    if let failure = output.failure { outputs.warn(.damagedFrame(of: eye, "\(failure)")) }
    if let warning = output.warning {
      outputs.warn(
        PlayerWarning(
          .layers, "The \(eye) eye is not for every decoder.", detail: "\(warning)"))
    }
    for sample in output.earlier { give(sample, &outputs) }
    if let sets = output.parameterSets, let format {
      outputs.append(.format(id, .eye(format.with(sets))))
    }
    for sample in output.samples { give(sample, &outputs) }
  }

  private mutating func noteLatency(
    of eye: Eye, _ unit: LayeredSample, _ eyes: EyeSamples?, _ outputs: inout OutputQueue
  ) {
    let frame = min(unit.frameDuration ?? unit.duration ?? 0, .second)
    let latest = Nanoseconds(clamping: eyes?.delay(of: eye) ?? 0) * frame
    guard latest > latency else { return }
    latency = latest
    outputs.append(.statusChanged)
  }

  /// Gives what is held back of an eye.
  mutating func drain(_ eyes: inout EyeSamples?, _ outputs: inout OutputQueue) {
    guard case .eye(let eye) = role, isSelected else { return }
    for sample in eyes?.drain(eye, placement) ?? [] { give(sample, &outputs) }
  }

  private var placement: EyeSamples.Placement {
    EyeSamples.Placement(shift: shift, stop: segment?.stop)
  }
}

extension PlayerWarning {
  fileprivate static func damagedFrame(of eye: Eye, _ detail: String) -> PlayerWarning {
    PlayerWarning(
      .damaged, "A frame of the \(eye) eye is damaged and left out.", detail: detail)
  }
}
