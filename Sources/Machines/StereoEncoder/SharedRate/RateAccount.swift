// SPDX-License-Identifier: MPL-2.0

/// How a stream stands behind some of its pictures: what both eyes took, against what they may take.
struct RateAccount {
  /// What was taken above the target rate, in bits; below 0 where it was less.
  private(set) var debt = 0.0
  /// The part of `debt` that keyframes took and the pictures behind them will make up for.
  private(set) var loan = 0.0
  private var repayment = 0.0
  private(set) var buffer: VideoBufferModel?

  init(buffer: VideoBufferModel?) { self.buffer = buffer }

  /// - Parameters:
  ///   - bits: of the access unit.
  ///   - target: what it takes at the target rate; nil without one.
  ///   - keyframeDistance: of a keyframe that the pictures behind it make up for; nil for others.
  mutating func add(_ bits: Double, target: Double?, keyframeDistance: Double?) {
    buffer?.remove(bits)
    guard let target else { return }
    debt += bits - target
    if let keyframeDistance, keyframeDistance > 1.5 {
      loan += max(0, bits - target)
      repayment = loan / (keyframeDistance - 1)
    } else {
      loan = max(0, loan - repayment)
    }
  }

  /// Forgives what lies outside `range`, in bits: what could not be spent, or was needed at the
  /// coarsest QPs.
  mutating func limitDebt(to range: ClosedRange<Double>) {
    debt = min(max(debt, range.lowerBound), range.upperBound)
  }
}
