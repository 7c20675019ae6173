// SPDX-License-Identifier: MPL-2.0

/// The numbers that one kind of parameter set of the dependent layer gets, so that they differ
/// from those of the base layer's: decoders keep both in one table.
struct DependentNumbering: Sendable {
  /// More sets than numbers.
  struct Exhausted: Error {}

  private var numbers: [Int?]

  /// Numbers 0 to `count` - 1.
  init(count: Int) { numbers = Array(repeating: nil, count: count) }

  /// The number of the dependent layer's set `id`; nil where it has none.
  subscript(id: Int) -> Int? { numbers.indices.contains(id) ? numbers[id] : nil }

  /// Gives numbers to the sets that the dependent layer has and that have none, and new ones to
  /// those whose numbers a set of the base layer has taken since.
  ///
  /// - Parameters:
  ///   - base: for each number, whether the base layer has a set of it.
  ///   - dependent: the same of the dependent layer.
  mutating func update(base: [Bool], dependent: [Bool]) throws(Exhausted) {
    var taken = base
    for id in numbers.indices {
      guard let number = numbers[id] else { continue }
      if taken[number] { numbers[id] = nil } else { taken[number] = true }
    }
    for id in numbers.indices where dependent[id] && numbers[id] == nil {
      // Its own number where that is free.
      guard let number = taken[id] ? taken.firstIndex(of: false) : id else { throw Exhausted() }
      numbers[id] = number
      taken[number] = true
    }
  }
}
