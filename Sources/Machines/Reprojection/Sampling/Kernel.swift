// SPDX-License-Identifier: MPL-2.0

/// The way to take samples of a plane.
struct Kernel {
  let sample: @Sendable (SampleRun) -> Void

  /// The one for a plane and an interpolation.
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
