// SPDX-License-Identifier: MPL-2.0

/// What a player has to give, in order.
struct OutputQueue: Sendable {
  private var outputs: [PlayerOutput?] = []
  private var head = 0
  /// Warnings are given once each, whatever their details.
  private var warned: Set<String> = []

  /// More different warnings than these help nobody.
  private static let maximumWarningCount = 64

  mutating func append(_ output: PlayerOutput) { outputs.append(output) }

  mutating func warn(_ warning: PlayerWarning) {
    guard warned.count < Self.maximumWarningCount, warned.insert(warning.message).inserted else {
      return
    }
    append(.warning(warning))
  }

  mutating func popFirst() -> PlayerOutput? {
    guard head < outputs.count else { return nil }
    // What is given out is not kept here, so that a caller may be the only one to hold it.
    let output = outputs[head].take()
    head += 1
    if head == outputs.count {
      outputs.removeAll(keepingCapacity: true)
      head = 0
    }
    return output
  }

  /// Drops what has not been given out, as a seek wants it, and forgets what was warned about.
  mutating func clear() {
    outputs.removeAll(keepingCapacity: true)
    head = 0
    warned.removeAll()
  }
}
