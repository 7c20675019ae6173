// SPDX-License-Identifier: MPL-2.0

/// Chooses the numbering of each coded video sequence.
///
/// ``MVCNumbering/shift`` is possible if all picture order counts are even, as most encoders of
/// frames write them. At the start of a stream, the first units are held back to find out; later,
/// what has come so far decides.
struct NumberingPlanner: Sendable {
  /// A unit, and the numbering of its sequence.
  typealias Planned = (unit: FlattenedUnit, numbering: MVCNumbering)

  /// The number of units that show whether counts are even: with eight, each layer of a hierarchy
  /// of B pictures has come.
  private static let lookAhead = 8

  private let forced: MVCNumbering?
  private var held: [FlattenedUnit] = []
  /// Number of units so far.
  private var count = 0
  private var sawOdd = false
  private var numbering = MVCNumbering.double

  /// Creates a planner.
  ///
  /// - Parameter forced: the numbering to use always; nil to choose.
  init(forced: MVCNumbering?) { self.forced = forced }

  /// Adds a unit and returns those that can be written.
  mutating func add(_ unit: FlattenedUnit) -> [Planned] {
    let earlier = unit.beginsSequence ? release() : []
    count += 1
    sawOdd = sawOdd || unit.hasOddCount
    held.append(unit)
    let format = held[0].pairs[0].base.head.sets.sps.format
    let mustWait =
      forced == nil && held[0].beginsSequence && format.isFrameOnly && !sawOdd
      && count < Self.lookAhead
    return earlier + (mustWait ? [] : release())
  }

  /// Returns the units that are held back.
  mutating func release() -> [Planned] {
    defer { held = [] }
    if let first = held.first, first.beginsSequence {
      let isFrameOnly = first.pairs[0].base.head.sets.sps.format.isFrameOnly
      numbering = forced ?? (isFrameOnly && !sawOdd ? .shift : .double)
    }
    return held.map { ($0, numbering) }
  }

  /// Number of the oldest access unit that is held back; nil if none is.
  var oldest: Int? { held.first?.accessUnit }

  /// Discards the units that are held back.
  mutating func removeAll() { held = [] }
}
