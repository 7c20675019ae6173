// SPDX-License-Identifier: MPL-2.0

/// One sample of a track, or a run of equal ones, without its bytes.
public struct SampleDescription: Equatable, Sendable {
  /// The bytes of each sample.
  public var size: UInt32
  /// How many samples of this size and duration lie one behind the other: the audio frames of a
  /// PCM buffer, 1 for anything else. All samples of a track with such runs have one size and
  /// are sync samples, and their dependencies are not written.
  public var count: UInt32 = 1
  /// When the first sample is decoded, in units of the track's timescale; 0 is the movie's
  /// start, and times below 0 are allowed.
  public var decodeTime: Int64
  /// How long each sample lasts, in units of the track's timescale. It counts where the track
  /// ends and between the samples of a run; elsewhere the next decode time decides.
  public var duration: UInt32
  /// What is added to the decode time for the time of presentation; within 2^30 either way.
  public var compositionOffset: Int32 = 0
  /// Decoding can start here.
  public var isSync = true
  /// What the sample needs and who needs it (`sdtp`); left out where nothing is known.
  public var dependency = SampleDependency()

  public init(
    size: UInt32, decodeTime: Int64, duration: UInt32, compositionOffset: Int32 = 0,
    isSync: Bool = true, dependency: SampleDependency = SampleDependency()
  ) {
    self.size = size
    self.decodeTime = decodeTime
    self.duration = duration
    self.compositionOffset = compositionOffset
    self.isSync = isSync
    self.dependency = dependency
  }
}

extension SampleDescription {
  /// Times are within 2^61 units either way, so that sums of them have room.
  private static let maximumTime: UInt64 = 1 << 61
  private static let maximumCompositionOffset: UInt32 = 1 << 30

  /// Throws where the boxes of a movie cannot say the sample.
  ///
  /// - Parameters:
  ///   - sampleCount: how many samples the track has so far.
  ///   - lastDecodeTime: when the last of them is decoded; nil where there is none.
  func check(
    in track: TrackID, behind sampleCount: UInt32, lastDecodeTime: Int64?
  ) throws(MovieWriterError) {
    guard !sampleCount.addingReportingOverflow(count).overflow else {
      throw .tooManySamples(track)
    }
    let number = sampleCount &+ 1
    guard decodeTime.magnitude < Self.maximumTime,
      UInt64(count) * UInt64(duration) < Self.maximumTime
    else { throw .timeTooLarge(track, sample: number) }
    guard compositionOffset.magnitude <= Self.maximumCompositionOffset else {
      throw .compositionOffsetTooLarge(track, sample: number, offset: compositionOffset)
    }
    guard let lastDecodeTime else { return }
    let distance = decodeTime - lastDecodeTime
    guard distance >= 0 else {
      throw .decodeTimeBackwards(
        track, sample: number, previous: lastDecodeTime, this: decodeTime)
    }
    guard distance <= UInt32.max else {
      throw .durationTooLarge(track, sample: sampleCount, duration: distance.magnitude)
    }
  }
}
