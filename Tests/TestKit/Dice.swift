// SPDX-License-Identifier: MPL-2.0

/// Numbers that look random and are the same in every run.
public struct Dice {
  private var state: UInt64

  public init(_ seed: UInt64) { state = seed }

  public mutating func next(below limit: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int(state >> 33) % max(1, limit)
  }
}
