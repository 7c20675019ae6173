// SPDX-License-Identifier: MPL-2.0

/// Interleaves the samples of several tracks for the file: chunks of alternating tracks, by decode
/// time, so that players can read the file sequentially.
///
/// Specialized in the client modules, since a movie has many samples. It holds samples back until
/// every other track has a sample, has ended or is known to have a gap, so its memory is bounded by
/// how far apart in time the inputs are.
public struct SampleInterleaver<Payload> {
  /// A sample and what the caller attached to it.
  public struct Item {
    /// Index of the track, from 0.
    public let track: Int
    /// In nanoseconds on the movie's time line; may be negative.
    public let decodeTime: Int64
    /// The object that the caller attached to the sample.
    public let payload: Payload

    @inlinable
    init(track: Int, decodeTime: Int64, payload: Payload) {
      self.track = track
      self.decodeTime = decodeTime
      self.payload = payload
    }
  }

  @usableFromInline
  struct Queue {
    @usableFromInline var items: [Item] = []
    /// Number of items at the front that have been taken.
    @usableFromInline var taken = 0
    @usableFromInline var hasEnded = false
    /// Lower bound for the decode times of samples to come.
    @usableFromInline var silentUntil = Int64.min

    @inlinable
    init() {}

    @inlinable var first: Item? { taken < items.count ? items[taken] : nil }

    @inlinable
    mutating func removeFirst() -> Item? {
      guard let item = first else { return nil }
      taken += 1
      if taken == items.count || taken >= 64 {
        items.removeFirst(taken)
        taken = 0
      }
      return item
    }
  }

  @usableFromInline let chunkDuration: Int64
  @usableFromInline var queues: [Queue]
  /// The current track, and the decode time up to which it may be written.
  @usableFromInline var current: (track: Int, end: Int64)?

  /// Creates an interleaver.
  ///
  /// - Parameters:
  ///   - trackCount: number of tracks, numbered from 0.
  ///   - chunkDuration: maximum duration of a chunk, in nanoseconds.
  @inlinable
  public init(trackCount: Int, chunkDuration: Int64 = 500_000_000) {
    queues = Array(repeating: Queue(), count: max(trackCount, 0))
    self.chunkDuration = chunkDuration
  }

  /// Adds the next sample of a track, in decoding order. Unknown track numbers are ignored.
  @inlinable
  public mutating func append(_ payload: Payload, decodeTime: Int64, to track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].items.append(Item(track: track, decodeTime: decodeTime, payload: payload))
  }

  /// Declares that no further sample of a track is decoded before `time`. Unknown track numbers are
  /// ignored.
  @inlinable
  public mutating func pass(_ time: Int64, of track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].silentUntil = max(queues[track].silentUntil, time)
  }

  /// Declares that a track has no more samples.
  @inlinable
  public mutating func end(_ track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].hasEnded = true
  }

  /// Returns the next sample of the file; nil while it depends on samples that have not been added.
  @inlinable
  public mutating func next() -> Item? {
    if let current, let item = queues[current.track].first, item.decodeTime <= current.end {
      return queues[current.track].removeFirst()
    }
    if let current, queues[current.track].first == nil, !queues[current.track].hasEnded,
      queues[current.track].silentUntil <= current.end
    {
      return nil
    }
    let heads = queues.compactMap(\.first)
    guard let earliest = heads.min(by: { $0.decodeTime < $1.decodeTime }),
      queues.allSatisfy({
        $0.first != nil || $0.hasEnded || $0.silentUntil >= earliest.decodeTime
      })
    else { return nil }
    let end = earliest.decodeTime.addingReportingOverflow(chunkDuration)
    current = (earliest.track, end.overflow ? .max : end.partialValue)
    return queues[earliest.track].removeFirst()
  }
}
