// SPDX-License-Identifier: MPL-2.0

import ISOBMFF

/// The search for the `mfra` index that a fragmented file may end with: the source is moved to it
/// and back.
struct IndexSearch: Sendable {
  /// The next need of the search.
  enum Step {
    /// The source must be moved.
    case move(to: UInt64)
    /// More bytes must arrive.
    case awaitBytes
    /// The source is back; the index, if there is one.
    case found(FragmentIndex?)
  }

  private enum Stage {
    /// The source is asked to move to the last bytes, or to the start of the index.
    case go(to: UInt64)
    case read(from: UInt64)
    case returnSource(FragmentIndex?)
  }

  /// Enough for most indexes, in bytes from the end of the file.
  private static let tailSize: UInt64 = 1 << 16
  /// Larger indexes are not fetched before a movie starts; they would describe a million fragments.
  private static let maximumSize: UInt32 = 1 << 24

  /// In bytes.
  private let fileSize: UInt64
  /// File offset at which reading resumes after the search.
  private let back: UInt64
  private var stage: Stage
  private var hasMovedTwice = false

  /// - Parameter back: File offset at which reading resumes after the search.
  init(fileSize: UInt64, back: UInt64) {
    (self.fileSize, self.back) = (fileSize, back)
    stage = .go(to: fileSize - min(fileSize, Self.tailSize))
  }

  /// Advances the search.
  ///
  /// - Parameter hasMoved: Whether the source moved as asked; nil if it has not answered.
  mutating func step(
    _ stream: inout IndexedStream, hasMoved: Bool?
  ) throws(MoviePlayerError) -> Step {
    switch stage {
    case .go(let place):
      guard let hasMoved else { return .move(to: place) }
      guard hasMoved else {
        stream.input.isMovable = false
        return hasMovedTwice ? returnSource(nil) : .found(nil)
      }
      stage = .read(from: place)
      return .awaitBytes
    case .read(let start):
      let tailStart = fileSize - min(fileSize, 16)
      let tail = stream.input.queue.part(tailStart, 16)
      guard tail != nil || stream.input.hasEnded else { return .awaitBytes }
      guard let size = tail.flatMap({ FragmentRandomAccess.size(fromTail: $0.bytes) }),
        size <= fileSize, size <= Self.maximumSize
      else { return returnSource(nil) }
      let place = fileSize - UInt64(size)
      // Only once: a file may give a different size the next time.
      if place < start, !hasMovedTwice {
        hasMovedTwice = true
        stage = .go(to: place)
        return .move(to: place)
      }
      let index = stream.randomAccess(at: place, fileSize: fileSize)
      return returnSource(index.map { .randomAccess($0) })
    case .returnSource(let index):
      guard let hasMoved else { return .move(to: back) }
      guard hasMoved else { throw .sourceLost }
      return .found(index)
    }
  }

  private mutating func returnSource(_ index: FragmentIndex?) -> Step {
    stage = .returnSource(index)
    return .move(to: back)
  }
}

/// A binary search for the size of a file whose source does not know it, by probing for readable
/// bytes.
struct FileSizeSearch: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 1 << 16
  private var isGrowing = true

  /// Offset of the next byte to probe; nil once the size is known.
  var probe: UInt64? {
    if isGrowing { return high - 1 }
    return low < high ? low + (high - low) / 2 : nil
  }

  /// In bytes, once ``probe`` is nil.
  var size: UInt64 { low }

  /// Records whether the file has the probed byte.
  mutating func take(isThere: Bool) {
    if isGrowing {
      if isThere { (low, high) = (high, high * 2) }
      isGrowing = isThere && high < 1 << 62
    } else if let middle = probe {
      if isThere { low = middle + 1 } else { high = middle }
    }
  }
}
