// SPDX-License-Identifier: MPL-2.0

internal import HEVC

/// Pairs the access units of two elementary streams, one for each view: by decoding time if both
/// have one, otherwise by count.
struct StreamPairing<Stamp: Sendable>: Sendable {
  /// The data of a buffer: what the caller gives, and the decoding time in any unit; nil if
  /// unknown.
  struct Mark: Sendable {
    let stamp: Stamp
    let time: UInt64?
  }

  /// An access unit with the mark of its buffer.
  typealias Entry = StreamAssembler<Mark>.StampedUnit

  /// The access unit of the base view with that of the dependent view; nil if it has none.
  struct Pair: Sendable {
    let base: Entry
    let dependent: Entry?
  }

  /// The number of access units of one stream that may wait for the other; two streams of one
  /// program are not further apart in a multiplex.
  private static var maximumCount: Int { 256 }

  private let limit: Int
  private var base: [Entry] = []
  private var dependent: [Entry] = []
  /// Whether the base view has waited in vain; it waits again when the dependent view continues.
  private var hasGivenUp = false

  /// Whether access units of the base view wait for the other view.
  var hasWaitingBase: Bool { !base.isEmpty }

  /// Creates a pairing.
  ///
  /// - Parameter limit: maximum size in bytes of the access units that wait in each stream.
  init(limit: Int) { self.limit = limit }

  /// Adds access units of one view.
  mutating func add(_ entries: [Entry], of view: MVCView) {
    switch view {
    case .base: base += entries
    case .dependent:
      dependent += entries
      if !entries.isEmpty { hasGivenUp = false }
    }
  }

  /// Returns the pairs that are complete, and the number of dependent access units without a base.
  ///
  /// - Parameter isEnd: whether nothing more comes.
  mutating func take(isEnd: Bool = false) -> (pairs: [Pair], droppedCount: Int) {
    var pairs: [Pair] = []
    var droppedCount = 0
    while let first = base.first {
      while let candidate = dependent.first, precedes(candidate, first) {
        dependent.removeFirst()
        droppedCount += 1
      }
      guard let candidate = dependent.first else {
        if !isEnd, isFull(base) { hasGivenUp = true }
        guard isEnd || hasGivenUp else { break }
        pairs.append(Pair(base: first, dependent: nil))
        base.removeFirst()
        continue
      }
      let isLater = precedes(first, candidate)
      if !isLater { dependent.removeFirst() }
      pairs.append(Pair(base: first, dependent: isLater ? nil : candidate))
      base.removeFirst()
    }
    while isFull(dependent) || isEnd && !dependent.isEmpty {
      dependent.removeFirst()
      droppedCount += 1
    }
    return (pairs, droppedCount)
  }

  /// Discards everything that waits.
  mutating func removeAll() { (base, dependent, hasGivenUp) = ([], [], false) }

  private func precedes(_ first: Entry, _ second: Entry) -> Bool {
    guard first.isFirst, second.isFirst, let one = first.stamp.time, let other = second.stamp.time
    else { return false }
    return one < other
  }

  private func isFull(_ entries: [Entry]) -> Bool {
    entries.count > Self.maximumCount
      || entries.reduce(0) { $0 + $1.unit.bytes.count } > limit
  }
}
