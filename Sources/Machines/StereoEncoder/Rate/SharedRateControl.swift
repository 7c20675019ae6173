// SPDX-License-Identifier: MPL-2.0

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// One rate control for both eyes.
///
/// The base eye's encoder runs at a constant rate factor with a share of the video buffer. Each of
/// its pictures gets a QP offset in addition, so that the pictures of both eyes meet the target
/// rate and stay within the buffer. The dependent eye's pictures take the QPs that the base eye's
/// were coded with.
///
/// An offset is chosen when a picture goes in, but its cost is known only when the picture comes
/// out. Pictures still inside count with their expected cost.
struct SharedRateControl {
  /// The goal of the rate control.
  struct Goal {
    /// Bits for a picture of both eyes; nil for a constant quality.
    let target: Double?
    let buffer: VideoBufferModel?
    /// The base eye's rate factor (CRF) without an offset.
    let rateFactor: Double
    let framesPerSecond: Double
    /// Nil unless a first pass has measured the pictures.
    let plan: RatePlan?
  }

  /// A picture that is not yet coded in both eyes.
  private struct Pending {
    let isKeyframe: Bool
    /// Its cost and its allowance, relative to the mean of all pictures.
    let weight: Double
    let share: Double
    let offset: Double
    var base: (bits: Double, shift: Double)?
    /// Added to the dependent eye's QP to protect the buffer.
    var extra = 0.0
    var dependentBits: Double?
  }

  private let goal: Goal
  private let firstFrame: Int64
  private var costs: CostModel
  /// In display order, starting `settledCount` pictures after `firstFrame`.
  private var pending: [Pending] = []
  private var settledCount = 0
  private var settled: RateAccount

  /// - Parameter firstFrame: the first frame under this control.
  init(_ goal: Goal, costs: CostModel, firstFrame: Int64) {
    self.goal = goal
    self.costs = costs
    self.firstFrame = firstFrame
    settled = RateAccount(buffer: goal.buffer)
  }

  /// Adds the next picture in display order; returns the QP offset of the base eye's.
  mutating func add(isKeyframe: Bool) -> Double {
    let account = forecast()
    // The weights of a plan already distinguish keyframes from others.
    let isKeyframe = isKeyframe && goal.plan == nil
    costs.noteInput(isKeyframe: isKeyframe)
    let index = settledCount + pending.count
    let offset = offset(account, index: index)
    let planned = goal.plan?.pictures(from: index, count: 1) ?? (weight: 1, share: 1)
    pending.append(
      Pending(
        isKeyframe: isKeyframe, weight: planned.weight, share: planned.share, offset: offset))
    return offset
  }

  /// - Parameter qp: chosen by the base eye's encoder; nil if unknown.
  mutating func noteBase(frame: Int64, bits: Double, qp: RateControlQP?) {
    guard let index = index(of: frame) else { return }
    let picture = pending[index]
    let shift = picture.offset + (qp?.raise ?? 0)
    pending[index].base = (bits, shift)
    costs.noteBase(
      bits * Self.scale(-shift) / picture.weight, weight: picture.weight,
      isKeyframe: picture.isKeyframe)
  }

  mutating func noteDependent(frame: Int64, bits: Double) {
    guard let index = index(of: frame), let base = pending[index].base else { return }
    let picture = pending[index]
    pending[index].dependentBits = bits
    costs.noteDependent(
      bits * Self.scale(-base.shift - picture.extra) / picture.weight,
      base: base.bits * Self.scale(-base.shift) / picture.weight, weight: picture.weight,
      isKeyframe: picture.isKeyframe)
    while let first = pending.first, first.dependentBits != nil {
      add(first, to: &settled)
      pending.removeFirst()
      settledCount += 1
    }
    if let target = goal.target {
      let second = target * goal.framesPerSecond
      settled.limitDebt(to: -10 * second...8 * second)
    }
  }

  /// Returns the addition to the QP of the dependent eye's picture that keeps both eyes within the
  /// buffer; the base eye's picture must have been coded.
  mutating func extraQP(frame: Int64) -> Double {
    guard let index = index(of: frame), let base = pending[index].base,
      let buffer = forecast(upTo: index).buffer
    else { return 0 }
    let expected = bits(pending[index]).dependent
    let before = buffer.fill - base.bits
    // The emptier the buffer, the more; and as much as needed if it would otherwise run dry.
    let low = 0.4 * min(buffer.size, buffer.refill * goal.framesPerSecond)
    let usual = Self.maximumUsualExtraQP * min(max((low - before + expected) / low, 0), 1)
    let needed = 6 * log2(expected / max(before - 0.1 * buffer.size, 1))
    pending[index].extra = max(usual, min(needed, Self.maximumExtraQP))
    return pending[index].extra
  }

  /// 3 steps cost 1.5 dB, or 3 dB in pictures that are hard to encode. Six times as many are
  /// preferable to a buffer that runs dry.
  private static let maximumUsualExtraQP = 3.0
  private static let maximumExtraQP = 18.0

  private func index(of frame: Int64) -> Int? {
    let index = frame - firstFrame - Int64(settledCount)
    return index >= 0 && index < Int64(pending.count) ? Int(index) : nil
  }

  /// Returns the factor for the bits of a picture whose QP is raised by `steps`.
  private static func scale(_ steps: Double) -> Double { exp2(-steps / 6) }

  /// Returns the bits of a picture, actual or expected.
  private func bits(_ picture: Pending) -> (base: Double, dependent: Double) {
    let base =
      picture.base?.bits
      ?? costs.base(isKeyframe: picture.isKeyframe) * picture.weight * Self.scale(picture.offset)
    let dependent =
      picture.dependentBits
      ?? base * costs.dependentRatio(isKeyframe: picture.isKeyframe) * Self.scale(picture.extra)
    return (base, dependent)
  }

  private func add(_ picture: Pending, to account: inout RateAccount) {
    let (base, dependent) = bits(picture)
    account.add(
      base + dependent, target: goal.target.map { $0 * picture.share },
      keyframeDistance: picture.isKeyframe
        ? min(costs.keyframeDistance, 10 * goal.framesPerSecond) : nil)
  }

  /// Returns the account after the first `count` pending pictures, or after all of them.
  private func forecast(upTo count: Int = .max) -> RateAccount {
    var account = settled
    for picture in pending.prefix(count) { add(picture, to: &account) }
    return account
  }

  /// Returns the QP offset of a picture.
  ///
  /// - Parameter account: the expected account before the picture.
  private func offset(_ account: RateAccount, index: Int) -> Double {
    let second = goal.framesPerSecond
    let ahead =
      goal.plan?.pictures(from: index, count: Int(second)) ?? (weight: 1, share: 1)
    var allowed = Double.infinity
    if let target = goal.target.map({ $0 * ahead.share }) {
      // A debt is paid back within five seconds, and a credit is spent within two; faster at the
      // start, when nothing was known, and before a known end.
      let longest = (account.debt > account.loan ? 5 : 2) * second
      let usual = min(max(Double(index) / 2, 1.5 * second), longest)
      let horizon =
        goal.plan.map { min(max(Double($0.pictureCount - index), second), longest) } ?? usual
      // A credit may nearly double the rate, as far as the buffer allows: QPs then drop by five.
      let wanted = target - (account.debt - account.loan) / horizon
      allowed = min(max(wanted, 0.5 * target), 1.8 * target)
    }
    if let buffer = account.buffer {
      let most = buffer.refill + (buffer.fill - 0.6 * buffer.size) / (1.5 * second)
      allowed = min(allowed, max(most, 0.2 * buffer.refill))
    }
    let shift = 6 * log2(max(costs.mean * ahead.weight, 1) / max(allowed, 1))
    let least = goal.target == nil ? 0 : 1 - goal.rateFactor
    return min(max(shift, least), max(51 - goal.rateFactor, 0))
  }
}

/// The measured cost of each picture, and the share of the target rate that it is given.
struct RatePlan: Sendable {
  /// The cost of each picture at constant quality, relative to the mean, in display order.
  private let weights: [Double]
  /// The allowance of each picture, relative to the mean: like `weights`, but no stretch gets more
  /// than the buffer allows.
  private let shares: [Double]

  var pictureCount: Int { weights.count }

  /// - Parameters:
  ///   - weights: greater than 0; their mean is 1.
  ///   - peak: the rate at which the buffer fills, relative to the target rate; at least 1.
  ///   - window: the number of pictures over which the buffer evens out the rate.
  init(weights: [Double], peak: Double, window: Int) {
    self.weights = weights
    var shares = weights
    // The excess of one stretch goes to the others, which may then exceed the limit themselves.
    for _ in 0..<8 {
      let means = Self.means(shares, window)
      shares = zip(shares, means).map { $0 * min(1, 0.95 * peak / $1) }
      let mean = shares.reduce(0, +) / Double(max(shares.count, 1))
      shares = shares.map { $0 / mean }
    }
    self.shares = shares
  }

  /// Returns the mean of the `window` values around each of `values`.
  private static func means(_ values: [Double], _ window: Int) -> [Double] {
    var sums = [0.0]
    for value in values { sums.append((sums.last ?? 0) + value) }
    return values.indices.map { index in
      let (from, to) = (max(index - window / 2, 0), min(index + window / 2 + 1, values.count))
      return (sums[to] - sums[from]) / Double(to - from)
    }
  }

  /// Returns the means of `count` pictures, or of those that are left; 1 after the last.
  func pictures(from index: Int, count: Int) -> (weight: Double, share: Double) {
    guard weights.indices.contains(index) else { return (1, 1) }
    let range = index..<min(index + max(count, 1), weights.count)
    func mean(_ values: [Double]) -> Double {
      values[range].reduce(0, +) / Double(range.count)
    }
    return (mean(weights), mean(shares))
  }
}

/// The decoder's coded picture buffer (H.265 Annex C): it fills at a constant rate, up to its size,
/// and each access unit is removed at once. All values are in bits.
package struct VideoBufferModel {
  package let size: Double
  /// The input from one picture to the next.
  let refill: Double
  /// The fullness before the next access unit is removed; below 0 if one came too late.
  package private(set) var fill: Double

  /// The initial fullness in x265, relative to the size.
  private static let initialFill = 0.9

  package init(_ buffer: RateControl.VideoBuffer, framesPerSecond: Double) {
    refill = Double(buffer.maximumRate) * 1000 / framesPerSecond
    // As in x265, at least the input of one picture.
    size = max(Double(buffer.size) * 1000, refill)
    fill = Self.initialFill * size
  }

  /// Removes an access unit, and fills the buffer up to the next.
  package mutating func remove(_ bits: Double) {
    fill = max(min(size, fill - bits + refill), -size)
  }
}
