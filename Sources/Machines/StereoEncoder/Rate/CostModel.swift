// SPDX-License-Identifier: MPL-2.0

/// What a picture of each eye will probably cost, by what those before it cost: in bits, at the rate
/// factor that the encoders began with. Six steps of QP halve the cost.
struct CostModel {
  /// A mean that forgets.
  private struct Mean {
    var value: Double
    /// Of what weight of values it is, at most.
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
    /// Of those pictures alone whose dependent eye is known, too: it is so much later that means over
    /// different pictures would be compared else.
    var pairs: (base: Mean, dependent: Mean)

    init(base: Double, dependent: Double, longest: Double, weight: Double) {
      self.base = Mean(base, longest: longest, weight: weight)
      pairs = (self.base, Mean(dependent, longest: longest, weight: weight))
    }

    /// What the dependent eye's picture costs by what the base eye's does.
    var ratio: Double { pairs.dependent.value / max(pairs.base.value, 1) }
    /// Of both together.
    var sum: Double { base.value * (1 + ratio) }
  }

  private var keyframes: Eyes
  private var others: Eyes
  /// Of both eyes, over many seconds.
  private var longMean: Mean
  /// How many of the pictures are keyframes, from 0 to 1.
  private var keyframeShare: Mean

  /// - Parameters:
  ///   - bits: a guess of what a picture of both eyes costs.
  ///   - dependentShare: a guess of how much of that the dependent eye's is, from 0 to 1.
  ///   - keyframeDistance: in pictures; nil where pictures have weights, which tell keyframes from others, and
  ///     `bits` was measured, so that it is worth more than a few pictures.
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

  /// Of both eyes together, over keyframes and others.
  ///
  /// Not below a quarter of what it was for many seconds: where pictures cost next to nothing, such as
  /// black ones, those behind them would get QPs that no buffer holds.
  var mean: Double {
    let share = keyframeShare.value
    return max(keyframes.sum * share + others.sum * (1 - share), longMean.value / 4)
  }

  /// Pictures from one keyframe to the next, in the mean.
  var keyframeDistance: Double { 1 / max(keyframeShare.value, 1e-6) }

  func base(isKeyframe: Bool) -> Double { self[isKeyframe].base.value }

  /// What the dependent eye's picture costs by what the base eye's does.
  func dependentRatio(isKeyframe: Bool) -> Double { self[isKeyframe].ratio }

  mutating func noteInput(isKeyframe: Bool) { keyframeShare.add(isKeyframe ? 1 : 0) }

  /// - Parameters:
  ///   - bits: of a picture of weight 1.
  ///   - weight: what the picture was expected to cost, against the mean.
  mutating func noteBase(_ bits: Double, weight: Double, isKeyframe: Bool) {
    self[isKeyframe].base.add(bits, weight: weight)
  }

  /// As `noteBase`.
  ///
  /// - Parameter base: what the base eye's picture took.
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
