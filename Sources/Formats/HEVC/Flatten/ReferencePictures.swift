// SPDX-License-Identifier: MPL-2.0

/// The reference picture set of a picture (H.265 8.3.2), by POC.
struct ReferencePictures: Hashable, Sendable {
  /// A reference picture.
  struct Entry: Hashable, Sendable {
    var poc: Int
    var isUsed: Bool
  }

  /// StCurrBefore, StCurrAfter and StFoll, those in front of the picture first, nearest first.
  var shortTerm: [Entry] = []
  /// LtCurr and LtFoll in the order of the slice segment header.
  var longTerm: [Entry] = []

  /// The set of no picture.
  init() {}

  /// The set of the picture with POC `poc` of which `slice` is a slice segment.
  ///
  /// - Parameter known: the pictures that may be in the buffer: a long-term reference may be given
  ///   by the LSBs of its POC alone.
  init(_ slice: SliceSegmentHeader, poc: Int, log2MaxLSB: Int, known: Self) {
    shortTerm = (slice.shortTermSet.negative + slice.shortTermSet.positive).map {
      Entry(poc: poc &+ $0.deltaPOC, isUsed: $0.isUsedByCurrentPicture)
    }
    let size = 1 << log2MaxLSB
    let candidates = known.longTerm + known.shortTerm
    longTerm = slice.longTermEntries.map { entry in
      var full = entry.pocLSB
      if let cycle = entry.deltaPOCMSBCycle {
        full = poc &- (cycle &* size) &- (poc & (size - 1)) &+ entry.pocLSB
      } else if let match = candidates.first(where: { $0.poc & (size - 1) == entry.pocLSB }) {
        full = match.poc
      }
      return Entry(poc: full, isUsed: entry.isUsedByCurrentPicture)
    }
  }

  /// The set with all POCs moved by `offset`.
  func moved(by offset: Int) -> Self {
    var set = self
    set.shortTerm = shortTerm.map { Entry(poc: $0.poc &+ offset, isUsed: $0.isUsed) }
    set.longTerm = longTerm.map { Entry(poc: $0.poc &+ offset, isUsed: $0.isUsed) }
    return set
  }

  /// The pictures of the set that are among `others`.
  func present(in others: Self) -> Self {
    var set = self
    set.shortTerm.removeAll { !others.contains($0.poc) }
    set.longTerm.removeAll { !others.contains($0.poc) }
    return set
  }

  /// The set without pictures that are only kept for later and are not among `others`: a picture
  /// that was lost is not asked to be kept, since decoders would make one up.
  func keepingPresent(in others: Self) -> Self {
    var set = self
    set.shortTerm.removeAll { !$0.isUsed && !others.contains($0.poc) }
    set.longTerm.removeAll { !$0.isUsed && !others.contains($0.poc) }
    return set
  }

  /// Adds those pictures of `other` that the set does not have, as kept for later.
  mutating func keep(_ other: Self) {
    for entry in other.shortTerm where !contains(entry.poc) {
      shortTerm.append(Entry(poc: entry.poc, isUsed: false))
    }
    for entry in other.longTerm where !contains(entry.poc) {
      longTerm.append(Entry(poc: entry.poc, isUsed: false))
    }
  }

  /// Adds a picture as kept for later, where the set does not have it.
  mutating func keep(_ poc: Int, isLongTerm: Bool = false) {
    guard !contains(poc) else { return }
    if isLongTerm {
      longTerm.append(Entry(poc: poc, isUsed: false))
    } else {
      shortTerm.append(Entry(poc: poc, isUsed: false))
    }
  }

  /// Whether the picture with this POC is in the set.
  func contains(_ poc: Int) -> Bool {
    shortTerm.contains { $0.poc == poc } || longTerm.contains { $0.poc == poc }
  }

  /// Number of pictures.
  var count: Int { shortTerm.count + longTerm.count }

  /// RefPicListTemp0 and RefPicListTemp1 of a single-layer picture with POC `poc`.
  func initialLists(poc: Int) -> ([Int], [Int]) {
    let used = shortTerm.filter(\.isUsed).map(\.poc)
    let before = used.filter { $0 < poc }.sorted(by: >)
    let after = used.filter { $0 > poc }.sorted()
    let long = longTerm.filter(\.isUsed).map(\.poc)
    return (before + after + long, after + before + long)
  }
}
