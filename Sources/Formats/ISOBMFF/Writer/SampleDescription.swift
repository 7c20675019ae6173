// SPDX-License-Identifier: MPL-2.0

/// A sample of a track, or a run of equal samples, without their bytes.
public struct SampleDescription: Equatable, Sendable {
  /// Size of each sample in bytes.
  public var size: UInt32
  /// Number of consecutive samples of this size and duration: the audio frames of a PCM buffer, 1
  /// for anything else. In a track with such runs, all samples must have the same size and be sync
  /// samples, and dependencies are not written.
  public var count: UInt32 = 1
  /// Decode time of the first sample, in units of the track's timescale; 0 is the movie's start.
  /// May be negative.
  public var decodeTime: Int64
  /// Duration of each sample, in units of the track's timescale. Used within runs and for the last
  /// sample; otherwise the next decode time determines the duration.
  public var duration: UInt32
  /// Offset from decode time to presentation time, from -2^30 to 2^30.
  public var compositionOffset: Int32 = 0
  /// Whether this is a sync sample.
  public var isSync = true
  /// Dependencies between this sample and others (`sdtp`); not written if nothing is known.
  public var dependency = SampleDependency()
  /// The encrypted bytes of a sample of encrypted video, in a fragment; empty for any other.
  public var subsamples: [Subsample] = []

  /// Creates a single sample; times are in units of the track's timescale.
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
  /// Limit for the magnitude of times, so that sums cannot overflow.
  private static let maximumTime: UInt64 = 1 << 61
  private static let maximumCompositionOffset: UInt32 = 1 << 30

  /// Throws if the boxes of a movie cannot represent the sample.
  ///
  /// - Parameters:
  ///   - sampleCount: number of samples of the track so far.
  ///   - lastDecodeTime: decode time of the last of them; nil if there are none.
  func check(
    in track: TrackID, after sampleCount: UInt32, lastDecodeTime: Int64?
  ) throws(MovieWriterError) {
    guard !sampleCount.addingReportingOverflow(count).overflow else {
      throw .tooManySamples(track)
    }
    let number = sampleCount &+ 1
    guard subsamples.count <= Subsample.maximumCount else {
      throw .tooManySubsamples(track, sample: number, count: subsamples.count)
    }
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
