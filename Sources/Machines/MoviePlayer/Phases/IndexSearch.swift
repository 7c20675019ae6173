// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// The search for the index that a stream of fragments may end with (`mfra`): its source is made to
/// go there, and back.
struct IndexSearch: Sendable {
  /// What the search needs next.
  enum Step {
    /// The source has to go there.
    case move(to: UInt64)
    /// More bytes have to come.
    case awaitBytes
    /// The source is back; the index, if there is one.
    case found(FragmentIndex?)
  }

  private enum Stage {
    /// The source is asked to go to the end, or wherever in it the index begins.
    case go(to: UInt64)
    case read(from: UInt64)
    case comeBack(FragmentIndex?)
  }

  /// Most indexes are all in so many bytes at the file's end.
  private static let tailSize: UInt64 = 1 << 16
  /// More is not fetched before a movie begins: that would be an index of a million fragments.
  private static let maximumSize: UInt32 = 1 << 24

  /// In bytes.
  private let fileSize: UInt64
  /// Where reading goes on afterwards.
  private let back: UInt64
  private var stage: Stage
  private var hasLookedTwice = false

  /// - Parameter back: where the source goes on afterwards.
  init(fileSize: UInt64, back: UInt64) {
    (self.fileSize, self.back) = (fileSize, back)
    stage = .go(to: fileSize - min(fileSize, Self.tailSize))
  }

  /// Goes on.
  ///
  /// - Parameter hasMoved: whether the source went where it was asked to; nil where it has not
  ///   answered.
  mutating func step(
    _ stream: inout IndexedStream, hasMoved: Bool?
  ) throws(MoviePlayerError) -> Step {
    switch stage {
    case .go(let place):
      guard let hasMoved else { return .move(to: place) }
      guard hasMoved else {
        stream.input.isMovable = false
        return hasLookedTwice ? comeBack(nil) : .found(nil)
      }
      stage = .read(from: place)
      return .awaitBytes
    case .read(let start):
      let tailStart = fileSize - min(fileSize, 16)
      let tail = stream.input.queue.part(tailStart, 16)
      guard tail != nil || stream.input.hasEnded else { return .awaitBytes }
      guard let size = tail.flatMap({ FragmentRandomAccess.size(fromTail: $0.bytes) }),
        size <= fileSize, size <= Self.maximumSize
      else { return comeBack(nil) }
      let place = fileSize - UInt64(size)
      // Once only: a file may say something else the next time.
      if place < start, !hasLookedTwice {
        hasLookedTwice = true
        stage = .go(to: place)
        return .move(to: place)
      }
      let index = stream.randomAccess(at: place, fileSize: fileSize)
      return comeBack(index.map { .randomAccess($0) })
    case .comeBack(let index):
      guard let hasMoved else { return .move(to: back) }
      guard hasMoved else { throw .sourceLost }
      return .found(index)
    }
  }

  private mutating func comeBack(_ index: FragmentIndex?) -> Step {
    stage = .comeBack(index)
    return .move(to: back)
  }
}

/// The search for the end of a file about which its source says nothing: what can be read of it.
struct FileSizeSearch: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 1 << 16
  private var isGrowing = true

  /// The byte that has to be looked for next; nil where the size is known.
  var probe: UInt64? {
    if isGrowing { return high - 1 }
    return low < high ? low + (high - low) / 2 : nil
  }

  /// In bytes, once nothing is left to look for.
  var size: UInt64 { low }

  /// Takes whether the file has the byte that was looked for.
  mutating func take(isThere: Bool) {
    if isGrowing {
      if isThere { (low, high) = (high, high * 2) }
      isGrowing = isThere && high < 1 << 62
    } else if let middle = probe {
      if isThere { low = middle + 1 } else { high = middle }
    }
  }
}
