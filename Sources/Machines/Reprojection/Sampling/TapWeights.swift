// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// The weights of neighbouring samples for each of 256 positions between two of them.
///
/// Integers of 12 bits, whose sum is 4096, eight for each position: as many as the interpolation has
/// taps, zeros behind.
final class TapWeights: @unchecked Sendable {
  let taps: Int
  /// Eight for each position.
  let values: UnsafePointer<Int16>
  /// Eight pairs for each position and each two rows, of which each pair is that of the two rows'
  /// weights: for vertical sums of interleaved rows.
  let rowPairs: UnsafePointer<SIMD8<Int16>>

  static let linear = TapWeights(.linear)
  static let cubic = TapWeights(.cubic)
  static let lanczos = TapWeights(.lanczos)

  private init(_ interpolation: Interpolation) {
    let taps = interpolation.before + interpolation.behind + 1
    let values = UnsafeMutablePointer<Int16>.allocate(capacity: 256 * 8)
    values.initialize(repeating: 0, count: 256 * 8)
    let pairs = UnsafeMutableRawPointer.allocate(byteCount: 256 * 64, alignment: 64)
      .bindMemory(to: SIMD8<Int16>.self, capacity: 256 * 4)
    pairs.initialize(repeating: .zero, count: 256 * 4)
    for phase in 0..<256 {
      let position = Double(phase) / 256
      let weights = interpolation.weights(position).map { Int16(($0 * 4096).rounded()) }
      for (tap, weight) in weights.enumerated() { values[phase * 8 + tap] = weight }
      // What rounding lost goes to the nearest sample.
      let nearest = interpolation.before + (phase < 128 ? 0 : 1)
      values[phase * 8 + nearest] += 4096 - weights.reduce(0, +)
      for pair in 0..<taps / 2 {
        let (even, odd) = (values[phase * 8 + 2 * pair], values[phase * 8 + 2 * pair + 1])
        pairs[phase * 4 + pair] = SIMD8(even, odd, even, odd, even, odd, even, odd)
      }
    }
    self.taps = taps
    self.values = UnsafePointer(values)
    rowPairs = UnsafePointer(pairs)
  }
}

extension Interpolation {
  /// The weights of the samples around a position that lies `fraction` behind one of them; their sum
  /// is 1.
  package func weights(_ fraction: Double) -> [Double] {
    let raw = (-before...behind).map { weight(Double($0) - fraction) }
    let sum = raw.reduce(0, +)
    return raw.map { $0 / sum }
  }

  private func weight(_ distance: Double) -> Double {
    let x = abs(distance)
    switch self {
    case .nearest: return x < 0.5 || distance == -0.5 ? 1 : 0
    case .linear: return max(0, 1 - x)
    case .cubic:
      if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
    case .lanczos:
      guard x > 0 else { return 1 }
      guard x < 3 else { return 0 }
      let angle = .pi * x
      return 3 * sin(angle) * sin(angle / 3) / (angle * angle)
    }
  }
}
