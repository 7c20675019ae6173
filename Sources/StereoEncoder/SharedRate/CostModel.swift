// SPDX-License-Identifier: MPL-2.0

/// What a picture of each eye will probably cost, by what those before it cost: in bits, at the rate
/// factor that the encoders began with. Six steps of QP halve the cost.
struct CostModel {
  /// A mean that forgets.
  private struct Mean {
    var value: Double
    /// How many values it is of, at most.
    let longest: Double
    private var count = 0.0

    init(_ value: Double, longest: Double) {
      self.value = value
      self.longest = longest
    }

    mutating func add(_ next: Double) {
      count = min(count + 1, longest)
      value += (next - value) / count
    }
  }

  private struct Eyes {
    var base: Mean
    var dependent: Mean

    init(base: Double, dependent: Double, longest: Double) {
      self.base = Mean(base, longest: longest)
      self.dependent = Mean(dependent, longest: longest)
    }
  }

  private var keyframes: Eyes
  private var others: Eyes
  /// How many of the pictures are keyframes, from 0 to 1.
  private var keyframeShare: Mean

  /// - Parameters:
  ///   - bits: a guess of what a picture of both eyes costs.
  ///   - dependentShare: a guess of how much of that the dependent eye's is, from 0 to 1.
  ///   - keyframeDistance: in pictures; 1 where keyframes are not to be told from others.
  init(
    bits: Double, dependentShare: Double, keyframeDistance: Double, framesPerSecond: Double
  ) {
    // A keyframe usually takes several times as much as another picture.
    let other = bits * keyframeDistance / (keyframeDistance + Self.keyframeExcess)
    func eyes(_ bits: Double, longest: Double) -> Eyes {
      Eyes(
        base: bits * (1 - dependentShare), dependent: bits * dependentShare, longest: longest)
    }
    others = eyes(other, longest: max(framesPerSecond, 12))
    keyframes = eyes(other * (1 + Self.keyframeExcess), longest: 3)
    keyframeShare = Mean(1 / keyframeDistance, longest: 10 * max(framesPerSecond, 12))
  }

  private static let keyframeExcess = 5.0

  /// Of both eyes together, over keyframes and others.
  var mean: Double {
    let share = keyframeShare.value
    func both(_ eyes: Eyes) -> Double { eyes.base.value + eyes.dependent.value }
    return both(keyframes) * share + both(others) * (1 - share)
  }

  /// Pictures from one keyframe to the next, in the mean.
  var keyframeDistance: Double { 1 / max(keyframeShare.value, 1e-6) }

  func base(isKeyframe: Bool) -> Double { self[isKeyframe].base.value }

  /// What the dependent eye's picture costs by what the base eye's does.
  func dependentRatio(isKeyframe: Bool) -> Double {
    let eyes = self[isKeyframe]
    return eyes.dependent.value / max(eyes.base.value, 1)
  }

  mutating func noteInput(isKeyframe: Bool) { keyframeShare.add(isKeyframe ? 1 : 0) }

  mutating func noteBase(_ bits: Double, isKeyframe: Bool) { self[isKeyframe].base.add(bits) }

  mutating func noteDependent(_ bits: Double, isKeyframe: Bool) {
    self[isKeyframe].dependent.add(bits)
  }

  private subscript(isKeyframe: Bool) -> Eyes {
    get { isKeyframe ? keyframes : others }
    set { if isKeyframe { keyframes = newValue } else { others = newValue } }
  }
}
