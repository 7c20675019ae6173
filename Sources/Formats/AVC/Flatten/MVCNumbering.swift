// SPDX-License-Identifier: MPL-2.0

/// How the picture order counts of both views interleave in a flattened stream. Distances between
/// pictures of one view decide how motion vectors are scaled, so they may only change in
/// proportion.
public enum MVCNumbering: Sendable {
  /// p for the base view, p + 1 for the dependent one. All counts must be even. Exact, and the
  /// output is L R L R.
  case shift
  /// 2p and 2p + 1. The output is L R L R; rounding may differ in slices with temporal direct
  /// prediction or implicit weights: ``MVCWarning/roundedDistances``.
  case double
  /// p and p + 2^14. Exact, but the pictures come out in no useful order; decoders delay them, and
  /// may drop some.
  case far

  /// Returns the count in the flattened stream.
  func count(_ count: Int, of view: MVCView) -> Int {
    switch self {
    case .shift: count &+ view.rawValue
    case .double: 2 &* count &+ view.rawValue
    case .far: count &+ view.rawValue << 14
    }
  }
}
