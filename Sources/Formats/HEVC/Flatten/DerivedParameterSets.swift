// SPDX-License-Identifier: MPL-2.0

/// Parameter sets of a stream that is made of others: made anew only where what they are made of
/// has changed.
struct DerivedParameterSets<Sets: Hashable & Sendable>: Sendable {
  /// The last sets; nil before the first.
  private(set) var last: Sets?
  private var sources: [Int] = []

  /// The sets that were made of `sources`: numbers that stay the same as long as what the sets are
  /// made of does. Nil where they have to be made anew.
  func current(from sources: [Int]) -> Sets? { sources == self.sources ? last : nil }

  /// Keeps `sets`, which were made of `sources`.
  ///
  /// - Returns: whether they differ from those before; true for the first.
  mutating func update(_ sets: Sets, from sources: [Int]) -> Bool {
    self.sources = sources
    guard sets != last else { return false }
    last = sets
    return true
  }
}
