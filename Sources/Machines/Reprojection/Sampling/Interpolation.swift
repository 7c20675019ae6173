// SPDX-License-Identifier: MPL-2.0

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// How a value between pixels is computed from the surrounding pixels.
public enum Interpolation: String, Hashable, Sendable, CaseIterable {
  /// The nearest pixel.
  case nearest
  /// Over 2 by 2 pixels.
  case linear
  /// Over 4 by 4 pixels, with the Catmull-Rom cubic (a = -1/2).
  case cubic
  /// Over 6 by 6 pixels, with a Lanczos window of 3 lobes.
  case lanczos

  /// Number of pixels needed before the one that contains a position.
  var before: Int {
    switch self {
    case .nearest, .linear: 0
    case .cubic: 1
    case .lanczos: 2
    }
  }

  /// Number of pixels needed after it; for `nearest`, rounding may select the next pixel.
  var after: Int {
    switch self {
    case .nearest, .linear: 1
    case .cubic: 2
    case .lanczos: 3
    }
  }
}

extension Interpolation {
  /// Number of samples needed before and after the one that contains a position.
  package var reach: (before: Int, after: Int) { (before, after) }
}

/// The sampling function for a plane.
struct Kernel {
  let sample: @Sendable (SampleRun) -> Void

  /// Selects the function for a plane and an interpolation.
  init(_ plane: PictureFormat.Plane, _ interpolation: Interpolation) {
    sample = Self.make(plane, interpolation)
  }

  init(sample: @escaping @Sendable (SampleRun) -> Void) { self.sample = sample }

  private static func make(
    _ plane: PictureFormat.Plane, _ interpolation: Interpolation
  ) -> @Sendable (SampleRun) -> Void {
    switch (interpolation, plane.bytes, plane.components) {
    case (.nearest, _, _): nearest(plane.unit)
    case (.linear, 1, 1): sampleLinear8
    case (.linear, 1, 2): sampleLinear8Pairs
    case (.linear, 2, 1) where plane.depth == 10 && plane.shift == 0: sampleLinear10
    case (.linear, 2, 1) where plane.depth == 10 && plane.shift == 6: sampleLinear10High
    case (.linear, 2, 1) where plane.depth == 12 && plane.shift == 0: sampleLinear12
    case (.cubic, 1, 1): sampleCubic8
    case (.cubic, 2, 1) where plane.depth == 10 && plane.shift == 0: sampleCubic10
    case (.cubic, 2, 1) where plane.depth == 10 && plane.shift == 6: sampleCubic10High
    default: taps(plane, interpolation.table)
    }
  }

  private static func nearest(_ unit: Int) -> @Sendable (SampleRun) -> Void {
    switch unit {
    case 1: { sampleNearest($0, as: UInt8.self) }
    case 2: { sampleNearest($0, as: UInt16.self) }
    case 4: { sampleNearest($0, as: UInt32.self) }
    default: { sampleNearest($0, as: UInt64.self) }
    }
  }

  private static func taps(
    _ plane: PictureFormat.Plane, _ weights: TapWeights
  ) -> @Sendable (SampleRun) -> Void {
    let (components, depth, shift) = (plane.components, plane.depth, plane.shift)
    return switch (plane.bytes, components) {
    case (1, 1):
      { sampleTaps($0, weights, components: 1, depth: depth, shift: shift, as: UInt8.self) }
    case (1, 2):
      { sampleTaps($0, weights, components: 2, depth: depth, shift: shift, as: UInt8.self) }
    case (1, _):
      { sampleTaps($0, weights, components: 4, depth: depth, shift: shift, as: UInt8.self) }
    default:
      {
        sampleTaps($0, weights, components: components, depth: depth, shift: shift, as: UInt16.self)
      }
    }
  }
}

/// The weights of neighbouring samples for 256 positions between two of them.
///
/// 12-bit integers with the sum 4096, eight per position: one for each tap, followed by zeros.
final class TapWeights: @unchecked Sendable {
  let taps: Int
  /// Eight weights per position.
  let values: UnsafePointer<Int16>
  /// Four vectors per position, each for two rows: their two weights, repeated four times, for
  /// vertical sums of interleaved rows.
  let rowPairs: UnsafePointer<SIMD8<Int16>>

  static let linear = TapWeights(.linear)
  static let cubic = TapWeights(.cubic)
  static let lanczos = TapWeights(.lanczos)

  private init(_ interpolation: Interpolation) {
    let taps = interpolation.before + interpolation.after + 1
    let values = UnsafeMutablePointer<Int16>.allocate(capacity: 256 * 8)
    values.initialize(repeating: 0, count: 256 * 8)
    let pairs = UnsafeMutableRawPointer.allocate(byteCount: 256 * 64, alignment: 64)
      .bindMemory(to: SIMD8<Int16>.self, capacity: 256 * 4)
    pairs.initialize(repeating: .zero, count: 256 * 4)
    for phase in 0..<256 {
      let position = Double(phase) / 256
      let weights = interpolation.weights(position).map { Int16(($0 * 4096).rounded()) }
      for (tap, weight) in weights.enumerated() { values[phase * 8 + tap] = weight }
      // The rounding error is added to the nearest sample.
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
  /// Returns the weights of the samples around a position that lies `fraction` after one of them;
  /// their sum is 1.
  package func weights(_ fraction: Double) -> [Double] {
    let raw = (-before...after).map { weight(Double($0) - fraction) }
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
