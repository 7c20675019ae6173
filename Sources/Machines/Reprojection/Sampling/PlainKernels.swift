// SPDX-License-Identifier: MPL-2.0

/// The nearest sample.
@inline(__always)
func sampleNearest<Unit: BitwiseCopyable>(_ run: SampleRun, as: Unit.Type) {
  for index in 0..<run.count {
    let unit = run.source.loadUnaligned(
      fromByteOffset: Int(run.offsets[index]) &* MemoryLayout<Unit>.stride, as: Unit.self)
    run.target.storeBytes(
      of: unit, toByteOffset: index &* MemoryLayout<Unit>.stride, as: Unit.self)
  }
}

/// Any number of taps, components and bits, one value after the other.
@inline(__always)
func sampleTaps<Value: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
  _ run: SampleRun, _ weights: TapWeights, components: Int, depth: Int, shift: Int,
  as: Value.Type
) {
  let size = MemoryLayout<Value>.stride
  let unit = size &* components
  let (taps, values) = (weights.taps, weights.values)
  let most = (1 &<< depth) &- 1
  withExtendedLifetime(weights) {
    for index in 0..<run.count {
      let across = values + Int(run.fractions[index] & 0xFF) &* 8
      let down = values + Int(run.fractions[index] &>> 8) &* 8
      let corner = run.source + Int(run.offsets[index]) &* unit
      for component in 0..<components {
        var sum = 0
        var row = corner + component &* size
        for line in 0..<taps {
          var part = 0
          for tap in 0..<taps {
            let value = row.loadUnaligned(fromByteOffset: tap &* unit, as: Value.self)
            part &+=
              Int(truncatingIfNeeded: value &>> Value(truncatingIfNeeded: shift))
              &* Int(across[tap])
          }
          sum &+= part &* Int(down[line])
          row += run.stride
        }
        let value = min(max((sum &+ (1 << 23)) &>> 24, 0), most) &<< shift
        run.target.storeBytes(
          of: Value(truncatingIfNeeded: value), toByteOffset: index &* unit &+ component &* size,
          as: Value.self)
      }
    }
  }
}
