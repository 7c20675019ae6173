// SPDX-License-Identifier: MPL-2.0

/// Scaling by distances between pictures, H.264 (8.4.1.2.3), which temporal direct prediction and
/// implicit weights use.
enum DistanceScaling {
  /// DistScaleFactor for the distances `tb` and `td`, before they are clipped; nil if `td` is 0.
  static func factor(_ tb: Int, _ td: Int) -> Int? {
    let tb = min(max(tb, -128), 127)
    let td = min(max(td, -128), 127)
    guard td != 0 else { return nil }
    let tx = (16384 + abs(td / 2)) / td
    return min(max((tb * tx + 32) >> 6, -1024), 1023)
  }

  /// Whether the factor of doubled distances differs.
  static func isChangedByDoubling(_ tb: Int, _ td: Int) -> Bool {
    factor(tb, td) != factor(tb &* 2, td &* 2)
  }
}

extension ViewState {
  /// Whether doubling all distances would change a DistScaleFactor that a slice of the current
  /// picture may use. References of the other view and long-term ones have none.
  func isChangedByDoubling(_ slice: SliceHeader, _ lists: [[Reference?]]) -> Bool {
    guard slice.kind == .b, lists.count == 2, let picture = current,
      !slice.usesSpatialDirect || slice.sets.pps.biPrediction == .implicit
    else { return false }
    let own = counts(picture.frame) + [picture.orderCount]
    let (first, second) = (counts(lists[0]), counts(lists[1]))
    return first.contains { count0 in
      second.contains { count1 in
        own.contains { DistanceScaling.isChangedByDoubling($0 &- count0, count1 &- count0) }
      }
    }
  }

  /// The counts of a frame and of its fields.
  private func counts(_ frame: ReferenceFrame) -> [Int] {
    [frame.counts.top, frame.counts.bottom].compactMap { $0 }
  }

  private func counts(_ list: [Reference?]) -> Set<Int> {
    Set(
      list.compactMap { $0.flatMap { frame($0.frame) } }.filter { !$0.hasField(.longTerm) }
        .flatMap(counts))
  }
}
