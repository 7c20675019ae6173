// SPDX-License-Identifier: MPL-2.0

/// Eight numbers, for eight neighbouring pixels.
package typealias Floats = SIMD8<Float>
package typealias Integers = SIMD8<Int32>

// Comparisons are done on the sign bits: the masks of SIMD types, and conversions between floating
// point and integers, go through generic code lane by lane.

@inline(__always) func bits(_ value: Floats) -> Integers { unsafeBitCast(value, to: Integers.self) }

@inline(__always) func floats(_ bits: Integers) -> Floats { unsafeBitCast(bits, to: Floats.self) }

/// All bits of the lanes below 0.
@inline(__always) func isNegative(_ value: Floats) -> Integers { bits(value) &>> 31 }

/// `one` where all bits of the mask are set, `other` where none is.
@inline(__always) func select(_ mask: Integers, _ one: Floats, _ other: Floats) -> Floats {
  floats((bits(one) & mask) | (bits(other) & ~mask))
}

@inline(__always) func magnitude(_ value: Floats) -> Floats { floats(bits(value) & 0x7FFF_FFFF) }

@inline(__always) func maximum(_ value: Floats, _ least: Float) -> Floats {
  let least = Floats(repeating: least)
  return select(isNegative(value - least), least, value)
}

/// All bits of the lanes whose magnitude is below `limit`, of none that are no number.
@inline(__always) func isBelow(_ limit: Float, _ value: Floats) -> Integers {
  ((bits(value) & 0x7FFF_FFFF) &- Int32(bitPattern: limit.bitPattern)) &>> 31
}

/// 1.5 · 2²³: added to a number below 2²², it leaves the nearest integer in the lowest bits.
private let magic: Float = 12_582_912

/// The nearest integers of numbers below 2²².
@inline(__always) func rounded(_ value: Floats) -> Integers {
  bits(value + magic) &- Integers(repeating: 0x4B40_0000)
}

/// Of integers below 2²².
@inline(__always) func floats(exactly value: Integers) -> Floats {
  floats(value &+ Integers(repeating: 0x4B40_0000)) - magic
}

/// The angle of (x, y) in radians, to 2e-7: the polynomial of Abramowitz and Stegun 4.4.49.
@inline(__always) func arcTangent(_ y: Floats, _ x: Floats) -> Floats {
  let (across, up) = (magnitude(x), magnitude(y))
  let isSteep = isNegative(across - up)
  let ratio = select(isSteep, across, up) / (select(isSteep, up, across) + 1e-30)
  let square = ratio * ratio
  var sum = Floats(repeating: -0.004_054_058_0)
  sum = sum * square + 0.021_861_228_8
  sum = sum * square + -0.055_909_886_1
  sum = sum * square + 0.096_420_044_1
  sum = sum * square + -0.139_085_335_1
  sum = sum * square + 0.199_465_359_9
  sum = sum * square + -0.333_298_560_5
  sum = sum * square + 0.999_999_332_9
  var angle = sum * ratio
  angle = select(isSteep, .pi / 2 - angle, angle)
  angle = select(isNegative(x), .pi - angle, angle)
  return floats(bits(angle) | (bits(y) & Int32.min))
}

/// Of angles of a few turns, in radians, to 3e-7: Taylor's series within an eighth of a turn.
@inline(__always) func sineAndCosine(_ angle: Floats) -> (sine: Floats, cosine: Floats) {
  let quarter = rounded(angle * Float(2 / Double.pi))
  let turns = floats(exactly: quarter)
  // A quarter of a turn as the sum of two numbers, the first of few bits.
  let rest = (angle - turns * 1.570_312_5) - turns * 4.838_267_95e-4
  let square = rest * rest
  var sine = square * 2.755_731_9e-6 - 1.984_127e-4
  sine = sine * square + 8.333_333e-3
  sine = sine * square - 0.166_666_67
  sine = sine * square * rest + rest
  var cosine = square * 2.480_158_7e-5 - 1.388_888_9e-3
  cosine = cosine * square + 0.041_666_668
  cosine = cosine * square - 0.5
  cosine = cosine * square + 1
  let isOdd = (quarter &<< 31) &>> 31
  let one = select(isOdd, cosine, sine)
  let other = select(isOdd, sine, cosine)
  // The sine is negative in the third and the fourth quarter, the cosine in the second and the third.
  return (
    floats(bits(one) ^ ((quarter &<< 30) & Int32.min)),
    floats(bits(other) ^ (((quarter &+ 1) &<< 30) & Int32.min))
  )
}

/// A rotation of eight directions.
struct LaneRotation {
  /// The images of the axes.
  let x, y, z: SIMD3<Float>

  init(_ rotation: Rotation) {
    func axis(_ axis: Direction) -> SIMD3<Float> {
      SIMD3(Float(axis.x), Float(axis.y), Float(axis.z))
    }
    (x, y, z) = (axis(rotation.x), axis(rotation.y), axis(rotation.z))
  }
}

/// Eight directions.
package struct Rays {
  package var x, y, z: Floats
  /// The cell of the cube that they were taken from, 0 in all other pictures; -1 where it shows
  /// nothing.
  var face = Integers.zero

  package init(x: Floats, y: Floats, z: Floats) {
    (self.x, self.y, self.z) = (x, y, z)
  }

  /// Whether the picture shows something there.
  package func isSeen(_ lane: Int) -> Bool { face[lane] >= 0 }

  @inline(__always) func turned(by rotation: LaneRotation) -> Rays {
    let (right, down, ahead) = (rotation.x, rotation.y, rotation.z)
    var rays = Rays(
      x: x * right.x + y * down.x + z * ahead.x, y: x * right.y + y * down.y + z * ahead.y,
      z: x * right.z + y * down.z + z * ahead.z)
    rays.face = face
    return rays
  }
}

/// Eight places in a picture.
package struct Positions {
  package var x, y: Floats
  /// All bits where the picture shows the direction, as far as the projection goes.
  package var isInside: Integers
  /// The cell of a cube; 0 in all other pictures.
  var face = Integers.zero

  init(x: Floats, y: Floats, isInside: Integers) {
    (self.x, self.y, self.isInside) = (x, y, isInside)
  }
}
