// SPDX-License-Identifier: MPL-2.0

/// The pictures of one frame of each view: the pair of an access unit, or those of the two access
/// units of its fields.
///
/// MVC codes fields in the order base, dependent, base, dependent; in a plain stream the fields of
/// a frame follow each other (7.4.1.2.4).
struct FlattenedUnit: Sendable {
  /// Number of the first access unit.
  let accessUnit: Int
  /// The pair, or those of both fields.
  private(set) var pairs: [PicturePair]

  /// Creates a unit of one pair, to which a second one can be added.
  init(_ pair: PicturePair, accessUnit: Int) {
    pairs = [pair]
    self.accessUnit = accessUnit
  }

  /// Whether the pair has the second field of the base view's frame.
  func isCompleted(by pair: PicturePair) -> Bool {
    pairs.count == 1 && pair.base.isSecondField && pair.base.frame == frame
  }

  /// Adds the pair of the second fields.
  mutating func add(_ pair: PicturePair) { pairs.append(pair) }

  /// Id of the base view's frame.
  var frame: Int { pairs[0].base.frame }
  /// Whether second fields may follow.
  var isFirstField: Bool { pairs.count == 1 && pairs[0].base.structure.isField }
  var beginsSequence: Bool { pairs[0].beginsSequence }
  /// Whether it precedes, in output order, the picture at which decoding began.
  var isLeading: Bool { pairs.contains { $0.isLeading } }
  /// Whether a dependent picture refers to the base view's frame.
  var usesInterView: Bool {
    pairs.contains { $0.dependent?.refers(to: frame) ?? false }
  }
  /// Whether the base view's frame has to be a long-term reference of the dependent pictures.
  var needsLongTermBase: Bool { pairs.contains { $0.needsLongTermBase } }
  /// Whether a picture order count is odd.
  var hasOddCount: Bool {
    pairs.contains {
      ($0.base.counts.top ?? 0) & 1 == 1 || ($0.base.counts.bottom ?? 0) & 1 == 1
    }
  }
}
