// SPDX-License-Identifier: MPL-2.0

/// A list of values in which equal neighbours are stored once: what `stts` and `ctts` hold.
struct RunLengthTable<Value: Equatable & Sendable>: Sendable {
  struct Run: Sendable {
    var count: UInt32
    var value: Value
  }

  private(set) var runs: [Run] = []

  /// Appends `count` times the value. The caller keeps the total within 32 bits.
  mutating func append(_ value: Value, count: UInt32 = 1) {
    guard count > 0 else { return }
    if let last = runs.indices.last, runs[last].value == value {
      runs[last].count &+= count
    } else {
      runs.append(Run(count: count, value: value))
    }
  }
}
