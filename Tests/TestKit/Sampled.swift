// SPDX-License-Identifier: MPL-2.0

import Foundation

extension Collection {
  /// All elements in `make test-all`; in the other tiers at most `count` of them, evenly spread
  /// from the first one on. For arguments of which each shows the same thing once more, at a cost.
  public func sampled(_ count: Int) -> [Element] {
    let tier = ProcessInfo.processInfo.environment["GST_SPATIAL_TIER"] ?? "all"
    guard tier != "all", count < self.count else { return Array(self) }
    return (0..<count).map { self[index(startIndex, offsetBy: $0 * self.count / count)] }
  }
}
