// SPDX-License-Identifier: MPL-2.0

/// Expected cost of each eye's next picture, learned from earlier ones: in bits, at the rate factor
/// that the encoders began with. Six steps of QP halve the cost.
struct CostModel {
  /// A running mean that forgets old values.
  private struct Mean {
    var value: Double
    /// The maximum total weight; older values decay beyond it.
    let longest: Double
    private var sum: Double

    /// - Parameter weight: of the first value.
    init(_ value: Double, longest: Double, weight: Double = 0) {
      self.value = value
      self.longest = longest
      sum = weight
    }

    mutating func add(_ next: Double, weight: Double = 1) {
      sum = min(sum + weight, max(longest, weight))
      value += (next - value) * weight / sum
    }
  }

  private struct Eyes {
    var base: Mean
    /// Means over the pictures whose dependent eye is known, too. It comes so late that `base`
    /// covers other pictures and cannot be compared with it.
    var pairs: (base: Mean, dependent: Mean)

    init(base: Double, dependent: Double, longest: Double, weight: Double) {
      self.base = Mean(base, longest: longest, weight: weight)
      pairs = (self.base, Mean(dependent, longest: longest, weight: weight))
    }

    /// The cost of the dependent eye's picture relative to the base eye's.
    var ratio: Double { pairs.dependent.value / max(pairs.base.value, 1) }
    /// The cost of both eyes.
    var sum: Double { base.value * (1 + ratio) }
  }

  private var keyframes: Eyes
  private var others: Eyes
  /// The cost of both eyes, over many seconds.
  private var longMean: Mean
  /// The share of keyframes among pictures, from 0 to 1.
  private var keyframeShare: Mean

  /// - Parameters:
  ///   - bits: an estimate for a picture of both eyes.
  ///   - dependentShare: an estimate of the dependent eye's share of it, from 0 to 1.
  ///   - keyframeDistance: in pictures; nil if pictures have weights, which distinguish keyframes
  ///     from others, and `bits` was measured, so that it counts more than a few pictures.
  init(
    bits: Double, dependentShare: Double, keyframeDistance: Double?, framesPerSecond: Double
  ) {
    // A keyframe usually takes several times as much as another picture.
    let other =
      keyframeDistance.map { bits * $0 / ($0 + Self.keyframeExcess) } ?? bits
    let second = max(framesPerSecond, 12)
    func eyes(_ bits: Double, longest: Double, weight: Double) -> Eyes {
      Eyes(
        base: bits * (1 - dependentShare), dependent: bits * dependentShare, longest: longest,
        weight: weight)
    }
    let isMeasured = keyframeDistance == nil
    others = eyes(
      other, longest: isMeasured ? 10 * second : second, weight: isMeasured ? 1.5 * second : 0)
    keyframes = eyes(other * (1 + Self.keyframeExcess), longest: 3, weight: 0)
    keyframeShare = Mean(keyframeDistance.map { 1 / $0 } ?? 0, longest: 10 * second)
    longMean = Mean(bits, longest: 20 * second)
  }

  private static let keyframeExcess = 5.0

  /// The mean cost of both eyes, over keyframes and others.
  ///
  /// At least a quarter of the mean over many seconds: after pictures that cost almost nothing,
  /// such as black ones, the next would otherwise get QPs that overrun any buffer.
  var mean: Double {
    let share = keyframeShare.value
    return max(keyframes.sum * share + others.sum * (1 - share), longMean.value / 4)
  }

  /// The mean number of pictures from one keyframe to the next.
  var keyframeDistance: Double { 1 / max(keyframeShare.value, 1e-6) }

  func base(isKeyframe: Bool) -> Double { self[isKeyframe].base.value }

  /// Returns the cost of the dependent eye's picture relative to the base eye's.
  func dependentRatio(isKeyframe: Bool) -> Double { self[isKeyframe].ratio }

  mutating func noteInput(isKeyframe: Bool) { keyframeShare.add(isKeyframe ? 1 : 0) }

  /// - Parameters:
  ///   - bits: of a picture of weight 1.
  ///   - weight: the expected cost of the picture relative to the mean.
  mutating func noteBase(_ bits: Double, weight: Double, isKeyframe: Bool) {
    self[isKeyframe].base.add(bits, weight: weight)
  }

  /// Like `noteBase`.
  ///
  /// - Parameter base: the bits of the base eye's picture.
  mutating func noteDependent(_ bits: Double, base: Double, weight: Double, isKeyframe: Bool) {
    self[isKeyframe].pairs.base.add(base, weight: weight)
    self[isKeyframe].pairs.dependent.add(bits, weight: weight)
    longMean.add(base + bits, weight: weight)
  }

  private subscript(isKeyframe: Bool) -> Eyes {
    get { isKeyframe ? keyframes : others }
    set { if isKeyframe { keyframes = newValue } else { others = newValue } }
  }
}

/// The bits that both eyes took up to some picture, compared with the target rate and the buffer.
struct RateAccount {
  /// Bits above the target rate; below 0 if there were fewer.
  private(set) var debt = 0.0
  /// The part of `debt` that keyframes took and that the pictures after them will pay back.
  private(set) var loan = 0.0
  private var repayment = 0.0
  private(set) var buffer: VideoBufferModel?

  init(buffer: VideoBufferModel?) { self.buffer = buffer }

  /// - Parameters:
  ///   - bits: of the access unit.
  ///   - target: bits of an access unit at the target rate; nil without one.
  ///   - keyframeDistance: for a keyframe that the pictures after it pay back; nil for others.
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

  /// Forgives debts and credits outside `range`, in bits: credits that could not be spent, and
  /// debts made at the coarsest QPs.
  mutating func limitDebt(to range: ClosedRange<Double>) {
    debt = min(max(debt, range.lowerBound), range.upperBound)
  }
}
