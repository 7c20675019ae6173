// SPDX-License-Identifier: MPL-2.0

extension SphereBounds {
  /// As tags and properties say them; nil for any other text.
  package init?(text: String) {
    guard let parts = numbers(text, 4) else { return nil }
    self.init(topPart: parts[0], bottomPart: parts[1], leftPart: parts[2], rightPart: parts[3])
  }

  /// What ``init(text:)`` reads.
  package var text: String { "\(topPart),\(bottomPart),\(leftPart),\(rightPart)" }
}

extension SphereOrientation {
  /// As tags and properties say it; nil for any other text.
  package init?(text: String) {
    guard let angles = numbers(text, 3) else { return nil }
    self.init(yaw: angles[0], pitch: angles[1], roll: angles[2])
  }

  /// What ``init(text:)`` reads.
  package var text: String { "\(yaw),\(pitch),\(roll)" }
}

/// So many finite numbers with commas between; nil for any other text.
private func numbers(_ text: String, _ count: Int) -> [Double]? {
  guard text.utf8.count < 256 else { return nil }
  let numbers = text.split(separator: ",", omittingEmptySubsequences: false)
    .compactMap { part in Double(part.filter { $0 != " " }) }
  guard numbers.count == count, numbers.allSatisfy(\.isFinite) else { return nil }
  return numbers
}
