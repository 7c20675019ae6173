// SPDX-License-Identifier: MPL-2.0

/// Puts the samples of several tracks into the order of the file: chunks of one track after the
/// other, by decode time, so that a player reads the file from front to back.
///
/// Specialized where it is used, since a movie has many samples. It holds samples until every track has one, has
/// ended or has none for now, so its memory is bounded by how far
/// the tracks run apart in what is put in.
public struct SampleInterleaver<Payload> {
  /// A sample and what the caller attached to it.
  public struct Item {
    public let track: Int
    /// In nanoseconds on the movie's time line; may be negative.
    public let decodeTime: Int64
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
    /// How many items at the front have been taken.
    @usableFromInline var taken = 0
    @usableFromInline var hasEnded = false
    /// No sample comes that is decoded before.
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
  /// The track that is being written and the decode time it may be written up to.
  @usableFromInline var current: (track: Int, end: Int64)?

  /// - Parameters:
  ///   - trackCount: how many tracks there are, numbered from 0.
  ///   - chunkDuration: how much of a track is written at a time, in nanoseconds.
  @inlinable
  public init(trackCount: Int, chunkDuration: Int64 = 500_000_000) {
    queues = Array(repeating: Queue(), count: max(trackCount, 0))
    self.chunkDuration = chunkDuration
  }

  /// Adds the next sample of a track, in decode order. A number that is no track's is ignored.
  @inlinable
  public mutating func append(_ payload: Payload, decodeTime: Int64, to track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].items.append(Item(track: track, decodeTime: decodeTime, payload: payload))
  }

  /// No sample will come for a track that is decoded before a time. A number that is no track's is
  /// ignored.
  @inlinable
  public mutating func pass(_ time: Int64, of track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].silentUntil = max(queues[track].silentUntil, time)
  }

  /// No more samples will come for a track.
  @inlinable
  public mutating func end(_ track: Int) {
    guard queues.indices.contains(track) else { return }
    queues[track].hasEnded = true
  }

  /// The next sample of the file, or nil while it depends on samples that have not come.
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
