/// The numbers that the dependent layer's parameter sets get, so that they differ from those of
/// the base layer's: decoders keep both in one table.
struct DependentNumbering: Sendable {
  private(set) var sps = [Int?](repeating: nil, count: 16)
  private(set) var pps = [Int?](repeating: nil, count: 64)

  /// Gives numbers to the sets of `dependent` that have none, and new ones to those whose numbers
  /// a set of `base` has taken since.
  mutating func update(
    base: ParameterSetStore, dependent: ParameterSetStore
  ) throws(WeaveError) {
    try Self.assign(
      &sps, base: base.sps[0].map { $0 != nil }, own: dependent.sps[0].map { $0 != nil })
    try Self.assign(
      &pps, base: base.pps[0].map { $0 != nil }, own: dependent.pps[0].map { $0 != nil })
  }

  private static func assign(
    _ numbers: inout [Int?], base: [Bool], own: [Bool]
  ) throws(WeaveError) {
    var taken = base
    for index in numbers.indices {
      guard let number = numbers[index] else { continue }
      if taken[number] { numbers[index] = nil } else { taken[number] = true }
    }
    for index in numbers.indices where own[index] && numbers[index] == nil {
      guard let free = taken.firstIndex(of: false) else { throw .tooManyParameterSets }
      numbers[index] = free
      taken[free] = true
    }
  }
}
