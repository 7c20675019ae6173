// SPDX-License-Identifier: MPL-2.0

extension Collection {
  /// All elements in `make test-all`; in the other tiers at most `count` of them, evenly spread
  /// from the first one on. For arguments of which each shows the same thing once more, at a cost.
  public func sampled(_ count: Int) -> [Element] {
    guard Tier.current != "all", count < self.count else { return Array(self) }
    return (0..<count).map { self[index(startIndex, offsetBy: $0 * self.count / count)] }
  }
}
